"""A server inside the caller's own event loop: ``server = await tarmac.serve(app, port=8080)``."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Self

from tarmac._native import Limits
from tarmac._native import Server as NativeServer
from tarmac.http import sockets
from tarmac.http.sockets import Address
from tarmac.http.tasks import RequestTasks, TasksWay
from tarmac.waiting import reactor_for, when_closed

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from tarmac._native import MemoryConnection
    from tarmac._native import Router as NativeRouter
    from tarmac.http.access_log import AccessLog
    from tarmac.http.app import App
    from tarmac.http.tls import TLS, Watch

__all__ = ["Server", "serve"]

# How often a draining server looks whether the last connection has gone.
_GLANCE = 0.005
# How long the last answers have to leave.
_FAREWELL = 0.1


async def serve(
    app: App | Callable[..., Any],
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    uds: str | None = None,
    fd: int | None = None,
    backlog: int = 2048,
    limits: Limits | None = None,
    server_name: str | None = "tarmac",
    date: bool = True,
    tasks: TasksWay | None = None,
    tls: TLS | None = None,
    proxy_protocol: bool = False,
    access_log: AccessLog | None = None,
    shutdown_timeout: float = 10.0,
) -> Server:
    """Serve *app* on the running loop, and return when connections are accepted.

    An ASGI or WSGI application is hosted; see ``tarmac.hosting.Hosted`` for its options.
    ``port=0`` takes a free one, told by ``server.port``. With *proxy_protocol* every connection has to begin with a
    header of the PROXY protocol: only behind a proxy that sends one. ``tasks`` is how asynchronous handlers are run:
    see ``run``. The shutdown of the application is given ``shutdown_timeout`` seconds.
    Raises ``OSError`` when the address is taken, and whatever a start-up hook of the application raises.
    """
    from tarmac.hosting import adapt  # noqa: PLC0415 - a cycle: what hosts is an App, and an App can be run

    address = Address(host, port, uds, fd, backlog=backlog)
    server = Server(
        adapt(app),
        address,
        limits=limits,
        server_name=server_name,
        date=date,
        tasks=tasks,
        tls=tls,
        proxy_protocol=proxy_protocol,
        access_log=access_log,
        shutdown_timeout=shutdown_timeout,
    )
    await server.start(sockets.bind(address))
    return server


class Server:
    """An application on listening sockets. Also an asynchronous context manager that stops at its end."""

    def __init__(
        self,
        app: App,
        address: Address,
        *,
        limits: Limits | None = None,
        server_name: str | None = "tarmac",
        date: bool = True,
        tasks: TasksWay | None = None,
        tls: TLS | None = None,
        proxy_protocol: bool = False,
        access_log: AccessLog | None = None,
        shutdown_timeout: float = 10.0,
    ) -> None:
        self.app = app
        self.address = address
        self.port = 0
        self._limits = limits or Limits()
        self._server_name = server_name
        self._date = date
        self._tls = tls
        self._proxy_protocol = proxy_protocol
        self._watch: Watch | None = None
        self._tasks = RequestTasks(asyncio.get_running_loop(), tasks)
        self._access_log = access_log
        self._shutdown_timeout = shutdown_timeout
        self._natives: list[NativeServer] = []
        self._stopping: asyncio.Task[None] | None = None
        self._named = address.uds is not None

    async def start(self, bound: list[socket.socket]) -> None:
        """Start the application up, then listen on sockets that are bound already. Takes them over.

        Without any the only connections are those that ``connect`` makes.
        """
        with contextlib.ExitStack() as stack:
            for one in bound:
                stack.push(one)  # the native server holds descriptors of its own
            self.port = sockets.port_of(bound)
            router = self.app.native_router()
            await self.app.life.enter(self.app)
            try:
                for one in bound:
                    one.listen(self.address.backlog)
                    self._natives.append(self._native(one.fileno(), router))
                if not bound:
                    self._natives.append(self._native(None, router))
            except BaseException:
                await self.app.life.leave(self._shutdown_timeout)
                raise
        self._observe()
        self._stay = when_closed(asyncio.get_running_loop(), self._natives.clear)
        if self._tls is not None:
            from tarmac.http.tls import Watch  # noqa: PLC0415 - for servers that speak TLS

            self._watch = Watch(self._tls, asyncio.get_running_loop())

    def _native(self, fd: int | None, router: NativeRouter) -> NativeServer:
        return NativeServer(
            reactor_for(asyncio.get_running_loop()),
            fd,
            router,
            app=self.app,
            start=self._tasks.start,
            options=self._tasks.options,
            running=self._tasks.running,
            on_error=self.app.failures.answer,
            fallback=self.app.fallback(),
            asgi=self.app.native_asgi(self._place),
            limits=self._limits,
            server_name=self._server_name,
            date=self._date,
            loop=asyncio.get_running_loop(),
            light=self._tasks.light,
            tls=None if self._tls is None else self._tls.native,
            proxy_protocol=self._proxy_protocol,
        )

    def _observe(self) -> None:
        log = self._access_log.open() if self._access_log is not None else None
        if log is None and self.app.meter is None:
            return
        for native in self._natives:
            native.observe(log)
        if self.app.meter is not None:
            self.app.meter.watch(self, asyncio.get_running_loop())

    def counted(self) -> list[list[int]]:
        """What was counted on each socket, in the order of ``tarmac._native.METRICS``."""
        return [numbers for native in self._natives if (numbers := native.metrics()) is not None]

    def connect(self, on_news: Callable[[], object], client: tuple[str, int] | None = None) -> MemoryConnection:
        """A connection within the process, without a socket; ``on_news()`` tells when to take what came."""
        return self._natives[0].connect(on_news, client)

    @property
    def _place(self) -> tuple[str, int | None]:
        """Where it listens, for hosted applications."""
        return (self.address.uds, None) if self.address.uds is not None else (self.address.host, self.port)

    @property
    def url(self) -> str:
        """Where it listens, for people."""
        return self.address.url(self.port, secure=self._tls is not None)

    @property
    def connections(self) -> int:
        """Open connections."""
        return sum(native.connections for native in self._natives)

    @property
    def requests_in_flight(self) -> int:
        """Requests whose answers are owed."""
        return sum(native.requests_in_flight for native in self._natives)

    async def stop(self, *, drain: float = 5.0, linger: float = 0.0) -> None:
        """Accept nothing more, wait up to *drain* seconds for what runs, then cancel it, which answers 503.

        Every answer of the drain closes its connection. Idle connections are closed after *linger*
        seconds: a request that is on its way to one is answered in that time, not lost.
        Shutdown hooks, in reverse order, have ``shutdown_timeout`` seconds together: what then still runs is
        logged and cancelled. A handler may call this: its own answer is still sent. Calling it again waits
        for the same stop.
        """
        if self._stopping is None:
            self._stopping = asyncio.ensure_future(self._stop(drain, linger, asyncio.current_task()))
        await asyncio.shield(self._stopping)

    def abort(self) -> None:
        """Cut every connection and cancel every handler now."""
        for native in self._natives:
            native.abort()
        self._tasks.cancel()

    def announce_end(self) -> None:
        """Let the health route of the application tell that this server is about to stop."""
        self.app.life.ending = True

    def hide(self) -> None:
        """Take the name of a Unix socket away, so that nobody new finds it."""
        if self._named and self.address.uds is not None:
            self._named = False
            sockets.remove_unix(self.address.uds)

    async def _stop(self, drain: float, linger: float, caller: asyncio.Task[Any] | None) -> None:
        # A handler that stops its server waits for us: its own exchange must not be waited for.
        own = 1 if caller in self._tasks.running else 0
        self.announce_end()
        self.hide()
        for native in self._natives:
            native.stop_accepting()
        await self._wait_until_idle(own, min(linger, drain))
        for native in self._natives:
            native.close_idle()
        await self._wait_until_idle(own, drain - min(linger, drain))
        await self._let_go(caller)
        if not own:
            # What was cancelled has answered 503: that is on its way.
            await self._wait_until_idle(own, _FAREWELL)
            self.abort()
            await self._let_go(caller)
        if self.app.meter is not None:
            self.app.meter.leave(self)
        self._stay()
        if self._watch is not None:
            self._watch.stop()
        await self.app.life.leave(self._shutdown_timeout)
        self.app.close_threads()

    async def _wait_until_idle(self, own: int, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while self._busy(own) and loop.time() < deadline:  # noqa: ASYNC110 - the last connection tells nobody
            await asyncio.sleep(_GLANCE)

    def _busy(self, own: int) -> bool:
        # A handler may have work to do after its answer: closing a file, a background task.
        working = len(self._tasks.running) > own
        return working or self.requests_in_flight > own or self.connections > own

    async def _let_go(self, caller: asyncio.Task[Any] | None) -> None:
        """Cancel the handlers that outlived the drain and see them end, before what they use goes."""
        left = self._tasks.running - {caller}
        for task in left:
            task.cancel("the server stops")
        if left:
            await asyncio.wait(left, timeout=1.0)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()
