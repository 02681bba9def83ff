"""H11: what 10,000 idle keep-alive connections cost: memory of each, and CPU time of all."""

import resource
import socket
import time
from contextlib import ExitStack

from harness.environments import PROJECT
from harness.errors import Broken, Unavailable
from harness.fleet import Entry, Fleet, Running
from harness.meter import resident_bytes
from harness.options import Options
from harness.results import Claim, Run, Sample
from harness.slots import say

ROWS = ("H11",)

MEMORY = "memory of an idle connection, of 10,000"
PROCESSOR = "CPU time while 10,000 connections are idle"
CONNECTIONS = 10_000
SPARE = 200  # descriptors that are no connections
IDLE_SECONDS = 5.0

CLAIMS = (
    Claim("H11", MEMORY, MEMORY, "tarmac", None, 6144.0, metric="value", unit="bytes"),
    Claim("H11", PROCESSOR, PROCESSOR, "tarmac", None, 1.0, metric="value", unit="ms/s"),
)

SERVERS = (
    Entry("tarmac", PROJECT, "idle_tarmac.py"),
    Entry("uvicorn", "uvicorn", "hello_uvicorn.py"),
    Entry("aiohttp", "aiohttp", "hello_aiohttp.py"),
)
REQUEST = b"GET / HTTP/1.1\r\nHost: bench\r\nUser-Agent: bench/1.0 (idle)\r\nAccept: */*\r\n\r\n"


def measure(run: Run, options: Options) -> None:
    """One server after the other: their connections together would be too many descriptors."""
    run.claims.extend(CLAIMS)
    _allow_descriptors()
    memory = run.experiment(MEMORY, "connection", "bytes")
    processor = run.experiment(PROCESSOR, "second", "ms/s")
    for entry in SERVERS:
        with Fleet(run) as fleet:
            fleet.add_entry(entry, "/")
            for name, server in fleet.running.items():
                try:
                    each, idle = _look(name, server)
                except (Broken, OSError) as error:
                    memory.fail(name, str(error))
                    continue
                memory.add(name, Sample(operations=CONNECTIONS, cpu=0.0, rate=0.0, value=each))
                processor.add(name, Sample(operations=1, cpu=0.0, rate=0.0, value=idle))


def _look(name: str, server: Running) -> tuple[float, float]:
    """Bytes of a connection that has had one answer, and CPU milliseconds per second while all are idle."""
    say(f"{name}: {CONNECTIONS} idle connections")
    port = int(server.base.rpartition(":")[2])
    for _ in range(100):
        _asked(port).close()
    time.sleep(0.5)
    before = resident_bytes(server.pid)
    with ExitStack() as stack:
        for _ in range(CONNECTIONS):
            stack.enter_context(_asked(port))
        time.sleep(0.5)
        grown = resident_bytes(server.pid) - before
        used = server.meter.read()
        time.sleep(IDLE_SECONDS)
        idle = server.meter.read().since(used)
    return grown / CONNECTIONS, idle.microseconds / 1000 / IDLE_SECONDS


def _asked(port: int) -> socket.socket:
    """A connection that has been answered once."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    connection.sendall(REQUEST)
    got = b""
    while not got.endswith(b"Hello world!"):
        some = connection.recv(65536)
        if not some:
            connection.close()
            raise Broken("the connection ended before its answer")
        got += some
    return connection


def _allow_descriptors() -> None:
    """For this process, and so for the servers that it starts."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most < CONNECTIONS + SPARE:
        raise Unavailable(f"{CONNECTIONS} connections need a limit of {CONNECTIONS + SPARE} descriptors, not {most}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
