"""A server that owns the process: loop, signals, drain, exit.

The first SIGTERM or SIGINT drains, the second cuts off what still runs. With several workers this
process only supervises; see workers.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

from tarmac.errors import ConfigurationError
from tarmac.http import sockets
from tarmac.http.serve import Server
from tarmac.http.sockets import Address

if TYPE_CHECKING:
    import socket

    from tarmac._native import Limits
    from tarmac.http.app import App

__all__ = ["LoopChoice", "LoopName", "Settings", "announce_url", "check_loop", "run", "run_here"]

LoopName = Literal["asyncio", "uvloop"]
LoopChoice = LoopName | Callable[[], asyncio.AbstractEventLoop]
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a process serves, beside where."""

    loop: LoopChoice = "asyncio"
    drain: float = 5.0
    limits: Limits | None = None
    server_name: str | None = "tarmac"
    date: bool = True
    quiet: bool = False
    stop_signals: tuple[signal.Signals, ...] = field(default=_STOP_SIGNALS)


def run(
    app: App,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    uds: str | None = None,
    fd: int | None = None,
    backlog: int = 2048,
    workers: int = 1,
    loop: LoopChoice = "asyncio",
    drain: float = 5.0,
    limits: Limits | None = None,
    server_name: str | None = "tarmac",
    date: bool = True,
    quiet: bool = False,
) -> None:
    """Serve *app* until SIGTERM or SIGINT; return after the drain.

    ``workers`` processes share the port. ``drain`` is the time in seconds that running requests are
    given. ``quiet`` leaves the line with the address out. ``loop`` is a name or a function that makes an
    event loop, called once in each worker. Raises ``OSError`` when the address is taken.
    """
    if workers < 1:
        message = f"at least one worker, not {workers}"
        raise ConfigurationError(message)
    check_loop(loop)
    address = Address(host, port, uds, fd, backlog=backlog)
    settings = Settings(loop=loop, drain=drain, limits=limits, server_name=server_name, date=date, quiet=quiet)
    if workers == 1:
        run_here(app, address, sockets.bind(address), settings, ready=None)
        return
    from tarmac.http.workers import supervise  # noqa: PLC0415 - a cycle: a worker runs this module

    supervise(app, address, settings, workers)


def run_here(
    app: App,
    address: Address,
    bound: list[socket.socket],
    settings: Settings,
    *,
    ready: Callable[[Server], None] | None,
) -> None:
    """Serve on sockets that are bound, in this process; tell *ready* (or the terminal) when it listens."""
    with asyncio.Runner(loop_factory=_loop_factory(settings.loop)) as runner:
        runner.run(_until_stopped(app, address, bound, settings, ready or _announce(settings)))


async def _until_stopped(
    app: App,
    address: Address,
    bound: list[socket.socket],
    settings: Settings,
    ready: Callable[[Server], None],
) -> None:
    server = Server(app, address, limits=settings.limits, server_name=settings.server_name, date=settings.date)
    with _Signals(settings.stop_signals) as signals:
        starting = asyncio.ensure_future(server.start(bound))
        if not await signals.came_before(starting, number=0):
            await starting
            ready(server)
            await signals.seen[0].wait()
            draining = asyncio.ensure_future(server.stop(drain=settings.drain))
            if await signals.came_before(draining, number=1):
                server.abort()
            await draining
            return
        starting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await starting


class _Signals:
    """The first signal asks for a drain, the second for an end."""

    def __init__(self, numbers: tuple[signal.Signals, ...]) -> None:
        self.seen = (asyncio.Event(), asyncio.Event())
        self._numbers = numbers

    async def came_before(self, work: asyncio.Future[Any], *, number: int) -> bool:
        """Wait for *work* or for the signal with that number; True when the signal came first."""
        waiting = asyncio.ensure_future(self.seen[number].wait())
        await asyncio.wait({work, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        return not work.done()

    def _came(self) -> None:
        first, second = self.seen
        (second if first.is_set() else first).set()

    def __enter__(self) -> Self:
        for number in self._numbers:
            asyncio.get_running_loop().add_signal_handler(number, self._came)
        return self

    def __exit__(self, *_: object) -> None:
        for number in self._numbers:
            asyncio.get_running_loop().remove_signal_handler(number)


def check_loop(name: str | LoopChoice) -> None:
    """Say early, and in the parent, that a loop cannot be had."""
    if callable(name):
        return
    if name not in {"asyncio", "uvloop"}:
        message = f"the loop is asyncio or uvloop, not {name!r}"
        raise ConfigurationError(message)
    if name == "uvloop":
        try:
            import uvloop  # noqa: F401, PLC0415 - an optional extra
        except ImportError:
            message = "uvloop is not installed: pip install 'tarmac[uvloop]'"
            raise ConfigurationError(message) from None


def _loop_factory(name: LoopChoice) -> Callable[[], asyncio.AbstractEventLoop] | None:
    if callable(name):
        return name
    if name == "asyncio":
        return None
    import uvloop  # noqa: PLC0415 - an optional extra

    return uvloop.new_event_loop


def _announce(settings: Settings) -> Callable[[Server], None]:
    def announce(server: Server) -> None:
        if not settings.quiet:
            announce_url(server.url)

    return announce


def announce_url(url: str) -> None:
    """Tell the terminal where the server listens; scripts read this line for the port."""
    print(f"listening on {url}", flush=True)  # noqa: T201 - the one thing a server says
