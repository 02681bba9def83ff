"""What the server answered: an ``Answer``, and the reader that makes one out of bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Answer", "AnswerHeaders", "AnswerReader", "BrokenAnswer"]


class BrokenAnswer(ConnectionError):
    """The server closed before the answer was whole; ``partial`` is what came."""

    def __init__(self, partial: bytes) -> None:
        super().__init__(f"the server closed the connection after {len(partial)} bytes of an answer")
        self.partial = partial


class AnswerHeaders(Mapping[str, str]):
    """The headers of an answer: case-insensitive; ``get_all`` gives every value of a name."""

    def __init__(self, fields: list[tuple[str, str]]) -> None:
        self._fields = fields

    def __getitem__(self, name: str) -> str:
        for known, value in self._fields:
            if known.lower() == name.lower():
                return value
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name.lower() for name, _ in self._fields))

    def __len__(self) -> int:
        return len({name.lower() for name, _ in self._fields})

    def get_all(self, name: str) -> list[str]:
        """Every value of *name*, in order."""
        return [value for known, value in self._fields if known.lower() == name.lower()]

    def multi_items(self) -> list[tuple[str, str]]:
        """Every line as it came."""
        return list(self._fields)

    def __repr__(self) -> str:
        return f"AnswerHeaders({self._fields!r})"


@dataclass
class Answer:
    """One answer of the server. ``history`` holds the redirects that led to it."""

    status: int
    headers: AnswerHeaders
    body: bytes = b""
    reason: str = ""
    url: str = ""
    cookies: dict[str, str] = field(default_factory=dict)  # those that this answer set
    history: list[Answer] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The body in the charset that its type names, else UTF-8."""
        for parameter in self.headers.get("content-type", "").split(";")[1:]:
            name, _, value = parameter.partition("=")
            if name.strip().lower() == "charset":
                return self.body.decode(value.strip().strip('"'))
        return self.body.decode()

    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)

    @property
    def is_redirect(self) -> bool:
        """Whether it sends the client elsewhere."""
        return self.status in {301, 302, 303, 307, 308} and "location" in self.headers

    def __repr__(self) -> str:
        return f"<Answer {self.status} {self.body[:60]!r}>"


class AnswerReader:
    """Takes one answer apart as its bytes come (RFC 9112 sections 4, 6 and 7); interim answers are passed over.

    ``head`` is there as soon as it is whole; ``pieces`` gathers the body; ``rest`` is what came behind it.
    """

    def __init__(self, *, head_only: bool = False) -> None:
        self.head: Answer | None = None
        self.pieces: list[bytes] = []
        self.done = False
        self.rest = b""
        self._head_only = head_only
        self._left: int | None = None  # of a body of known length, or of a chunk
        self._chunked = False
        self._came = b""

    def feed(self, data: bytes) -> None:
        """Take bytes; empty ones mean that the connection is closed."""
        if not data:
            return self._end()
        self._came += data
        self.rest += data
        if self.head is None and not self._read_head():
            return None
        while not self.done and self._read_piece():
            pass
        return None

    def take(self) -> list[bytes]:
        """The pieces that came since the last time."""
        pieces, self.pieces = self.pieces, []
        return pieces

    def _end(self) -> None:
        if self.head is not None and not self._chunked and self._left is None:
            self.done = True
        if not self.done:
            raise BrokenAnswer(self._came)

    def _read_head(self) -> bool:
        while (end := self.rest.find(b"\r\n\r\n")) >= 0:
            head, self.rest = self.rest[:end].decode("latin-1"), self.rest[end + 4 :]
            status_line, *lines = head.split("\r\n")
            _, status, reason = f"{status_line} ".split(" ", 2)
            if 100 <= int(status) < 200 and status != "101":  # noqa: PLR2004 - interim
                continue
            fields = [(name, value.strip(" \t")) for name, _, value in (line.partition(":") for line in lines)]
            self.head = Answer(int(status), AnswerHeaders(fields), reason=reason.strip())
            self._frame(self.head)
            return True
        return False

    def _frame(self, head: Answer) -> None:
        if self._head_only or head.status in {101, 204, 304}:
            self.done = True
        elif "chunked" in head.headers.get("transfer-encoding", "").lower():
            self._chunked = True
        elif (length := head.headers.get("content-length")) is not None:
            self._left = int(length)
            self.done = self._left == 0

    def _read_piece(self) -> bool:
        if self._chunked and self._left is None:
            return self._read_chunk_size()
        count = len(self.rest) if self._left is None else min(self._left, len(self.rest))
        if count:
            self.pieces.append(self.rest[:count])
            self.rest = self.rest[count:]
        if self._left is None:
            return False
        self._left -= count
        if self._left:
            return False
        if self._chunked:
            return self._end_chunk()
        self.done = True
        return False

    def _read_chunk_size(self) -> bool:
        line, found, rest = self.rest.partition(b"\r\n")
        if not found:
            return False
        size = int(line.partition(b";")[0], 16)
        if size:
            self._left, self.rest = size, rest
            return True
        # The last chunk; trailers end with an empty line.
        if rest.startswith(b"\r\n"):
            self.done, self.rest = True, rest[2:]
        elif (end := rest.find(b"\r\n\r\n")) >= 0:
            self.done, self.rest = True, rest[end + 4 :]
        return False

    def _end_chunk(self) -> bool:
        if len(self.rest) < len(b"\r\n"):
            return False
        self.rest = self.rest[2:]
        self._left = None
        return True
