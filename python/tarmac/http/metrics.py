"""Numbers of a server for Prometheus, and its health for whoever balances load.

Every worker answers for all: each shows its numbers on the board that they share (board.py), and whoever
is asked adds them up. Its own are of this moment, those of the others up to a beat old (0.5 s).
"""

from __future__ import annotations

import inspect
import os
import resource
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tarmac._native import METRICS, Response
from tarmac.waiting import reactor_for

if TYPE_CHECKING:
    import asyncio

    from tarmac._native import Reactor, Request
    from tarmac.http.app import App
    from tarmac.http.board import Board, Row
    from tarmac.http.lifespan import Lifespan
    from tarmac.http.serve import Server

__all__ = ["NAMES", "TOTALS", "Health", "Meter", "resident_bytes", "serve_apart"]

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = 1e6  # counted in microseconds

# Sample, and where the reactor counts it.
_REACTOR = {
    'tarmac_reactor_operations_total{kind="poll"}': "polls",
    'tarmac_reactor_operations_total{kind="read"}': "reads",
    'tarmac_reactor_operations_total{kind="write"}': "writes",
    'tarmac_reactor_operations_total{kind="accept"}': "accepts",
    "tarmac_reactor_timers": "timers",
    "tarmac_tarantool_queries_total": "queries",
    "tarmac_tarantool_replies_total": "replies",
}
_OWN = (
    "tarmac_http_connections",
    "tarmac_http_requests_in_flight",
    "tarmac_workers",
    "process_cpu_seconds_total",
    "process_resident_memory_bytes",
    "process_open_fds",
)
NAMES: tuple[str, ...] = (*METRICS, *_REACTOR, *_OWN)
# What stays counted when a worker has gone; the rest is of the moment.
TOTALS = tuple(
    place
    for place, name in enumerate(NAMES)
    if name.partition("{")[0].endswith(("_total", "_bucket", "_sum", "_count"))
)

_HELP = {
    "tarmac_http_requests_total": "Requests answered, by method and class of status.",
    "tarmac_http_request_seconds": "Time from a whole request to its answer.",
    "tarmac_http_received_bytes_total": "Bytes of requests: heads and bodies that were collected.",
    "tarmac_http_sent_bytes_total": "Bytes of content answered.",
    "tarmac_http_refused_total": "Messages and connections refused, by reason.",
    "tarmac_http_timeouts_total": "Clients that were too slow, by what they were too slow for.",
    "tarmac_http_clients_left_total": "Requests whose clients left before they were answered.",
    "tarmac_http_connections": "Open connections.",
    "tarmac_http_requests_in_flight": "Requests whose answers are owed.",
    "tarmac_log_lines_dropped_total": "Lines of the access log that nobody took in time.",
    "tarmac_reactor_operations_total": "Looks at descriptors, and system calls that read, write and accept.",
    "tarmac_reactor_timers": "Deadlines that are waited for.",
    "tarmac_tarantool_queries_total": "Queries sent to Tarantool.",
    "tarmac_tarantool_replies_total": "Replies received from Tarantool.",
    "tarmac_workers": "Processes that serve.",
    "process_cpu_seconds_total": "CPU time of all workers, user and system.",
    "process_resident_memory_bytes": "Resident memory of all workers; pages that they share are counted in each.",
    "process_open_fds": "Open descriptors of all workers.",
}


class Meter:
    """The numbers of one process, and through the board those of all."""

    def __init__(self) -> None:
        self._servers: list[Server] = []
        self._reactor: Reactor | None = None
        self._board: Board | None = None
        self._row: Row | None = None

    def watch(self, server: Server, loop: asyncio.AbstractEventLoop) -> None:
        """Count what this server does, too."""
        self._reactor = reactor_for(loop)
        self._servers.append(server)

    def leave(self, server: Server) -> None:
        """It has stopped; what the last one counted stays on the board."""
        self.show()
        if server in self._servers:
            self._servers.remove(server)
        if not self._servers:
            self._row = None

    def share(self, board: Board, row: Row) -> None:
        """Show the numbers on a row of this board."""
        self._board, self._row = board, row

    def show(self) -> None:
        """Let the others see the numbers of now."""
        if self._row is not None:
            self._row.write(self._numbers())

    async def page(self, _: Request) -> Response:
        """All numbers of all workers as Prometheus reads them."""
        return Response(render(self.sums()), content_type=_TYPE)

    def sums(self) -> list[int]:
        """Every number, over all workers that live and, where it is a total, those that have gone."""
        if self._board is None:
            return self._numbers()
        self.show()
        rows = [self._board.gone, *self._board.taken()]
        return [sum(column) for column in zip(*(row.read(len(NAMES)) for row in rows), strict=True)]

    def _numbers(self) -> list[int]:
        counted = [numbers for server in self._servers for numbers in server.counted()]
        sums = [sum(column) for column in zip(*counted, strict=True)] if counted else [0] * len(METRICS)
        stats = self._reactor.stats() if self._reactor is not None else {}
        of_reactor = [stats.get(name, 0) for name in _REACTOR.values()]
        return [*sums, *of_reactor, *self._own()]

    def _own(self) -> list[int]:
        used = resource.getrusage(resource.RUSAGE_SELF)
        return [
            sum(server.connections for server in self._servers),
            sum(server.requests_in_flight for server in self._servers),
            1,
            int((used.ru_utime + used.ru_stime) * _SECONDS),
            resident_bytes(),
            len(os.listdir("/proc/self/fd")),  # noqa: PTH208 - names are all that is wanted
        ]


async def serve_apart(app: App, host: str, port: int) -> Server:
    """Tell numbers and health of *app* at an address of their own: nobody but the monitoring reaches them."""
    from tarmac.http.app import App  # noqa: PLC0415 - a cycle: an App may have a Meter
    from tarmac.http.serve import serve  # noqa: PLC0415 - as above

    app.meter = app.meter or Meter()
    window = App()
    window.add_route("/metrics", app.meter.page)
    window.add_route("/health", Health(app.life, ()).answer)
    return await serve(window, host=host, port=port)


def resident_bytes() -> int:
    """Resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE


def render(numbers: Iterable[int]) -> str:
    """Samples with their help and types, in the text format of Prometheus."""
    lines: list[str] = []
    family = ""
    bucket = 0
    for name, number in zip(NAMES, numbers, strict=True):
        bare = name.partition("{")[0]
        kind = _kind(bare)
        stem = bare.removesuffix("_bucket").removesuffix("_sum").removesuffix("_count") if kind == "histogram" else bare
        if stem != family:
            family = stem
            lines += [f"# HELP {family} {_HELP[family]}", f"# TYPE {family} {kind}"]
        if bare.endswith("_bucket"):
            bucket += number
            lines.append(f"{name} {bucket}")
        elif bare.endswith(("seconds_sum", "seconds_total")):
            lines.append(f"{name} {number / _SECONDS}")
        else:
            lines.append(f"{name} {number}")
    return "\n".join(lines) + "\n"


def _kind(name: str) -> str:
    if name.endswith(("_bucket", "_sum", "_count")):
        return "histogram"
    return "counter" if name.endswith("_total") else "gauge"


class Health:
    """200 while all is well; 503 from the moment the server is about to stop, or when a check fails."""

    def __init__(self, life: Lifespan, checks: Iterable[Callable[[], Any]]) -> None:
        self._life = life
        self._checks = tuple(checks)
        self._since = time.monotonic()

    async def answer(self, _: Request) -> tuple[dict[str, Any], int]:
        """Whether this process should be sent requests."""
        found = [await _failure(check) for check in self._checks]
        failed = dict(failure for failure in found if failure is not None)
        status = "stopping" if self._life.ending else "failing" if failed else "ok"
        answer: dict[str, Any] = {"status": status, "uptime": round(time.monotonic() - self._since, 3)}
        if failed:
            answer["failed"] = failed
        return answer, 200 if status == "ok" else 503


async def _failure(check: Callable[[], Any]) -> tuple[str, str] | None:
    name = getattr(check, "__name__", repr(check))
    try:
        result = check()
        if inspect.isawaitable(result):
            result = await result
    except Exception as error:  # noqa: BLE001 - whatever a check raises is what it found
        return name, f"{type(error).__name__}: {error}"
    return None if result is None or result else (name, "false")
