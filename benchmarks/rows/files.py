"""H10: 64 MiB sent from a file and 64 MiB received into one, against nginx; and what that takes of memory."""

import os
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness import nginx
from harness.environments import PROJECT, python_of
from harness.errors import Broken
from harness.fleet import Fleet, Running
from harness.meter import resident_bytes
from harness.options import Options
from harness.paths import BENCHMARKS, VAR
from harness.processes import OTHER_CORE
from harness.results import Claim, Run, Sample
from harness.slots import Turn, alternate

ROWS = ("H10",)

SENT = "64 MiB sent from a file"
RECEIVED = "64 MiB uploaded into a file"
GROWTH = "growth of memory while 64 MiB are sent and received"

CLAIMS = (
    Claim("H10", "64 MiB file sent", SENT, "tarmac", "nginx", 0.7, metric="rate", at_least=True),
    Claim("H10", "64 MiB upload streamed", RECEIVED, "tarmac", "nginx", 0.7, metric="rate", at_least=True),
    Claim("H10", GROWTH, GROWTH, "tarmac", None, 8.0, metric="value", unit="MiB"),
)

LENGTH = 64 * 2**20
TRANSFERS = 8  # in one slot
_PIECE = memoryview(bytearray(2**20))

Transfer = Callable[[socket.socket], None]


def measure(run: Run, options: Options) -> None:
    run.claims.extend(CLAIMS)
    VAR.mkdir(parents=True, exist_ok=True)
    with _folder(VAR) as folder, _folder(_memory()) as stored, Fleet(run) as fleet:
        (folder / "file").write_bytes(os.urandom(2**20) * (LENGTH // 2**20))
        script = BENCHMARKS / "subjects" / "files_tarmac.py"
        fleet.add("tarmac", lambda port: [python_of(PROJECT), script, port, folder, stored], "/ready")
        fleet.add("nginx", lambda port: nginx.command(port, folder, stored), "/ready")
        before = {name: resident_bytes(server.pid) for name, server in fleet.running.items()}
        for experiment, transfer in ((SENT, _download), (RECEIVED, _upload)):
            turns = [_turn(name, server, transfer) for name, server in fleet.running.items()]
            alternate(run.experiment(experiment, "transfer"), turns, options.rounds)
        growth = run.experiment(GROWTH, "server", "MiB")
        for name, server in fleet.running.items():
            grown = (resident_bytes(server.pid) - before[name]) / 2**20
            growth.add(name, Sample(operations=1, cpu=0.0, rate=0.0, value=grown))


@contextmanager
def _folder(where: Path | None) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tarmac-bench-", dir=where) as place:
        yield Path(place)


def _memory() -> Path | None:
    """Where uploads are stored, so that no disk is measured; files are sent from the cache of a real one."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
    return memory if os.access(memory, os.W_OK) else None


def _turn(name: str, server: Running, transfer: Transfer) -> Turn:
    port = int(server.base.rpartition(":")[2])

    def slot() -> Sample:
        before, started = server.meter.read(), time.perf_counter()
        with _on_the_other_core(), socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
            for _ in range(TRANSFERS):
                transfer(connection)
        used, wall = server.meter.read().since(before), time.perf_counter() - started
        return Sample(
            operations=TRANSFERS,
            cpu=used.microseconds / TRANSFERS,
            rate=TRANSFERS / wall,
            instructions=None if used.instructions is None else used.instructions / TRANSFERS,
            subject_share=used.microseconds / 1e6 / wall,
        )

    return Turn(name, slot)


@contextmanager
def _on_the_other_core() -> Iterator[None]:
    """Run this process as the load."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {OTHER_CORE})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _download(connection: socket.socket) -> None:
    connection.sendall(b"GET /file HTTP/1.1\r\nHost: bench\r\n\r\n")
    body = _after_head(connection, b" 200 ")
    left = LENGTH - len(body)
    while left > 0:
        count = connection.recv_into(_PIECE)
        if not count:
            raise Broken(f"the file ended {left} bytes early")
        left -= count


def _upload(connection: socket.socket) -> None:
    connection.sendall(b"PUT /upload HTTP/1.1\r\nHost: bench\r\nContent-Length: %d\r\n\r\n" % LENGTH)
    for _ in range(LENGTH // len(_PIECE)):
        connection.sendall(_PIECE)
    _after_head(connection, b" 20")


def _after_head(connection: socket.socket, status: bytes) -> bytes:
    """Read a head with that status; what came behind it is returned."""
    got = b""
    while b"\r\n\r\n" not in got:
        some = connection.recv(65536)
        if not some:
            raise Broken("the connection ended before an answer")
        got += some
    head, _, rest = got.partition(b"\r\n\r\n")
    first, _, _ = head.partition(b"\r\n")
    if status not in first:
        raise Broken(f"answered {first.decode()}")
    return rest
