"""The native core: the only door from Python to Rust.

Nothing outside the ``tarmac`` package imports this module.
"""

from collections.abc import Callable, Generator, Sequence
from contextvars import Context
from typing import Any, Final, Generic, TypeVar, final

from tarmac._native_faces import ConnectionBase as ConnectionBase
from tarmac._native_faces import SpaceBase as SpaceBase
from tarmac._native_forms import FormReader as FormReader
from tarmac._native_forms import _form_pairs as _form_pairs
from tarmac._native_messages import BodyStream as BodyStream
from tarmac._native_messages import Headers as Headers
from tarmac._native_messages import Request as Request
from tarmac._native_messages import Response as Response
from tarmac._native_messages import ResponseHeaders as ResponseHeaders
from tarmac._native_messages import Writer as Writer
from tarmac._native_server import METRICS as METRICS
from tarmac._native_server import AccessLog as AccessLog
from tarmac._native_server import Asgi as Asgi
from tarmac._native_server import Limits as Limits
from tarmac._native_server import MemoryConnection as MemoryConnection
from tarmac._native_server import Router as Router
from tarmac._native_server import Server as Server
from tarmac._native_server import TlsAcceptor as TlsAcceptor
from tarmac._native_values import BoxError as BoxError
from tarmac._native_values import Datetime as Datetime
from tarmac._native_values import ExtType as ExtType
from tarmac._native_values import Format as Format
from tarmac._native_values import Interval as Interval
from tarmac._native_values import Row as Row
from tarmac._native_websocket import WebSocket as WebSocket
from tarmac._native_websocket import WebSocketOptions as WebSocketOptions

__all__ = [
    "METRICS",
    "AccessLog",
    "Asgi",
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
    "TlsAcceptor",
    "WebSocket",
    "WebSocketOptions",
    "Writer",
    "__version__",
    "_form_pairs",
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
    def throw(self, kind: Any, value: Any = None, traceback: Any = None) -> Any:
        """Raise it where this is awaited: for what wraps awaitables, such as ``anext`` with a default."""
    def close(self) -> None: ...
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
