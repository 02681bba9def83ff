"""What the plain test client gives out: the asynchronous things, each waited for in the client's own loop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from tarmac.testing.answers import Answer
    from tarmac.testing.asynchronous import AsyncStream
    from tarmac.testing.connection import AsyncConnection
    from tarmac.testing.websocket import AsyncWebSocket

__all__ = ["Connection", "Stream", "WebSocket"]

_T = TypeVar("_T")


class Run(Protocol):
    """Runs a coroutine to its end."""

    def __call__(self, coroutine: Coroutine[Any, Any, _T], /) -> _T:
        """Give its result."""


class Stream:
    """An answer that is read piece by piece: ``for piece in stream``."""

    def __init__(self, run: Run, inner: AsyncStream) -> None:
        self._run = run
        self._inner = inner
        self._pieces: AsyncIterator[bytes] = aiter(inner)

    @property
    def answer(self) -> Answer:
        """The answer; its body is there after ``read``."""
        return self._inner.answer

    def __iter__(self) -> Iterator[bytes]:
        while (piece := self._run(self._next())) is not None:
            yield piece

    def read(self) -> bytes:
        """The rest of the body, whole."""
        return self._run(self._inner.read())

    async def _next(self) -> bytes | None:
        return await anext(self._pieces, None)


class Connection:
    """A connection as rude as a test wants it; see ``AsyncConnection``."""

    def __init__(self, run: Run, inner: AsyncConnection) -> None:
        self._run = run
        self._inner = inner

    @property
    def closed(self) -> bool:
        """Whether the server has closed it."""
        return self._inner.closed

    def send(self, data: bytes) -> None:
        """Hand bytes over as they are."""
        self._inner.send(data)

    def end(self) -> None:
        """Send no more; answers can still be read."""
        self._inner.end()

    def reset(self) -> None:
        """Go without a goodbye."""
        self._inner.reset()

    def receive(self) -> bytes:
        """What came; ``b""`` when the server has closed."""
        return self._run(self._inner.receive())

    def rest(self) -> bytes:
        """Everything until the server closes."""
        return self._run(self._inner.rest())

    def answer(self, *, head_only: bool = False) -> Answer:
        """The next answer, read to its end; ``head_only`` after a HEAD."""
        return self._run(self._inner.answer(head_only=head_only))


class WebSocket:
    """An open WebSocket; see ``AsyncWebSocket``."""

    def __init__(self, run: Run, inner: AsyncWebSocket) -> None:
        self._run = run
        self._inner = inner

    @property
    def answer(self) -> Answer:
        """What opened it."""
        return self._inner.answer

    @property
    def subprotocol(self) -> str | None:
        """What the server chose to speak."""
        return self._inner.subprotocol

    @property
    def close_code(self) -> int | None:
        """The code with which the server closed it; ``None`` while it is open."""
        return self._inner.close_code

    @property
    def close_reason(self) -> str:
        """The words that came with the code."""
        return self._inner.close_reason

    def send(self, message: str | bytes) -> None:
        """Send a message: text for str, binary for bytes."""
        self._inner.send(message)

    def send_json(self, value: Any) -> None:
        """Send *value* as JSON in a text message."""
        self._inner.send_json(value)

    def ping(self, data: bytes = b"") -> None:
        """Send a ping."""
        self._inner.ping(data)

    def send_frame(self, opcode: int, payload: bytes = b"", *, final: bool = True) -> None:
        """Send one frame, right or wrong."""
        self._inner.send_frame(opcode, payload, final=final)

    def receive(self) -> str | bytes:
        """The next message: str for text, bytes for binary."""
        return self._run(self._inner.receive())

    def receive_text(self) -> str:
        """The next message, which must be text."""
        return self._run(self._inner.receive_text())

    def receive_bytes(self) -> bytes:
        """The next message, which must be binary."""
        return self._run(self._inner.receive_bytes())

    def receive_json(self) -> Any:
        """The next message, parsed."""
        return self._run(self._inner.receive_json())

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Close it, and wait until the server has done so too."""
        self._run(self._inner.close(code, reason))
