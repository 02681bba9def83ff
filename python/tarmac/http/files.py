"""Files as answers: ``return tarmac.file("report.pdf")``, with conditions, ranges and HEAD."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tarmac._native import Response
from tarmac.http.conditional import Validators
from tarmac.http.opening import OpenedFile, open_file, open_inside
from tarmac.http.ranges import MultiRange, content_range, parse_range

if TYPE_CHECKING:
    from os import PathLike

    from tarmac._native import Request, Writer
    from tarmac.http.responses import HeaderItems

__all__ = ["FileProducer", "content_type_of", "file"]

# Files up to this size leave with their head, if the kernel has them in memory.
_SMALL = 64 * 1024
# Bytes of what is larger that are sent at a time.
_PIECE = 1024 * 1024
# What a name that says how a file is compressed says about the file as it is.
_COMPRESSED = {
    "gzip": "application/gzip",
    "bzip2": "application/x-bzip2",
    "xz": "application/x-xz",
    "compress": "application/x-compress",
}


def file(
    path: str | PathLike[str],
    *,
    filename: str | None = None,
    content_type: str | None = None,
    headers: HeaderItems | None = None,
    root: str | PathLike[str] | None = None,
    disposition: str | None = None,
    follow_links: bool = False,
    max_ranges: int = 16,
) -> Response:
    """The file *path* as an answer; it is opened now and sent when the handler returns it.

    With *root*, *path* may come from the client: it is looked for inside that directory and nowhere else, and
    through links only with ``follow_links=True``. *filename* is what the client is to save it as;
    *disposition* is then ``attachment``, or ``inline`` if you say so. The type is guessed by the name.

    ``ETag``, ``Last-Modified``, the ``If-`` headers and ``Range`` (up to *max_ranges* of them) are seen to.
    Raises ``NotFound`` for what is not a regular file and ``Forbidden`` for what may not be read.
    """
    opened = open_file(path) if root is None else open_inside(root, str(path), follow_links=follow_links)
    kind = content_type or content_type_of(str(path))
    producer = FileProducer(opened, opened.validators(), max_ranges=max_ranges)
    response = Response(producer, content_type=kind, headers=headers)
    if filename is not None or disposition is not None:
        response.headers["Content-Disposition"] = content_disposition(disposition or "attachment", filename)
    return response


class FileProducer:
    """Writes a file; before that it makes the answer what the request's conditions and ranges ask for."""

    def __init__(self, opened: OpenedFile, validators: Validators, *, max_ranges: int = 16) -> None:
        self.opened = opened
        self.validators = validators
        self.max_ranges = max_ranges
        self.length = opened.size
        self._parts: list[bytes | tuple[int, int]] = [(0, opened.size)]

    def for_request(self, request: Request, response: Response) -> None:
        """Called when the answer is about to begin: *response*, whose body this is, becomes what is sent."""
        if not 200 <= response.status < 300:  # noqa: PLR2004 - an error page from a file has no versions
            return
        self.validators.mark(response)
        if (status := self.validators.judge(request)) is not None:
            _empty(response, status)
            return
        response.headers["Accept-Ranges"] = "bytes"
        ranges = self._ranges(request, response)
        if ranges is not None:
            self._choose(response, ranges)
        self._take_at_hand(request, response)

    async def send_to(self, writer: Writer) -> None:
        """Write what was asked for; a file that has become shorter breaks the connection off."""
        for part in self._parts:
            if isinstance(part, bytes):
                await writer.write(part)
            else:
                await self._copy(writer, *part)

    async def _copy(self, writer: Writer, start: int, stop: int) -> None:
        """Hand the kernel what it has in memory; what it has not is read in a thread before."""
        for place in range(start, stop, _PIECE):
            count = min(_PIECE, stop - place)
            if not self.opened.is_at_hand(place, count):
                await asyncio.to_thread(self.opened.read, place, count)
            await writer.send_file(self.opened.fd, place, count)

    def _ranges(self, request: Request, response: Response) -> list[tuple[int, int]] | None:
        """RFC 9110 section 14.2: only GET has ranges, and only an answer that would be 200."""
        value = request.header("range")
        if value is None or request.method != "GET" or response.status != 200:  # noqa: PLR2004
            return None
        if not self.validators.allows_range(request):
            return None
        return parse_range(value, self.opened.size, most=self.max_ranges)

    def _choose(self, response: Response, ranges: list[tuple[int, int]]) -> None:
        size = self.opened.size
        if not ranges:
            _empty(response, 416)
            response.headers["Content-Range"] = content_range(None, size)
            return
        response.status = 206
        self._parts = list(ranges)
        self.length = ranges[0][1] - ranges[0][0]
        if len(ranges) == 1:
            response.headers["Content-Range"] = content_range(ranges[0], size)
            return
        several = MultiRange.of(ranges, size, response.content_type or "application/octet-stream")
        response.content_type = several.content_type
        self.length = several.length
        self._parts = [part for pair in zip(several.heads, ranges, strict=True) for part in pair]
        self._parts.append(several.end)

    def _take_at_hand(self, request: Request, response: Response) -> None:
        """One write for the head and a small file."""
        if len(self._parts) > 1 or self.length > _SMALL or response.producer is None or request.method == "HEAD":
            return
        ((start, stop),) = self._parts
        data = self.opened.read_soon(start, stop - start)
        if data is not None and len(data) == self.length:
            kind = response.content_type
            response.body = data
            response.content_type = kind


def content_type_of(path: str) -> str:
    """The media type that the name of a file speaks for."""
    from mimetypes import guess_type  # noqa: PLC0415 - reads the machine's tables when it is first used

    kind, coding = guess_type(path)
    if coding is not None:
        return _COMPRESSED.get(coding, "application/octet-stream")
    return kind or "application/octet-stream"


def content_disposition(kind: str, filename: str | None) -> str:
    """``attachment; filename="..."``, with the extended name where ASCII cannot say it (RFC 6266)."""
    if kind not in {"attachment", "inline"}:
        message = f"a disposition is 'attachment' or 'inline', not {kind!r}"
        raise ValueError(message)
    if filename is None:
        return kind
    from urllib.parse import quote  # noqa: PLC0415 - slow to import

    plain = "".join(letter if " " <= letter <= "~" and letter not in '"\\%' else "_" for letter in filename)
    value = f'{kind}; filename="{plain}"'
    return value if plain == filename else f"{value}; filename*=UTF-8''{quote(filename, safe='', errors='replace')}"


def _empty(response: Response, status: int) -> None:
    """304, 412 and 416 have no content; a 304 keeps the fields that a cache lives by."""
    response.status = status
    response.body = None
    response.content_type = None
