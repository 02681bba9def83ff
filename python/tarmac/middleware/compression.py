"""``Compression``: answers in gzip, brotli or zstd, whole ones and those that come in pieces."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tarmac.errors import ConfigurationError
from tarmac.http.accepting import accepted_codings
from tarmac.middleware.codings import CODINGS, Coding, Encoder, available
from tarmac.middleware.fields import add_vary

if TYPE_CHECKING:
    from tarmac._native import Request, Response, Writer
    from tarmac.http.producer import Producer
    from tarmac.http.routing import CallNext

__all__ = ["Compression"]

_TYPES = (
    r"text/.+|image/svg\+xml|font/(otf|ttf)|.+\+(json|xml)|"
    r"application/(json|javascript|xml|wasm|manifest\+json|x-ndjson|x-javascript|graphql|rtf|vnd\.ms-fontobject)"
)
# Statuses without content, with a part of it, or with that of a version the client has.
_NEVER = {204, 205, 206, 304}
# So many bytes take long enough to compress that the loop should do something else meanwhile.
_LARGE = 256 * 1024
_NO_TRANSFORM = re.compile(r"(^|[,\s])no-transform\b", re.IGNORECASE)


class Compression:
    """Compress answers for clients that accept it.

    ``minimum`` is the least number of bytes worth it; ``types`` is a regular expression for media types.
    ``encodings`` are tried in that order where a client likes several equally: by default all of ``zstd``,
    ``br`` and ``gzip`` that are installed (``pip install tarmac[compress]``). ``levels`` are theirs, by name.
    A streamed answer is flushed with every piece, so that events arrive when they happen. Do not compress
    pages that hold secrets beside what an attacker may choose.
    """

    def __init__(
        self,
        *,
        minimum: int = 500,
        types: str = _TYPES,
        encodings: Sequence[str] | None = None,
        levels: dict[str, int] | None = None,
    ) -> None:
        names = available() if encodings is None else list(encodings)
        for name in {*names, *(levels or {})}:
            if name not in CODINGS:
                message = f"no encoding is called {name!r}: use {', '.join(CODINGS)}"
                raise ConfigurationError(message)
        self._codings = {name: CODINGS[name]((levels or {}).get(name)) for name in names}
        self._minimum = minimum
        self._types = re.compile(types, re.IGNORECASE)

    async def __call__(self, request: Request, call_next: CallNext) -> Any:
        """Compress what comes, if it may be and the client accepts it."""
        response = await call_next(request)
        if not self._may_compress(response):
            return response
        add_vary(response, "Accept-Encoding")
        name = self._chosen(request)
        if name is None:
            return response
        producer = response.producer
        if producer is not None:
            response.body = _Compressed(producer, name, self)
        elif len(response.body) >= self._minimum:
            body = response.body
            coding = self._codings[name]
            packed = coding.whole(body) if len(body) < _LARGE else await asyncio.to_thread(coding.whole, body)
            self.replace(response, name, packed)
        return response

    def replace(self, response: Response, name: str, packed: bytes) -> None:
        """Put the compressed body in place, where that is a gain."""
        if len(packed) < len(response.body):
            response.body = packed
            _mark(response, name)

    def coding(self, name: str) -> Coding:
        """How one of the encodings is done."""
        return self._codings[name]

    def is_worth_it(self, response: Response) -> bool:
        """Whether the answer, as it is about to begin, is to be compressed."""
        length = getattr(response.producer, "length", None)
        return self._may_compress(response) and (length is None or length >= self._minimum)

    def _may_compress(self, response: Response) -> bool:
        headers = response.headers
        kind = (response.content_type or "").partition(";")[0].strip()
        return (
            response.status >= 200  # noqa: PLR2004 - an interim answer has no content
            and response.status not in _NEVER
            and "content-encoding" not in headers
            and "content-range" not in headers
            and self._types.fullmatch(kind) is not None
            and not _NO_TRANSFORM.search(", ".join(headers.get_all("cache-control")))
        )

    def _chosen(self, request: Request) -> str | None:
        """The encoding that the client likes best; ``None`` for none."""
        lines = request.headers.get_all("accept-encoding")
        return next(iter(accepted_codings(lines, tuple(self._codings))), None)


class _Compressed:
    """Writes what another producer writes, compressed; the answer may still turn out not to be for it."""

    length: int | None = None

    def __init__(self, inner: Producer, name: str, middleware: Compression) -> None:
        self._inner = inner
        self._name = name
        self._middleware = middleware
        self._active = False

    def for_request(self, request: Request, response: Response) -> None:
        """Let the body decide on conditions and ranges; what is left to be sent whole is compressed."""
        if (decide := getattr(self._inner, "for_request", None)) is not None:
            response.body = self._inner
            decide(request, response)
        if response.producer is None and response.body:
            if self._middleware.is_worth_it(response):
                packed = self._middleware.coding(self._name).whole(response.body)
                self._middleware.replace(response, self._name, packed)
        elif response.producer is self._inner or response.producer is self:
            self._begin(response)

    def _begin(self, response: Response) -> None:
        response.body = self._inner
        self._active = self._middleware.is_worth_it(response)
        if self._active:
            response.body = self
            _mark(response, self._name)

    async def send_to(self, writer: Writer) -> None:
        """Write every piece compressed and flushed."""
        if not self._active:
            await self._inner.send_to(writer)
            return
        packing: Any = _PackingWriter(writer, self._middleware.coding(self._name).pieces())
        await self._inner.send_to(packing)
        await packing.finish()


class _PackingWriter:
    """A ``Writer`` for the producer inside."""

    def __init__(self, writer: Writer, encoder: Encoder) -> None:
        self._writer = writer
        self._encoder = encoder
        self._turn = asyncio.Lock()  # several tasks may write, and pieces must stay whole

    async def write(self, data: str | bytes | bytearray | memoryview) -> None:
        piece = data.encode() if isinstance(data, str) else bytes(data)
        async with self._turn:
            pack = self._encoder.piece
            await self._send(pack(piece) if len(piece) < _LARGE else await asyncio.to_thread(pack, piece))

    async def send_file(self, fd: int, start: int, count: int) -> None:
        """A part of a file: read and compressed in a thread."""
        async with self._turn:
            while count > 0:
                piece = await asyncio.to_thread(os.pread, fd, min(count, _LARGE), start)
                if not piece:
                    message = "the file has become shorter than it was"
                    raise OSError(message)
                start, count = start + len(piece), count - len(piece)
                await self._send(await asyncio.to_thread(self._encoder.piece, piece))

    async def finish(self) -> None:
        """The last bytes of the encoding."""
        await self._send(self._encoder.end())

    async def _send(self, packed: bytes) -> None:
        if packed:
            await self._writer.write(packed)


def _mark(response: Response, name: str) -> None:
    """The headers of a compressed answer: another representation, so its tag is weak and it has no ranges."""
    headers = response.headers
    headers["Content-Encoding"] = name
    if (tag := headers.get("etag")) is not None and not tag.startswith("W/"):
        headers["ETag"] = f"W/{tag}"
    headers.pop("Accept-Ranges", None)
