"""Bodies in pieces: what a handler returns to be written so, and what it reads when it wants the whole."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from tarmac._native import Response
from tarmac.errors import Disconnected
from tarmac.http.tasks import later

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Callable, Iterable

    from tarmac._native import Request, Writer
    from tarmac.http.producer import Producer
    from tarmac.http.responses import Background, HeaderItems

    Pieces = AsyncIterable[str | bytes] | Iterable[str | bytes]

__all__ = ["IteratorProducer", "collect", "pump", "stream"]

_log = logging.getLogger("tarmac.http")


def stream(
    pieces: Pieces,
    *,
    content_type: str | None = None,
    status: int = 200,
    headers: HeaderItems | None = None,
    length: int | None = None,
    background: Background | None = None,
) -> Response:
    """An answer whose body is written piece by piece as *pieces*, sync or async, gives them.

    The next piece is asked for when there is room for it. *length* in bytes, where it is known, becomes
    ``Content-Length``. An error in *pieces* breaks the connection off: the client must not take half an
    answer for a whole one. *background* is called once, without arguments, when the last piece is handed over
    or the client has left, and the handler has ended.
    """
    return Response(
        IteratorProducer(pieces, length),
        status=status,
        content_type=content_type,
        headers=headers,
        background=background,
    )


class IteratorProducer:
    """Writes what an iterable gives."""

    def __init__(self, pieces: Pieces, length: int | None = None) -> None:
        if isinstance(pieces, (str, bytes, bytearray, memoryview)) or not (
            hasattr(pieces, "__aiter__") or hasattr(pieces, "__iter__")
        ):
            message = f"a stream is an iterable of str or bytes, not {type(pieces).__name__}"
            raise TypeError(message)
        self.pieces = pieces
        self.length = length

    async def send_to(self, writer: Writer) -> None:
        """Write every piece; close the iterable, however this ends."""
        pieces: Any = self.pieces
        if hasattr(pieces, "__aiter__"):
            try:
                async for piece in pieces:
                    await writer.write(piece)
            finally:
                if hasattr(pieces, "aclose"):
                    await pieces.aclose()
            return
        try:
            for piece in pieces:
                await writer.write(piece)
        finally:
            if hasattr(pieces, "close"):
                pieces.close()


async def pump(
    request: Request, producer: Producer, writer: Writer, background: Callable[[], object] | None = None
) -> None:
    """Have *producer* write the body of the answer of *request*; what goes wrong breaks the connection off."""
    if background is not None:
        later(background)
    try:
        if request.method != "HEAD":
            await producer.send_to(writer)
        writer.end()
    except Disconnected:
        writer.abort()
    except Exception as error:  # noqa: BLE001 - it is logged; the client learns it from the broken connection
        request.app.failures.tell(error)
        _log.exception("%s %s failed in the middle of its answer", request.method, request.path)
        writer.abort()
    except BaseException:
        writer.abort()
        raise


async def collect(request: Request, method: str) -> Any:
    """The whole body that comes in pieces, as ``request.<method>()`` gives it."""
    request._keep_body(b"".join([piece async for piece in request.stream()]))  # noqa: SLF001 - the request's own helper
    return await getattr(request, method)()
