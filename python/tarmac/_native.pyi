"""The native core: the only door from Python to Rust.

Nothing outside the ``tarmac`` package imports this module.
"""

from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping, MutableMapping, Sequence
from contextvars import Context
from datetime import datetime, timedelta
from typing import Any, Final, Generic, Literal, Self, TypeVar, final, overload

from typing_extensions import disjoint_base

from tarmac._native_faces import ConnectionBase as ConnectionBase
from tarmac._native_faces import SpaceBase as SpaceBase
from tarmac._native_forms import FormReader as FormReader
from tarmac._native_values import BoxError as BoxError
from tarmac._native_values import Datetime as Datetime
from tarmac._native_values import ExtType as ExtType
from tarmac._native_values import Format as Format
from tarmac._native_values import Interval as Interval
from tarmac._native_values import Row as Row
from tarmac.http.producer import Producer

__all__ = [
    "BodyStream",
    "BoxError",
    "ConnectionBase",
    "Datetime",
    "ExtType",
    "FormReader",
    "Format",
    "Headers",
    "Interval",
    "Limits",
    "Link",
    "MemoryConnection",
    "Query",
    "Reactor",
    "Request",
    "Response",
    "ResponseHeaders",
    "Router",
    "Row",
    "Server",
    "SpaceBase",
    "Writer",
    "__version__",
    "_pack",
    "_panic",
    "_unpack",
    "debug_build",
]
__version__: Final[str]
debug_build: Final[bool]

_T = TypeVar("_T")

def _panic() -> None:
    """Panic on purpose: proves that a panic becomes an exception."""

def _pack(value: object) -> bytes:
    """Encode one value as msgpack."""

def _unpack(data: bytes) -> Any:
    """Decode one msgpack value; trailing bytes are a ``ValueError``."""

@final
class Reactor:
    """One epoll descriptor that carries every socket of this thread.

    Register ``fileno()`` with any event loop and call ``turn()`` when it is readable.
    """

    def __new__(cls) -> Reactor: ...
    def fileno(self) -> int: ...
    def turn(self, timeout: float | None = 0.0) -> None:
        """Handle everything that is ready; wait up to *timeout* seconds (``None``: for ever).

        The GIL is released while it waits. Calling it inside a turn raises ``RuntimeError``.
        """

    def set_scheduler(self, call_soon: Callable[[Callable[[], None]], object] | None) -> None:
        """What to call once with ``reactor.flush`` when output was queued outside a turn."""

    def flush(self) -> None:
        """Write what was queued outside a turn."""

    def close(self) -> None:
        """Close every connection and the descriptor. Idempotent."""

    def stats(self) -> dict[str, int]:
        """Counters since the start (polls, reads, writes, accepts, requests, queries, replies) and timers now."""

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
    ) -> Limits:
        """``body_timeout`` bounds the time between two pieces of a body, and the time before ``body_rate`` counts:
        after it a body must have come with so many bytes per second (0: as slowly as it likes).
        ``body_window``: bytes of a body in pieces that may wait for its handler.
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
    ) -> None:
        """Add a route such as ``/stickers/{pack}/{number:int}``.

        Types: ``str`` (one segment, the default), ``int``, ``path`` (the rest).
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
        streams_all: bool = False,
    ) -> Server:
        """Listen on a duplicate of the descriptor *fd*; the caller closes his own. ``None``: see ``connect``.

        ``start(coroutine, **options)`` makes the task of an asynchronous endpoint; the answer leaves in the step
        in which the endpoint returns. *running* holds the tasks that have not ended.
        ``on_error(request, exception)`` turns an endpoint's exception into a result.
        ``fallback(request)`` answers where no route matches (default: plain 404).
        405 with ``Allow``, HEAD by GET and OPTIONS are answered natively.
        """

    def connect(self, on_news: Callable[[], object], client: tuple[str, int] | None = None) -> MemoryConnection:
        """A connection that has no socket, as if *client* had made it.

        ``on_news()`` is called when something came for it, or its end. Raises ``ConnectionError`` when
        the server takes no more.
        """

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
class Headers(Mapping[str, str]):
    """Read-only, case-insensitive, multi-valued; a missing name is a ``KeyError``."""

    def __getitem__(self, name: str, /) -> str: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    @overload
    def get(self, name: str, default: None = None) -> str | None: ...
    @overload
    def get(self, name: str, default: _T) -> str | _T: ...
    def get_all(self, name: str) -> list[str]: ...
    def multi_items(self) -> list[tuple[str, str]]: ...

@final
class Request:
    """One HTTP request, decoded field by field when it is touched."""

    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str:
        """Percent-decoded path, without the query."""
    @property
    def raw_path(self) -> bytes:
        """The path as it was sent."""
    @property
    def query_string(self) -> bytes: ...
    @property
    def query(self) -> dict[str, str]:
        """Last value of each name."""
    @property
    def query_pairs(self) -> list[tuple[str, str]]:
        """Every pair in order."""
    @property
    def headers(self) -> Headers: ...
    def header(self, name: str, default: _T | None = None) -> str | _T | None:
        """One header without building the mapping (case-insensitive)."""
    @property
    def cookies(self) -> dict[str, str]: ...
    @property
    def version(self) -> str:
        """``"1.0"`` or ``"1.1"``."""
    @property
    def scheme(self) -> str: ...
    @property
    def host(self) -> str: ...
    @property
    def client(self) -> tuple[str, int] | None: ...
    @property
    def keep_alive(self) -> bool: ...
    @property
    def path_params(self) -> dict[str, Any]: ...
    @property
    def app(self) -> Any: ...
    @property
    def state(self) -> Any:
        """A namespace of this request's own."""
    @property
    def content(self) -> bytes:
        """The whole body, already read."""
    @property
    def disconnected(self) -> bool:
        """The client has closed its side, or the connection."""
    def wait_disconnected(self) -> Awaitable[None]:
        """Ends when the client has closed its side, or the connection."""
    def stream(self) -> BodyStream:
        """The body piece by piece; of a route without ``stream=True`` it is one piece."""
    def _keep_body(self, body: bytes) -> None: ...
    def start(
        self,
        status: int = 200,
        *,
        content_type: str | None = None,
        headers: Mapping[str, str] | Sequence[tuple[str, str]] | None = None,
        length: int | None = None,
    ) -> Writer:
        """Begin the answer: its head. Without *length* (in bytes) it is chunked, or ends with the connection."""
    def body(self) -> Awaitable[bytes]: ...
    def text(self) -> Awaitable[str]: ...
    def json(self) -> Awaitable[Any]:
        """Raises ``tarmac.BadRequest`` when the body is not JSON."""
    def form(self) -> Awaitable[dict[str, str]]:
        """``application/x-www-form-urlencoded``; last value of each name."""
    def respond(self, result: Any) -> None:
        """Answer this exchange once; a second answer is a ``RuntimeError``.

        *result*: str (text/plain), bytes (octet-stream), dict or list (JSON), None (204), ``Response``,
        or (result, status).
        """

@final
class BodyStream:
    """An asynchronous iterator over the pieces of a body.

    Raises ``tarmac.Disconnected`` when the client goes before the end, and ``tarmac.HTTPError`` with 400, 408 or
    413 when the body is malformed, too slow or too large.
    """

    def __aiter__(self) -> Self: ...
    def __anext__(self) -> Awaitable[bytes]: ...

@final
class Writer:
    """The content of an answer that was begun. Dropped before its end, it breaks the connection off."""

    def write(self, data: str | bytes | bytearray | memoryview) -> Awaitable[None]:
        """Send a piece; done when there is room for the next one.

        Raises ``tarmac.Disconnected`` when the client has gone and ``ValueError`` beyond the announced length.
        """
    def end(self) -> None:
        """That was all. ``ValueError`` when it is less than announced: the connection is broken off."""
    def abort(self) -> None:
        """Break the connection off, unless the answer has ended."""

@disjoint_base
class Response:
    """A whole answer. Subclassable; bodies are str or bytes-like."""

    def __new__(
        cls,
        body: str | bytes | bytearray | memoryview | Producer | None = None,
        *,
        status: int = 200,
        content_type: str | None = None,
        headers: Mapping[str, str] | Sequence[tuple[str, str]] | None = None,
        background: Callable[[], object] | None = None,
    ) -> Self:
        """``content_type`` defaults to text/plain for str and application/octet-stream for bytes.

        ``background`` (sync or async) is called when the answer is handed over and its handler has ended.
        Raises ``ValueError`` for a CR, LF or NUL in a header and for a framing header.
        """

    status: int
    content_type: str | None
    background: Callable[[], object] | None
    @property
    def body(self) -> bytes:
        """``TypeError`` for a body that is written piece by piece."""
    @body.setter
    def body(self, body: str | bytes | bytearray | memoryview | Producer | None) -> None: ...
    @property
    def producer(self) -> Producer | None:
        """What writes the body piece by piece; ``None`` for a whole body."""
    @property
    def headers(self) -> ResponseHeaders: ...
    def set_header(self, name: str, value: str) -> None:
        """Append one header line."""
    def set_cookie(
        self,
        name: str,
        value: str,
        *,
        max_age: int | timedelta | None = None,
        expires: datetime | float | str | None = None,
        path: str | None = "/",
        domain: str | None = None,
        secure: bool = False,
        http_only: bool = False,
        same_site: Literal["lax", "strict", "none"] | None = None,
        partitioned: bool = False,
    ) -> None:
        """``expires`` is a datetime with a time zone, seconds since 1970, or the text itself.

        Raises ``ValueError`` for what browsers would drop: a ``__Secure-`` or ``__Host-`` name, a partitioned
        cookie or ``same_site="none"`` without ``secure=True``; a ``__Host-`` name with a domain or another path.
        """

    def delete_cookie(
        self,
        name: str,
        *,
        path: str | None = "/",
        domain: str | None = None,
        secure: bool | None = None,
        partitioned: bool = False,
    ) -> None:
        """Have the client forget it; path and domain must be those it was set with."""

@final
class ResponseHeaders(MutableMapping[str, str]):
    """The headers of an answer, Content-Type among them: case-insensitive, multi-valued, and changed in place.

    Setting one replaces every line of that name; the server's own (framing, ``Date``) are a ``ValueError``.
    """

    def __getitem__(self, name: str, /) -> str:
        """The first of that name."""
    def __setitem__(self, name: str, value: str, /) -> None: ...
    def __delitem__(self, name: str, /) -> None: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def append(self, name: str, value: str) -> None:
        """Add one more line."""
    def get_all(self, name: str) -> list[str]: ...
    def multi_items(self) -> list[tuple[str, str]]: ...
    @overload
    def get(self, name: str, default: None = None) -> str | None: ...
    @overload
    def get(self, name: str, default: _T) -> str | _T: ...
    @overload
    def pop(self, name: str, /) -> str: ...
    @overload
    def pop(self, name: str, default: _T, /) -> str | _T:
        """Take every line of that name out and give the first one; *default* where there is none."""
    def setdefault(self, name: str, value: str) -> str: ...
    def update(self, headers: Mapping[str, str] | Sequence[tuple[str, str]]) -> None: ...  # type: ignore[override]

@final
class Query(Generic[_T]):
    """One database operation in flight: awaitable, and future-like for gather, shield and wait_for."""

    _asyncio_future_blocking: bool
    def __await__(self) -> Generator[Any, Any, _T]: ...
    def done(self) -> bool: ...
    def cancelled(self) -> bool: ...
    def result(self) -> _T: ...
    def exception(self) -> BaseException | None: ...
    def cancel(self, msg: object = None) -> bool: ...
    def add_done_callback(self, callback: Callable[[Query[_T]], object], *, context: Context | None = None) -> None: ...
    def remove_done_callback(self, callback: Callable[[Query[_T]], object]) -> int: ...
    def get_loop(self) -> Any: ...
    def __class_getitem__(cls, _item: object, /) -> type[Query[Any]]: ...

@final
class Link:
    """One Tarantool connection that reconnects by itself. All methods return at once.

    ``timeout`` of a query is in seconds: ``None`` means the connection's own, ``inf`` none at all.
    """

    def __new__(
        cls,
        reactor: Reactor,
        addresses: Sequence[tuple[str, int] | str],
        *,
        user: str | None = None,
        password: str | None = None,
        loop: object = None,
        errors: Callable[[str, int, str, str, bool], BaseException],
        in_flight: int = 512,
        timeout: float | None = None,
        connect_timeout: float = 5.0,
        reconnect_min: float = 0.05,
        reconnect_max: float = 2.0,
        fail_fast: bool = False,
        max_packet: int = ...,
    ) -> Link:
        """*addresses*: ``(ip, port)`` pairs or unix socket paths, tried in turn. Lazy: no socket yet.

        ``errors(kind, code, name, message, maybe_sent)`` makes the exception of a failed query;
        *kind* is "database", "network", "timeout", "protocol", "auth" or "usage".
        """
    def connect(self) -> Query[None]:
        """Open now; done when authenticated and the schema is known."""
    def close(self) -> None:
        """Drop the connection; queries in flight fail."""
    def ping(self, timeout: float | None = None) -> Query[None]: ...
    def select(
        self,
        space: str | int,
        key: Any,
        index: str | int,
        iterator: str | int,
        offset: int,
        limit: int,
        timeout: float | None = None,
    ) -> Query[list[Row]]: ...
    def get(self, space: str | int, key: Any, index: str | int, timeout: float | None = None) -> Query[Row | None]: ...
    def insert(self, space: str | int, row: Any, timeout: float | None = None) -> Query[Row]: ...
    def replace(self, space: str | int, row: Any, timeout: float | None = None) -> Query[Row]: ...
    def update(
        self, space: str | int, key: Any, operations: Any, index: str | int, timeout: float | None = None
    ) -> Query[Row | None]: ...
    def upsert(self, space: str | int, row: Any, operations: Any, timeout: float | None = None) -> Query[None]: ...
    def delete(
        self, space: str | int, key: Any, index: str | int, timeout: float | None = None
    ) -> Query[Row | None]: ...
    def call(self, name: str, arguments: Any, timeout: float | None = None) -> Query[Any]: ...
    def eval(self, expression: str, arguments: Any, timeout: float | None = None) -> Query[Any]: ...
    def execute(self, statement: str | int, parameters: Any, timeout: float | None = None) -> Query[Any]:
        """SQL: rows (with names) for a query, ``{"row_count": n, "autoincrement_ids": [...]}`` otherwise."""
    def schema(self) -> dict[str, dict[str, Any]]:
        """Spaces by name: id, fields, indexes. Empty before the first connection."""
    @property
    def state(self) -> str:
        """ "idle", "connecting", "ready", "waiting" (to reconnect) or "closed"."""
    @property
    def in_flight(self) -> int: ...
    @property
    def waiting(self) -> int: ...
    @property
    def server_version(self) -> str | None: ...
