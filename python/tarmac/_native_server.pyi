"""Servers, their routes and limits, of the native core: type hints of a part of ``_native.pyi``."""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from os import PathLike
from typing import Any, final

from tarmac._native import Reactor
from tarmac._native_messages import Request
from tarmac._native_websocket import WebSocket, WebSocketOptions

@final
class Limits:
    """Limits and timeouts of one server; every timeout is in seconds."""

    def __new__(
        cls,
        *,
        request_line: int = 8190,
        header_count: int = 100,
        header_bytes: int = 32768,
        body_bytes: int = ...,
        in_flight: int = 64,
        queued_bytes: int = ...,
        connections: int = 10000,
        header_timeout: float = 10.0,
        body_timeout: float = 30.0,
        idle_timeout: float = 75.0,
        write_timeout: float = 30.0,
        body_rate: int = 240,
        body_window: int = ...,
        handshake_timeout: float = 10.0,
        ws_message_bytes: int = ...,
        ws_queued_bytes: int = ...,
        ws_idle_timeout: float = 20.0,
        ws_ping_timeout: float = 20.0,
        ws_close_timeout: float = 5.0,
    ) -> Limits:
        """``body_timeout`` bounds the time between two pieces of a body, and the time before ``body_rate`` counts:
        after it a body must have come with so many bytes per second (0: as slowly as it likes).
        ``body_window``: bytes of a body in pieces that may wait for its handler.
        ``handshake_timeout``: for TLS, and for a header of the PROXY protocol before it.
        ``ws_message_bytes``: bytes of one WebSocket message, decompressed (1 MiB). ``ws_queued_bytes``: bytes of
        whole messages that may wait for their handler before the socket is not read (64 KiB).
        ``ws_idle_timeout``: a WebSocket that was silent for so long is pinged, 0 for never; ``ws_ping_timeout``
        bounds its answer, ``ws_close_timeout`` that to a close frame.
        """

@final
class Router:
    """Maps (method, path) to an endpoint: static paths first, then typed parameters."""

    def __new__(cls) -> Router: ...
    def add(
        self,
        method: str,
        pattern: str,
        endpoint: Callable[..., Any],
        *,
        asynchronous: bool,
        streams: bool = False,
        websocket: WebSocketOptions | None = None,
    ) -> None:
        """Add a route such as ``/stickers/{pack}/{number:int}``.

        Types: ``str`` (one segment, the default), ``int``, ``float``, ``uuid``, ``path`` (the rest).
        ``websocket``: the endpoint is asynchronous and is called with a ``WebSocket`` instead of a request.
        ``streams``: the endpoint is called when the head is there, and reads the body in pieces.
        Raises ``ValueError`` for a bad pattern or a route that exists already.
        The endpoint is called as ``endpoint(request, **parameters)``.
        """

    def match(self, method: str, path: str) -> tuple[Callable[..., Any], dict[str, Any]] | list[str] | None:
        """Endpoint and parameters; the allowed methods when only the method is wrong; or ``None``."""

@final
class Server:
    """A listening socket on a reactor."""

    def __new__(
        cls,
        reactor: Reactor,
        fd: int | None,
        router: Router,
        *,
        app: object = None,
        start: Callable[..., Any],
        options: dict[str, Any],
        running: set[Any],
        on_error: Callable[[Request, BaseException], Any],
        fallback: Callable[[Request], Any] | None = None,
        limits: Limits | None = None,
        server_name: str | None = "tarmac",
        date: bool = True,
        scheme: str = "http",
        loop: object = None,
        asgi: Asgi | None = None,
        light: bool = False,
        tls: TlsAcceptor | None = None,
        proxy_protocol: bool = False,
    ) -> Server:
        """Listen on a duplicate of the descriptor *fd*; the caller closes his own. ``None``: see ``connect``.

        ``start(coroutine, **options)`` makes the task of an asynchronous endpoint; the answer leaves in the step
        in which the endpoint returns. *running* holds the tasks that have not ended.
        ``on_error(request, exception)`` turns an endpoint's exception into a result.
        ``fallback(request)`` answers where no route matches, or none with this method (default: plain 404); *asgi*
        goes before it. HEAD is answered by GET; 405 with ``Allow`` and OPTIONS natively, unless one of both is given.
        ``light``: endpoints take their first step without a task, which is made if they wait or it is looked at.
        With *proxy_protocol* every connection begins with a header of the PROXY protocol.
        """

    def connect(self, on_news: Callable[[], object], client: tuple[str, int] | None = None) -> MemoryConnection:
        """A connection that has no socket, as if *client* had made it.

        ``on_news()`` is called when something came for it, or its end. Raises ``ConnectionError`` when
        the server takes no more.
        """

    def observe(self, log: AccessLog | None = None) -> None:
        """Count every exchange from now on, and write a line for each to *log*."""

    def metrics(self) -> list[int] | None:
        """What was counted, in the order of ``METRICS``; ``None`` where nothing is."""

    def stop_accepting(self) -> None:
        """Close the listening socket; busy connections close after their answers, idle ones after their next."""

    def close_idle(self) -> None:
        """Close the connections that nothing is read from and nothing is owed to."""

    def abort(self) -> None:
        """Close every connection of this server now."""

    @property
    def connections(self) -> int: ...
    @property
    def requests_in_flight(self) -> int: ...

@final
class TlsAcceptor:
    """What servers need to speak TLS, read from files; see ``tarmac.TLS``."""

    def __new__(
        cls,
        pairs: Sequence[tuple[str | PathLike[str], str | PathLike[str]]],
        *,
        client_ca: str | PathLike[str] | None = None,
        client_required: bool = True,
        alpn: Sequence[str] = (),
        minimum: str = "1.2",
    ) -> TlsAcceptor:
        """*pairs* of certificate and key files in PEM. ``ValueError`` tells what is wrong with which file."""

    def reload(self) -> None:
        """Read the files again, for connections still to come. ``ValueError``: all stays as it is."""

@final
class Asgi:
    """An ASGI 3 application as a server calls it: scope, ``receive`` and ``send`` are made natively."""

    def __new__(
        cls,
        app: Callable[[dict[str, Any], Any, Any], Awaitable[None]],
        *,
        as_coroutine: Callable[[Awaitable[Any]], Coroutine[Any, Any, Any]],
        websocket: Callable[[Any, dict[str, Any], WebSocket], Coroutine[Any, Any, None]] | None = None,
        is_function: bool = False,
        server: tuple[str, int | None] | None = None,
        root_path: str = "",
        state: dict[str, Any] | None = None,
    ) -> Asgi:
        """Every scope holds *server*, *root_path* (also in front of its path) and a copy of *state*.

        ``is_function``: calling it runs nothing, as with ``async def``. ``as_coroutine(awaitable)`` makes a
        coroutine of what the application returns, where it is none. ``websocket(app, scope, websocket)`` answers
        for WebSockets; without it their openings are requests like others.
        """

@final
class MemoryConnection:
    """The client's end of a connection that has no socket."""

    def send(self, data: bytes) -> None: ...
    def end(self) -> None:
        """Send no more: the server meets the end of its input."""
    def reset(self) -> None:
        """Go without a goodbye."""
    def take(self) -> bytes:
        """What came since the last time; empty when nothing did. Makes room: 256 KiB may wait."""
    @property
    def closed(self) -> bool:
        """Whether the server has closed; the last bytes may still have to be taken."""

@final
class AccessLog:
    """Where lines of an access log go, in batches: a descriptor, or a callable that takes bytes."""

    def __new__(
        cls,
        template: str,
        *,
        json: bool = False,
        fd: int | None = None,
        sink: Callable[[bytes], object] | None = None,
    ) -> AccessLog:
        """*template* is text with ``{field}``: client, method, target, version, host, referer, user_agent,
        header:name, request_id, time, iso_time, status, bytes, micros, seconds; ``{{`` and ``}}`` are braces.

        What clients sent is escaped, for JSON strings with *json*. A descriptor is duplicated.
        Raises ``ValueError`` for a field that there is not.
        """

    def reopen(self, fd: int) -> None:
        """Write to a duplicate of *fd* from now on."""

METRICS: list[str]
"""The names of what a server counts. Buckets of a histogram hold what fell into them alone; times are in µs."""
