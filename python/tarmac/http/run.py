"""A server that owns the process: loop, signals, drain, exit.

The first SIGTERM or SIGINT drains, the second cuts off what still runs; SIGHUP reads the certificates of TLS
again. With workers this process only
supervises; see workers.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from tarmac.errors import ConfigurationError
from tarmac.http import sockets
from tarmac.http.access_log import AccessLog
from tarmac.http.metrics import serve_apart
from tarmac.http.notify import Notifier, listen_descriptors
from tarmac.http.serve import Server
from tarmac.http.settings import LoopChoice, Settings
from tarmac.http.sockets import Address

if TYPE_CHECKING:
    import socket

    from tarmac._native import Limits
    from tarmac.http.app import App
    from tarmac.http.tasks import TasksWay
    from tarmac.http.tls import TLS

__all__ = ["Announcer", "Keeper", "Program", "run", "run_here", "run_program"]

Program = Callable[[], "App"]

# A client whose first packet was let in is accepted within this time, unless it is far away.
_HANDSHAKE = 0.02
# What waits to be accepted when the drain begins is accepted within this time.
_QUEUE = 1.0


def run(
    app: App | Callable[..., Any],
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    uds: str | None = None,
    uds_mode: int | None = None,
    uds_owner: str | None = None,
    fd: int | None = None,
    backlog: int = 2048,
    reuse_port: bool = False,
    workers: int | None = None,
    loop: LoopChoice = "asyncio",
    drain: float = 5.0,
    drain_delay: float = 0.0,
    shutdown_timeout: float = 10.0,
    limits: Limits | None = None,
    server_name: str | None = "tarmac",
    date: bool = True,
    tasks: TasksWay | None = None,
    access_log: AccessLog | str | None = None,
    metrics_port: int | None = None,
    quiet: bool = False,
    pid_file: str | None = None,
    max_requests: int | None = None,
    max_requests_jitter: int = 0,
    max_rss: int | None = None,
    worker_timeout: float | None = None,
    tls: TLS | None = None,
    proxy_protocol: bool = False,
) -> None:
    """Serve *app* until SIGTERM or SIGINT; return after the drain.

    An ASGI or WSGI application is hosted; see ``tarmac.hosting.Hosted`` for its options.
    ``workers`` processes share the port, kept alive by this one; without it, this process serves.
    ``drain`` is the time in seconds that running requests are given; for ``drain_delay`` seconds before
    that, requests are still accepted while the health route tells of the end. After it the application has
    ``shutdown_timeout`` seconds to shut down: what then still runs is logged and cancelled. ``quiet`` leaves the line
    with the address out. ``loop`` is a name or a function that makes an event loop, called once in each
    worker. ``tasks`` is how asynchronous handlers are run: ``"light"`` makes a task only for one that waits
    or whose task is looked at, ``"plain"`` for each; without it, what ``TARMAC_TASKS`` says.

    ``access_log`` is a format for standard output (``"combined"``) or an ``AccessLog``. ``metrics_port``
    tells numbers and health to 127.0.0.1 alone, at ``/metrics`` and ``/health``.

    A worker is replaced, without losing a request, after ``max_requests`` (and up to
    ``max_requests_jitter`` more, so that not all are replaced at once) or above ``max_rss`` bytes of
    memory. One whose loop has not turned for ``worker_timeout`` seconds is killed and replaced.

    With ``proxy_protocol`` every connection has to begin with a header of the PROXY protocol: only behind a
    proxy that sends one.

    Raises ``OSError`` when the address is taken, ``ConfigurationError`` for what cannot be.
    """
    address = Address(
        host, port, uds, fd, backlog=backlog, uds_mode=uds_mode, uds_owner=uds_owner, reuse_port=reuse_port
    )
    settings = Settings(
        loop=loop,
        drain=drain,
        drain_delay=drain_delay,
        shutdown_timeout=shutdown_timeout,
        limits=limits,
        server_name=server_name,
        date=date,
        tasks=tasks,
        access_log=AccessLog(access_log) if isinstance(access_log, str) else access_log,
        metrics_port=metrics_port,
        quiet=quiet,
        pid_file=pid_file,
        max_requests=max_requests,
        max_requests_jitter=max_requests_jitter,
        max_rss=max_rss,
        worker_timeout=worker_timeout,
        tls=tls,
        proxy_protocol=proxy_protocol,
    )
    from tarmac.hosting import adapt  # noqa: PLC0415 - a cycle: what hosts is an App, and an App can be run

    hosted = adapt(app)
    run_program(lambda: hosted, address, settings, workers)


def run_program(
    program: Program,
    address: Address,
    settings: Settings,
    workers: int | None,
    *,
    changed: Callable[[], bool] | None = None,
) -> None:
    """Serve what *program* returns: in this process, or in *workers* that each call it for themselves.

    They are replaced whenever ``changed()`` is true.
    """
    if workers is not None and workers < 1:
        message = f"at least one worker, not {workers}"
        raise ConfigurationError(message)
    address = _from_service_manager(address)
    sockets.check_free(address)
    if settings.metrics_port is not None:
        sockets.check_free(Address(settings.metrics_host, settings.metrics_port))
    if workers is None and changed is None and not settings.needs_supervisor:
        app = program()
        run_here(app, address, sockets.bind(address), settings, Announcer(settings))
        return
    from tarmac.http.workers import supervise  # noqa: PLC0415 - a cycle: a worker runs this module

    supervise(program, address, settings, workers or 1, changed=changed)


def _from_service_manager(address: Address) -> Address:
    """The sockets that systemd opened for us go before host and port."""
    given = listen_descriptors()
    return Address(fd=given, backlog=address.backlog) if given and not address.shared else address


class Keeper(Protocol):
    """Who is told how a server in this process fares."""

    @property
    def stop_signals(self) -> tuple[signal.Signals, ...]:
        """The signals that ask for a drain, and at the second time for an end."""

    @property
    def leave_signal(self) -> signal.Signals | None:
        """The signal that asks for a drain while others go on to accept from the same sockets."""

    def ready(self, server: Server) -> None:
        """It listens."""

    def stopping(self) -> None:
        """It begins to drain."""


class Announcer:
    """Tells the terminal, the service manager and the pid file."""

    stop_signals = (signal.SIGTERM, signal.SIGINT)
    leave_signal = None

    def __init__(self, settings: Settings) -> None:
        self.notifier = Notifier()
        self._settings = settings

    def ready(self, server: Server) -> None:
        """Print the address, which scripts read for the port."""
        self.announce(server.url)
        if (tls := self._settings.tls) is not None:
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, partial(tls.refresh, anyway=True))
        if self.notifier.watchdog is not None:
            self._stay_alive(asyncio.get_running_loop(), self.notifier.watchdog)

    def announce(self, url: str) -> None:
        """Requests are answered at *url*."""
        if self._settings.pid_file is not None:
            Path(self._settings.pid_file).write_text(f"{os.getpid()}\n")
        if not self._settings.quiet:
            print(f"listening on {url}", flush=True)  # noqa: T201 - the one thing a server says
        self.notifier.ready()

    def stopping(self) -> None:
        """The pid file goes before anybody else may write his own."""
        self.notifier.stopping()
        if self._settings.pid_file is not None:
            _remove_pid_file(Path(self._settings.pid_file))

    def _stay_alive(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self.notifier.alive()
        loop.call_later(seconds, self._stay_alive, loop, seconds)


def _remove_pid_file(path: Path) -> None:
    with contextlib.suppress(OSError):
        if path.read_text().strip() == str(os.getpid()):
            path.unlink()


def run_here(app: App, address: Address, bound: list[socket.socket], settings: Settings, keeper: Keeper) -> None:
    """Serve on sockets that are bound, in this process, until a signal asks for the end."""
    with asyncio.Runner(loop_factory=_loop_factory(settings.loop)) as runner:
        runner.run(_until_stopped(app, address, bound, settings, keeper))


async def _until_stopped(
    app: App, address: Address, bound: list[socket.socket], settings: Settings, keeper: Keeper
) -> None:
    async with contextlib.AsyncExitStack() as stack:
        if settings.metrics_port is not None:
            window = await serve_apart(app, settings.metrics_host, settings.metrics_port)
            stack.push_async_callback(window.stop, drain=0)
        if settings.access_log is not None:
            asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, settings.access_log.reopen)
        await _serve_until_stopped(app, address, bound, settings, keeper)


async def _serve_until_stopped(
    app: App, address: Address, bound: list[socket.socket], settings: Settings, keeper: Keeper
) -> None:
    # Sockets that were handed to us outlive us: they are not closed to the world.
    held = [one.dup() for one in bound] if address.fd is None else []
    server = Server(
        app,
        address,
        limits=settings.limits,
        server_name=settings.server_name,
        date=settings.date,
        tasks=settings.tasks,
        tls=settings.tls,
        proxy_protocol=settings.proxy_protocol,
        access_log=settings.access_log,
        shutdown_timeout=settings.shutdown_timeout,
        **settings.server_options,
    )
    with _Signals(keeper) as signals:
        starting = asyncio.ensure_future(server.start(bound))
        if await signals.came_before(starting, number=0):
            starting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await starting
            return
        await starting
        keeper.ready(server)
        await signals.seen[0].wait()
        keeper.stopping()
        draining = asyncio.ensure_future(_drain(server, held, settings, leaving=signals.leaving))
        if await signals.came_before(draining, number=1):
            draining.cancel()
            server.abort()
            await server.stop(drain=0)
        else:
            await draining


async def _drain(server: Server, held: list[socket.socket], settings: Settings, *, leaving: bool) -> None:
    """Stop without a reset for anybody: nobody new, then all who wait to be accepted, then the end."""
    if held and not leaving:
        server.announce_end()
        await asyncio.sleep(settings.drain_delay)
        server.hide()
        sockets.turn_away(held)
        await asyncio.sleep(_HANDSHAKE)
        deadline = asyncio.get_running_loop().time() + _QUEUE
        while sockets.waiting(held) and asyncio.get_running_loop().time() < deadline:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(_HANDSHAKE / 4)
    for one in held:
        one.close()
    await server.stop(drain=settings.drain, linger=settings.linger)


class _Signals:
    """The first signal asks for a drain, the second for an end."""

    def __init__(self, keeper: Keeper) -> None:
        self.seen = (asyncio.Event(), asyncio.Event())
        self.leaving = False
        self._stop = keeper.stop_signals
        self._leave = keeper.leave_signal

    async def came_before(self, work: asyncio.Future[Any], *, number: int) -> bool:
        """Wait for *work* or for the signal with that number; True when the signal came first."""
        waiting = asyncio.ensure_future(self.seen[number].wait())
        await asyncio.wait({work, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        return not work.done()

    def _came(self) -> None:
        first, second = self.seen
        (second if first.is_set() else first).set()

    def _left(self) -> None:
        self.leaving = self.leaving or not self.seen[0].is_set()
        self.seen[0].set()

    def __enter__(self) -> Self:
        loop = asyncio.get_running_loop()
        for number in self._stop:
            loop.add_signal_handler(number, self._came)
        if self._leave is not None:
            loop.add_signal_handler(self._leave, self._left)
        return self

    def __exit__(self, *_: object) -> None:
        for number in (*self._stop, *([] if self._leave is None else [self._leave])):
            asyncio.get_running_loop().remove_signal_handler(number)


def _loop_factory(name: LoopChoice) -> Callable[[], asyncio.AbstractEventLoop] | None:
    if callable(name):
        return name
    if name == "asyncio":
        return None
    import uvloop  # noqa: PLC0415 - an optional extra

    return uvloop.new_event_loop
