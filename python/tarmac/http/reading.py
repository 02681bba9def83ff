"""Reads forms that the native core does not read by itself: with files, with limits, or while they arrive."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from tarmac._native import FormReader, _form_pairs
from tarmac.errors import UnsupportedMediaType
from tarmac.http.forms import Form
from tarmac.http.uploads import UploadFile

if TYPE_CHECKING:
    from tarmac._native import Request

    Part = tuple[str, str | None, str | None, list[tuple[str, str]]]

__all__ = ["read_form"]

_URLENCODED = "application/x-www-form-urlencoded"
_MULTIPART = "multipart/form-data"
# A body that is here already is read in pieces of this size.
_PIECE = 256 * 1024


async def read_form(
    request: Request,
    *,
    max_fields: int = 1000,
    max_files: int = 1000,
    max_field_bytes: int = 1024 * 1024,
    max_file_bytes: int | None = None,
    spool_bytes: int = 1024 * 1024,
) -> Form:
    """The form of *request*; see ``Request.form``."""
    content_type = request.header("content-type") or _URLENCODED
    kind = content_type.partition(";")[0].strip().lower()
    if kind == _URLENCODED:
        return Form(_form_pairs(await request.body(), max_fields, max_field_bytes))
    if kind != _MULTIPART:
        message = f"the body is {kind}, not a form"
        raise UnsupportedMediaType(message)
    reader = FormReader(
        content_type,
        max_fields=max_fields,
        max_files=max_files,
        max_field_bytes=max_field_bytes,
        max_file_bytes=max_file_bytes,
    )
    parts = _Parts(spool_bytes)
    try:
        async for piece in _pieces(request):
            for event in reader.feed(piece):
                await parts.take(event)
        reader.finish()
        form = await parts.form()
        request._keep_form(form)  # noqa: SLF001 - the request's own helper
    except BaseException:
        parts.close()
        raise
    return form


async def _pieces(request: Request) -> AsyncIterator[bytes]:
    if request._in_pieces:  # noqa: SLF001 - as above
        async for piece in request.stream():
            yield piece
        return
    body = request.content
    for start in range(0, len(body), _PIECE):
        yield body[start : start + _PIECE]


class _Parts:
    """Collects what a reader of forms tells."""

    def __init__(self, spool_bytes: int) -> None:
        self._spool_bytes = spool_bytes
        self._pairs: list[tuple[str, str | UploadFile]] = []
        self._uploads: list[UploadFile] = []
        self._name = ""
        self._upload: UploadFile | None = None
        self._text = bytearray()

    async def take(self, event: Part | bytes | None) -> None:
        """One event of the reader."""
        if isinstance(event, bytes):
            if self._upload is None:
                self._text += event
            else:
                await self._upload.write(event)
        elif event is None:
            self._end()
        else:
            self._begin(*event)

    async def form(self) -> Form:
        """All of it, every file at its beginning."""
        for upload in self._uploads:
            await upload.seek(0)
        return Form(self._pairs)

    def close(self) -> None:
        """Let go of what has come."""
        for upload in self._uploads:
            upload.close()

    def _begin(self, name: str, filename: str | None, content_type: str | None, headers: list[tuple[str, str]]) -> None:
        self._name = name
        self._upload = None
        self._text.clear()
        if filename is not None:
            self._upload = UploadFile(
                filename, content_type=content_type, headers=headers, spool_bytes=self._spool_bytes
            )
            self._uploads.append(self._upload)

    def _end(self) -> None:
        text = self._text.decode("utf-8", "surrogateescape")
        self._pairs.append((self._name, text if self._upload is None else self._upload))
