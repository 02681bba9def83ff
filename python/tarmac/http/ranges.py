"""Parts of an answer: which bytes a Range field asks for, and how several are sent (RFC 9110 section 14)."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

__all__ = ["MultiRange", "parse_range"]

# More digits than any file has bytes are no number.
_SPEC = re.compile(r"[ \t]*(\d{0,19})-(\d{0,19})[ \t]*", re.ASCII)


def parse_range(value: str, size: int, *, most: int) -> list[tuple[int, int]] | None:
    """The parts of *size* bytes that *value* asks for, as (first, one past the last); ``[]`` if none of them exists.

    ``None`` means that the field is to be ignored: another unit, a syntax error, more than *most* ranges, or
    ranges that together are more than the whole, which no honest client needs. So is a range of nothing.
    """
    unit, mark, specs = value.partition("=")
    # Some clients ask for a range of everything: an empty file is whole without one.
    if not mark or unit.strip().lower() != "bytes" or size == 0:
        return None
    found = []
    pieces = [spec for spec in specs.split(",") if spec.strip(" \t")]
    if not pieces or len(pieces) > most:
        return None
    for spec in pieces:
        match = _SPEC.fullmatch(spec)
        if match is None or not any(match.groups()):
            return None
        first, last = match.groups()
        if first and last and int(last) < int(first):
            return None
        start, stop = (int(first), int(last or size) + 1) if first else (max(size - int(last), 0), size)
        if start < min(stop, size):
            found.append((start, min(stop, size)))
    if len(found) > 1 and sum(stop - start for start, stop in found) > size:
        return None
    return found


@dataclass(frozen=True, slots=True)
class MultiRange:
    """Several parts in one answer, as ``multipart/byteranges``."""

    heads: tuple[bytes, ...]
    ranges: tuple[tuple[int, int], ...]
    end: bytes
    boundary: str

    @classmethod
    def of(cls, ranges: list[tuple[int, int]], size: int, content_type: str) -> MultiRange:
        """From the ranges of a file of *size* bytes."""
        boundary = os.urandom(12).hex()
        heads = (
            f"\r\n--{boundary}\r\nContent-Type: {content_type}\r\nContent-Range: {content_range(one, size)}\r\n\r\n"
            for one in ranges
        )
        return cls(tuple(head.encode() for head in heads), tuple(ranges), f"\r\n--{boundary}--\r\n".encode(), boundary)

    @property
    def content_type(self) -> str:
        """Says what it is."""
        return f"multipart/byteranges; boundary={self.boundary}"

    @property
    def length(self) -> int:
        """Bytes of all of it."""
        return sum(map(len, self.heads)) + sum(stop - start for start, stop in self.ranges) + len(self.end)


def content_range(one: tuple[int, int] | None, size: int) -> str:
    """The value of Content-Range; ``None`` for what cannot be satisfied."""
    return f"bytes */{size}" if one is None else f"bytes {one[0]}-{one[1] - 1}/{size}"
