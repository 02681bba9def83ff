"""Opens regular files, also by a path that a client sent, and tells what they were when they were opened."""

from __future__ import annotations

import errno
import os
import stat
import time
from typing import TYPE_CHECKING

from tarmac.errors import Forbidden, NotFound
from tarmac.http.conditional import Validators

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["Folder", "OpenedFile", "open_file", "open_inside", "segments_of"]

# A pipe must not stop us before it can be seen to be one.
_FILE = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_FOLDER = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY
_NOTHING_THERE = {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EINVAL, errno.ENXIO}
# Within this time a file may change without its time changing, as far as a cache can tell.
_UNSETTLED = 1.0


class OpenedFile:
    """A regular file, open. It closes itself when nobody holds it, so a thread that reads it is never cheated."""

    __slots__ = ("fd", "modified", "modified_ns", "size")

    def __init__(self, fd: int, status: os.stat_result) -> None:
        self.fd = fd
        self.size = status.st_size
        self.modified = status.st_mtime
        self.modified_ns = status.st_mtime_ns

    def validators(self, mark: str = "") -> Validators:
        """Tag and time of this version; the tag is weak while the file may still be changing.

        *mark* tells codings of one file apart.
        """
        tag = f'"{self.modified_ns:x}-{self.size:x}{mark}"'
        now = time.time()
        settled = self.modified + _UNSETTLED < now
        # A file of tomorrow is of now (RFC 9110 section 8.8.2.1).
        return Validators(tag if settled else f"W/{tag}", min(self.modified, now))

    def read(self, start: int, count: int) -> bytes:
        """Up to *count* bytes from *start*; may wait for the disk."""
        return os.pread(self.fd, count, start)

    def read_soon(self, start: int, count: int) -> bytes | None:
        """The same for few bytes, unless they are known to be on the disk: then ``None``."""
        try:
            return self._read_at_hand(start, count)
        except BlockingIOError:
            return None
        except OSError:  # overlays, tmpfs and networks cannot tell: few bytes are worth no thread
            return self.read(start, count)

    def is_at_hand(self, start: int, count: int) -> bool:
        """Whether the kernel has both ends of a part in memory, and so most likely all of it."""
        try:
            return bool(self._read_at_hand(start, 1) and self._read_at_hand(start + count - 1, 1))
        except OSError:
            return False

    def _read_at_hand(self, start: int, count: int) -> bytes:
        buffer = bytearray(count)
        del buffer[os.preadv(self.fd, [buffer], start, os.RWF_NOWAIT) :]
        return bytes(buffer)

    def __del__(self) -> None:
        os.close(self.fd)


class Folder:
    """An open directory; files in it are found by name, and never through a link."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    @classmethod
    def of(cls, path: str | PathLike[str]) -> Folder:
        """The directory *path*, which the program names and which may be a link."""
        return cls(_open(path, _FOLDER))

    def folder(self, name: str) -> Folder:
        """A directory in this one. Raises ``NotFound``."""
        return Folder(_open(name, _FOLDER | os.O_NOFOLLOW, self.fd))

    def file(self, name: str) -> OpenedFile | Folder:
        """A file or a directory in this one. Raises ``NotFound``, also for anything else, and ``Forbidden``."""
        return _judged(_open(name, _FILE | os.O_NOFOLLOW, self.fd))

    def __del__(self) -> None:
        os.close(self.fd)


def open_file(path: str | PathLike[str]) -> OpenedFile:
    """The file *path*, which the program names. Raises ``NotFound`` and ``Forbidden``."""
    return _regular(_judged(_open(path, _FILE)))


def open_inside(root: str | PathLike[str], path: str, *, follow_links: bool = False) -> OpenedFile:
    """The file *path* in the directory *root*, and nothing outside. Raises ``NotFound`` and ``Forbidden``."""
    folder, name = walk(root, segments_of(path), follow_links=follow_links)
    return _regular(folder.file(name))


def walk(root: str | PathLike[str], segments: list[str], *, follow_links: bool) -> tuple[Folder, str]:
    """The directory under *root* that holds what *segments* name, and its name there.

    Every step is taken from an open directory and refuses links: nothing that changes meanwhile can lead
    outside. Where links are followed, they are resolved before and must end inside.
    """
    if follow_links:
        real = os.path.realpath(root)
        path = os.path.realpath(os.path.join(real, *segments))  # noqa: PTH118 - the rest is os as well
        if os.path.commonpath((real, path)) != real:
            raise NotFound
        root, segments = real, [segment for segment in os.path.relpath(path, real).split("/") if segment != "."]
    folder = Folder.of(root)
    if not segments:
        return folder, "."
    for segment in segments[:-1]:
        folder = folder.folder(segment)
    return folder, segments[-1]


def segments_of(path: str) -> list[str]:
    """The names in a relative path. Raises ``NotFound`` for what could lead elsewhere or means nothing.

    Double slashes, ``.`` and ``..``, backslashes and control characters are refused; one slash may end it.
    """
    if "\\" in path or any(letter < " " or letter == "\x7f" for letter in path):
        raise NotFound
    segments = path.removesuffix("/").split("/") if path else []
    if any(segment in {"", ".", ".."} for segment in segments):
        raise NotFound
    return segments


def _open(path: str | PathLike[str], flags: int, folder: int | None = None) -> int:
    try:
        return os.open(path, flags, dir_fd=folder)
    except (ValueError, OSError) as error:
        if isinstance(error, PermissionError):
            raise Forbidden from error
        if isinstance(error, OSError) and error.errno not in _NOTHING_THERE:
            raise
        raise NotFound from error


def _judged(fd: int) -> OpenedFile | Folder:
    status = os.fstat(fd)
    if stat.S_ISREG(status.st_mode):
        return OpenedFile(fd, status)
    if stat.S_ISDIR(status.st_mode):
        return Folder(fd)
    os.close(fd)
    raise NotFound


def _regular(found: OpenedFile | Folder) -> OpenedFile:
    if isinstance(found, Folder):
        raise NotFound
    return found
