"""Requests and responses of the native core: type hints of a part of ``_native.pyi``."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, Self, TypeVar, final, overload

from typing_extensions import disjoint_base

from tarmac.http.forms import Form
from tarmac.http.producer import Producer

_T = TypeVar("_T")

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
    def scheme(self) -> str:
        """``"https"`` over TLS, of this server or of a proxy that told so by the PROXY protocol."""
    @property
    def client_certificate(self) -> bytes | None:
        """The certificate that the client showed (DER), if it was asked for one."""
    @property
    def host(self) -> str: ...
    @property
    def client(self) -> tuple[str, int] | None: ...
    def override(
        self, *, client: tuple[str, int] | None = None, scheme: str | None = None, host: str | None = None
    ) -> None:
        """Have the properties of these names tell something else from now on: what a proxy in front knows.

        Raises ``ValueError`` for another scheme than http, https, ws and wss.
        """

    @property
    def allow(self) -> str | None:
        """The methods of this path, as ``Allow`` tells them, where no route has the request's own; else ``None``."""
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
    @overload
    def json(self, model: None = None, /) -> Awaitable[Any]: ...
    @overload
    def json(self, model: type[_T], /) -> Awaitable[_T]:
        """Raises ``tarmac.BadRequest`` when the body is not JSON.

        With a dataclass, a TypedDict, or a model of msgspec or pydantic: one of those, or ``tarmac.InvalidInput``.
        """
    def form(
        self,
        *,
        max_fields: int = 1000,
        max_files: int = 1000,
        max_field_bytes: int = 1048576,
        max_file_bytes: int | None = None,
        spool_bytes: int = 1048576,
    ) -> Awaitable[Form]:
        """``application/x-www-form-urlencoded`` or ``multipart/form-data``: by name the last value, files included.

        Files are read while they arrive where the route has ``stream=True``; what is larger than *spool_bytes*
        lies on the disk. They are closed when the request ends. Read again, it is the same form.
        Raises ``tarmac.BadRequest``, and ``HTTPError`` with 413 beyond a limit and with 415 for another type.
        """
    def _keep_form(self, form: Form) -> None: ...
    @property
    def _in_pieces(self) -> bool: ...
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
    def send_file(self, fd: int, offset: int, length: int) -> Awaitable[None]:
        """Send *length* bytes of an open file from *offset* on as a piece, without copying them.

        The descriptor may be closed at once. Done when there is room for the next piece, which is mostly when
        the file has left. Raises as ``write`` does, and ``OSError`` for a descriptor that is not open. A file that
        cannot be read, or becomes shorter before it has left, breaks the connection off.
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
