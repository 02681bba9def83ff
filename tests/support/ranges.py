"""Takes answers of several ranges apart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from support.http import Answer


def parts_of(answer: Answer) -> list[tuple[str, str, bytes]]:
    """Content-Type, Content-Range and body of each part of a multipart/byteranges answer."""
    kind = answer.header("Content-Type") or ""
    match = re.fullmatch(r"multipart/byteranges; boundary=(\w+)", kind)
    assert match, kind
    first, *parts, last = answer.body.split(b"\r\n--" + match[1].encode())
    assert (b"", b"--\r\n") == (first, last)
    found = []
    for part in parts:
        head, _, body = part.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().strip().split("\r\n"))
        found.append((fields["Content-Type"], fields["Content-Range"], body))
    return found
