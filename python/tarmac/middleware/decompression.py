"""``Decompression``: bodies that come compressed, as if they had come plain."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

from tarmac.errors import BadRequest, ContentTooLarge, UnsupportedMediaType
from tarmac.middleware.fields import elements

if TYPE_CHECKING:
    from tarmac._native import Request
    from tarmac.http.routing import CallNext

__all__ = ["Decompression"]

# zlib's numbers for what stands around deflate (RFC 9110 section 8.4.1).
_WINDOWS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
# So much is inflated before others get their turn.
_STEP = 256 * 1024


class Decompression:
    """Inflate request bodies with ``Content-Encoding: gzip`` or ``deflate`` before the handler sees them.

    Every way to read the body gives the plain one then. More than ``max_bytes`` of it are refused with 413 while
    they are inflated, another coding with 415, and what is no such coding with 400. On a route with
    ``stream=True`` the handler starts when all of the body is there.
    """

    def __init__(self, *, max_bytes: int = 16 * 1024 * 1024) -> None:
        self.max_bytes = max_bytes

    async def __call__(self, request: Request, call_next: CallNext) -> Any:
        """Inflate the body, if it is compressed."""
        codings = [
            name for name in elements(",".join(request.headers.get_all("content-encoding"))) if name != "identity"
        ]
        if codings:
            if len(codings) > 1 or codings[0] not in _WINDOWS:
                message = f"the body is in {', '.join(codings)}; gzip and deflate are read here, one at a time"
                raise UnsupportedMediaType(message, headers={"Accept-Encoding": "gzip, deflate"})
            await self._replace(request, codings[0])
        return await call_next(request)

    async def _replace(self, request: Request, coding: str) -> None:
        plain = bytearray()
        inflater = _Inflater(coding)
        async for piece in _pieces(request):
            for part in inflater.inflate(piece):
                plain += part
                if len(plain) > self.max_bytes:
                    raise ContentTooLarge(f"The body is larger than {self.max_bytes} bytes when it is inflated.")
                await asyncio.sleep(0)
        inflater.finish()
        request._keep_body(bytes(plain))  # noqa: SLF001 - the request's own helper


class _Inflater:
    """Inflates one body; a gzip body may have several members (RFC 1952 section 2.2)."""

    def __init__(self, coding: str) -> None:
        self._coding = coding
        self._window = _WINDOWS[coding]
        self._engine = zlib.decompressobj(self._window)

    def inflate(self, data: bytes) -> Iterator[bytes]:
        """What *data* is compressed from, in steps. Raises ``BadRequest``."""
        while data:
            if self._engine.eof:
                self._begin_again()
            try:
                yield self._engine.decompress(data, _STEP)
            except zlib.error:
                raise self._refusal() from None
            data = self._engine.unused_data if self._engine.eof else self._engine.unconsumed_tail

    def finish(self) -> None:
        """Say that no more comes. Raises ``BadRequest`` for a body that has been cut short."""
        if not self._engine.eof:
            raise self._refusal()

    def _begin_again(self) -> None:
        if self._window == _WINDOWS["deflate"]:
            raise self._refusal()
        self._engine = zlib.decompressobj(self._window)

    def _refusal(self) -> BadRequest:
        return BadRequest(f"The body is not in {self._coding}.")


async def _pieces(request: Request) -> AsyncIterator[bytes]:
    if request._in_pieces:  # noqa: SLF001 - as above
        async for piece in request.stream():
            yield piece
    elif request.content:
        yield request.content
