"""WebSockets of the native core: type hints of a part of ``_native.pyi``."""

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import Any, Self, final

from tarmac._native_messages import Request

@final
class WebSocketOptions:
    """What a route says of its WebSockets."""

    def __new__(
        cls, *, message_bytes: int | None = None, compress: bool = True, origins: Sequence[str] | None = None
    ) -> WebSocketOptions:
        """``message_bytes``: the limit of a message, decompressed, instead of the server's ``ws_message_bytes``.
        ``origins``: whose pages may connect, ``"same"`` for the site itself; None for everybody's.
        """

@final
class WebSocket:
    """One WebSocket of a server, as handlers of ``@app.websocket`` get it.

    It is accepted by ``accept`` or by its first use. When the handler returns, it is closed with 1000; when the
    handler raises, with 1011. A handler that returns without having used it leaves the client with 403; one that
    raises before, with what the exception is answered with.

    Nothing here is a coroutine: what a method has to do is done when it is called, and only the waiting is left
    to ``await``.
    """

    def __new__(cls, request: Request, options: WebSocketOptions | None = None) -> WebSocket:
        """The WebSocket that *request* asks for. Raises ``tarmac.HTTPError``, an answer, when it asks for none."""

    @property
    def request(self) -> Request:
        """The request that asked for it: headers, path, query, client, ``state``."""

    @property
    def subprotocols(self) -> list[str]:
        """What the client offers to speak, best first."""

    @property
    def subprotocol(self) -> str | None:
        """What was chosen by ``accept``."""

    @property
    def accepted(self) -> bool:
        """Whether it was opened, be it closed since."""

    @property
    def close_code(self) -> int | None:
        """Why it was closed: a code of RFC 6455 section 7.4; None while it is open."""

    @property
    def close_reason(self) -> str | None:
        """The words that came with the code; None while it is open."""

    def accept(
        self,
        subprotocol: str | None = None,
        headers: Mapping[str, str] | Iterable[tuple[str, str]] | None = None,
    ) -> Awaitable[None]:
        """Open it, with one of ``subprotocols`` and with headers of your own in the answer.

        Raises ``ValueError`` for a sub-protocol that was not offered, and ``WebSocketClosed`` when the client has
        gone or the server stops.
        """

    def receive(self) -> Awaitable[str | bytes]:
        """The next message: str for text, bytes for binary.

        Raises ``WebSocketClosed`` when all that came before the end has been received, and ``RuntimeError`` when
        another task waits already.
        """

    def receive_text(self) -> Awaitable[str]:
        """The next message, which must be text: ``ValueError`` if it is not."""

    def receive_bytes(self) -> Awaitable[bytes]:
        """The next message, which must be binary: ``ValueError`` if it is not."""

    def receive_json(self) -> Awaitable[Any]:
        """The next message read as JSON: ``ValueError`` if it is none."""

    def __aiter__(self) -> Self: ...
    def __anext__(self) -> Awaitable[str | bytes]:
        """The next message; the iteration ends with the WebSocket, whatever the reason: see ``close_code``."""

    def send(self, message: str | bytes | bytearray | memoryview) -> Awaitable[None]:
        """Send a message: text for str, else binary. Awaiting it waits while the client is slow to read.

        Awaiting it raises ``WebSocketClosed`` when it is closed: who sends to many without waiting need not care.
        When 16 MiB wait unsent, since nobody awaited, the client is cut off.
        """

    def send_json(self, value: object) -> Awaitable[None]:
        """Send *value* as a text message of JSON."""

    def ping(self, data: bytes | None = None) -> Awaitable[None]:
        """Send a ping with at most 125 bytes; awaiting it waits for the next pong."""

    def close(self, code: int = 1000, reason: str = "") -> Awaitable[None]:
        """Close it; awaiting it waits for the client's answer, up to ``ws_close_timeout``. Idempotent.

        Before it was accepted, the client is answered with 403 instead.
        """
