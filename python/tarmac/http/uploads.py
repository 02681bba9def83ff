"""Files that a form brings: small ones in memory, larger ones in a temporary file without a name."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Sequence
from typing import IO, TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["UploadFile"]

_T = TypeVar("_T")

# How much is copied at a time where a file is saved.
_COPIED = 1024 * 1024


class UploadFile:
    """One file of a form. It is closed when its request ends: read or save it before.

    ``filename`` is what the client says and may be anything, also a path or ``""`` (no file was chosen;
    such an upload is false). ``content_type`` is what the client says too. ``size`` is in bytes.
    ``headers`` are the fields of its part. ``file`` is the open binary file, for code that blocks.
    """

    def __init__(
        self,
        filename: str,
        *,
        content_type: str | None = None,
        headers: Sequence[tuple[str, str]] = (),
        spool_bytes: int = 1024 * 1024,
    ) -> None:
        self.filename = filename
        self.content_type = content_type
        self.headers = list(headers)
        self.size = 0
        self.file: IO[bytes] = io.BytesIO()
        self._spool_bytes = spool_bytes
        self._on_disk = False

    async def read(self, size: int = -1) -> bytes:
        """Up to *size* bytes from where the file stands; the rest of it by default."""
        return await self._run(lambda: self.file.read(size))

    async def seek(self, offset: int) -> None:
        """Go to *offset* bytes from the beginning."""
        await self._run(lambda: self.file.seek(offset))

    async def save(self, path: str | PathLike[str]) -> None:
        """Write the whole file to *path*, in place of what is there. Raises ``OSError``.

        Do not make *path* of ``filename``: that is the client's word.
        """
        await asyncio.to_thread(self._copy, path)

    def close(self) -> None:
        """Let go of the file; what was in it is gone."""
        self.file.close()

    async def write(self, data: bytes) -> None:
        """Append *data*: what reads the form calls this."""
        self.size += len(data)
        if not self._on_disk and self.size > self._spool_bytes:
            await asyncio.to_thread(self._roll_over)
        await self._run(lambda: self.file.write(data))

    async def _run(self, call: Callable[[], _T]) -> _T:
        """Memory at once, a disk in a thread."""
        return await asyncio.to_thread(call) if self._on_disk else call()

    def _roll_over(self) -> None:
        import tempfile  # noqa: PLC0415 - slow to import, and most programs have no uploads

        file = tempfile.TemporaryFile()  # noqa: SIM115 - it is open until the request ends
        try:
            self.file.seek(0)
            file.write(self.file.read())
        except BaseException:
            file.close()
            raise
        self.file.close()
        self.file = file
        self._on_disk = True

    def _copy(self, path: str | PathLike[str]) -> None:
        place = self.file.tell()
        self.file.seek(0)
        try:
            with open(path, "wb") as target:  # noqa: PTH123 - any path-like
                while piece := self.file.read(_COPIED):
                    target.write(piece)
        finally:
            self.file.seek(place)

    def __bool__(self) -> bool:
        return bool(self.filename)

    def __repr__(self) -> str:
        return f"<UploadFile {self.filename!r}, {self.size} bytes>"
