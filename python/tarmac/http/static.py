"""Directories as routes: ``app.static("/static", "assets")``. What is listed is never a directory."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, TypedDict, Unpack

from tarmac._native import Response
from tarmac.errors import ConfigurationError, NotFound
from tarmac.http.accepting import accepted_codings
from tarmac.http.files import FileProducer, content_type_of
from tarmac.http.opening import Folder, OpenedFile, segments_of, walk
from tarmac.http.responses import redirect

if TYPE_CHECKING:
    from os import PathLike

    from tarmac._native import Request

__all__ = ["StaticFiles", "StaticOptions"]

_IMMUTABLE = "public, max-age=31536000, immutable"
# In the order in which they are preferred.
_VARIANTS = {"br": ".br", "zstd": ".zst", "gzip": ".gz"}
# An encoded separator is none to a proxy in front and one to us: nobody needs it.
_ENCODED_SEPARATOR = re.compile(rb"%(2f|5c|00)", re.IGNORECASE)


class StaticOptions(TypedDict, total=False):
    """What ``Router.static`` takes beside the prefix and the directory."""

    index: str | None
    cache_control: str | None
    precompressed: bool
    follow_links: bool
    dotfiles: bool


_DEFAULTS: StaticOptions = {
    "index": None,
    "cache_control": None,
    "precompressed": True,
    "follow_links": False,
    "dotfiles": False,
}


class StaticFiles:
    """A handler that answers with the files of a directory; see ``Router.static`` for the options."""

    def __init__(self, directory: str | PathLike[str], **options: Unpack[StaticOptions]) -> None:
        if not os.path.isdir(directory):  # noqa: PTH112 - any path-like
            message = f"there is no directory {os.fspath(directory)!r} to serve"
            raise ConfigurationError(message)
        self.directory = directory
        chosen: StaticOptions = {**_DEFAULTS, **options}
        if unknown := chosen.keys() - _DEFAULTS.keys():
            message = f"a directory has no option {', '.join(sorted(unknown))}: use {', '.join(_DEFAULTS)}"
            raise TypeError(message)
        self.index = chosen["index"]
        self.cache_control = _IMMUTABLE if chosen["cache_control"] == "immutable" else chosen["cache_control"]
        self.precompressed = chosen["precompressed"]
        self.follow_links = chosen["follow_links"]
        self.dotfiles = chosen["dotfiles"]

    def __call__(self, request: Request, path: str = "") -> Response:
        """Answer with the file *path*. Raises ``NotFound`` and ``Forbidden``."""
        segments = segments_of(path)
        if _ENCODED_SEPARATOR.search(request.raw_path) or not self._is_visible(segments):
            raise NotFound
        folder, name = walk(self.directory, segments, follow_links=self.follow_links)
        found = folder.file(name)
        if isinstance(found, Folder):
            return self._answer_folder(request, found)
        if path.endswith("/"):
            raise NotFound
        return self._answer(request, folder, found, name)

    def _is_visible(self, segments: list[str]) -> bool:
        return self.dotfiles or not any(segment.startswith(".") for segment in segments)

    def _answer_folder(self, request: Request, folder: Folder) -> Response:
        if self.index is None:
            raise NotFound
        found = folder.file(self.index)
        if isinstance(found, Folder):
            raise NotFound
        if not request.raw_path.endswith(b"/"):
            return _with_slash(request)
        return self._answer(request, folder, found, self.index)

    def _answer(self, request: Request, folder: Folder, found: OpenedFile, name: str) -> Response:
        coding = None
        if self.precompressed:
            coding, found = self._variant(request, folder, found, name)
        producer = FileProducer(found, found.validators(f"-{coding}" if coding else ""))
        response = Response(producer, content_type=content_type_of(name))
        if coding is not None:
            response.headers["Content-Encoding"] = coding
        if self.precompressed:
            response.headers["Vary"] = "Accept-Encoding"
        if self.cache_control is not None:
            response.headers["Cache-Control"] = self.cache_control
        return response

    def _variant(self, request: Request, folder: Folder, found: OpenedFile, name: str) -> tuple[str | None, OpenedFile]:
        """The coding that the client likes best of those that stand beside the file and are not older."""
        for coding in accepted_codings(request.headers.get_all("accept-encoding"), tuple(_VARIANTS)):
            try:
                variant = folder.file(name + _VARIANTS[coding])
            except NotFound:
                continue
            if isinstance(variant, OpenedFile) and variant.modified_ns >= found.modified_ns:
                return coding, variant
        return None, found


def _with_slash(request: Request) -> Response:
    """The relative links of an index mean what they say only below a slash."""
    query = b"?" + request.query_string if request.query_string else b""
    return redirect((request.raw_path + b"/" + query).decode("latin-1"), status=308)
