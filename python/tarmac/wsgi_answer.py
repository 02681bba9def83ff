"""The answer of a WSGI application, from ``start_response`` and its blocks to ASGI's events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from types import TracebackType

    from tarmac.asgi import Event

    ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]

__all__ = ["Answer", "FileWrapper"]

_STATUS_DIGITS = 3


class Sink(Protocol):
    """Where events go."""

    def send(self, event: Event) -> None:
        """Take one event, in its turn."""

    def flush(self) -> None:
        """Wait until all are out."""


class FileWrapper:
    """``wsgi.file_wrapper``: the blocks of an open file."""

    def __init__(self, file: Any, block_size: int = 65536) -> None:
        self._file = file
        self._block_size = block_size
        if hasattr(file, "close"):
            self.close = file.close

    def __iter__(self) -> Iterator[bytes]:
        """Read block after block."""
        return iter(lambda: self._file.read(self._block_size), b"")


class Answer:
    """One answer: its head, and whether that has been sent."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._start: Event | None = None
        self._length: int | None = None
        self._sent: int | None = None  # bytes of content; None until the head is out

    def start_response(
        self, status: str, headers: list[tuple[str, str]], exc_info: ExcInfo | None = None, /
    ) -> Callable[[bytes], object]:
        """PEP 3333's ``start_response``; a second call needs *exc_info*, and must come before any content."""
        if exc_info:
            try:
                if self._sent is not None and exc_info[1] is not None:
                    raise exc_info[1].with_traceback(exc_info[2])
            finally:
                exc_info = None  # it holds a cycle through this frame
        elif self._start is not None:
            raise AssertionError("start_response was called twice, without exc_info")
        self._length = None
        fields = [self._field(name, value) for name, value in headers]
        self._start = {"type": "http.response.start", "status": _status(status), "headers": fields}
        return self.write

    def write(self, data: bytes) -> None:
        """Send a block now."""
        self._begin(len(data))
        self._sink.send({"type": "http.response.body", "body": data, "more_body": True})

    def take(self, blocks: Iterable[bytes]) -> list[Event]:
        """Send the blocks of an iterable; give back the events that end the answer."""
        known = self._known(blocks)
        for block in blocks:
            if not block:
                continue
            if self._sent is None and len(block) == (len(block) if known else self._length):
                return [self._head(), {"type": "http.response.body", "body": block}]
            self.write(block)
        if self._sent is None:
            return [self._head(), {"type": "http.response.body", "body": b""}]
        self._sink.flush()
        return [{"type": "http.response.body", "body": b""}]

    def _known(self, blocks: Iterable[bytes]) -> bool:
        """Whether there is only one block, so that its length is the answer's."""
        return self._length is None and isinstance(blocks, (list, tuple)) and len(blocks) == 1

    def _begin(self, length: int) -> None:
        if self._length is not None and (self._sent or 0) + length > self._length:
            raise RuntimeError("the application gave more content than its Content-Length")
        if self._sent is None:
            self._sink.send(self._head())
            self._sent = 0
        self._sent += length

    def _head(self) -> Event:
        if self._start is None:
            raise AssertionError("the application gave content before it called start_response")
        return self._start

    def _field(self, name: Any, value: Any) -> tuple[bytes, bytes]:
        if not isinstance(name, str) or not isinstance(value, str):
            message = f"name and value of a header are strings: {name!r}, {value!r}"
            raise TypeError(message)
        if name.lower() == "content-length" and value.isdecimal():
            self._length = int(value)
        return name.encode("latin-1"), value.encode("latin-1")


def _status(status: Any) -> int:
    if not isinstance(status, str):
        message = f"a status is a string such as '200 OK', not {status!r}"
        raise TypeError(message)
    code = status[:_STATUS_DIGITS]
    if not code.isdecimal() or status[_STATUS_DIGITS:][:1] not in {" ", ""}:
        message = f"a status is a string such as '200 OK', not {status!r}"
        raise ValueError(message)
    return int(code)
