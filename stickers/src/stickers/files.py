"""Pictures and static files, with entity tags; nothing outside the known names is reachable."""

import re
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import Final

from stickers import generator
from stickers.http import PageRequest, PageResponse
from stickers.problems import Problem
from stickers.stores import Store

KINDS: Final = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "webp": "image/webp",
    "gif": "image/gif",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
}
"""Kinds of pictures that can be loaded and are shown."""

PACK_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.ASCII)
_PICTURE: Final = re.compile(r"([1-9][0-9]{0,8})\.([a-z]{3,4})", re.ASCII)
_STATIC_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": KINDS["svg"],
}
# A picture opened by itself is a document of its own: it may not run or load anything.
_SANDBOX: Final = (
    "Content-Security-Policy",
    "default-src 'none'; style-src 'unsafe-inline'; sandbox",
)
_A_YEAR: Final = "public, max-age=31536000, immutable"
_AN_HOUR: Final = "public, max-age=3600"


class Static:
    """The files of the package's `static` folder, read once."""

    def __init__(self) -> None:
        folder = files("stickers") / "static"
        self._held = {entry.name: entry.read_bytes() for entry in folder.iterdir()}

    def get(self, name: str) -> bytes | None:
        """A file by its name: only names that were there at the start are known."""
        return self._held.get(name)


async def static(request: PageRequest, _store: Store) -> PageResponse:
    """`/static/{name}`."""
    (name,) = request.params
    content = request.site.static.get(name)
    if content is None:
        raise Problem(404)
    return _file(request, content, _STATIC_TYPES[name.rpartition(".")[2]], _AN_HOUR)


async def favicon(request: PageRequest, store: Store) -> PageResponse:
    """`/favicon.ico`: browsers ask for it where no page names an icon, as on `/ugly`."""
    request.params = ("icon.svg",)
    return await static(request, store)


async def image(request: PageRequest, _store: Store) -> PageResponse:
    """`/img/{pack}/{number}.{kind}`: a loaded picture, or else one from the generator."""
    pack, name = request.params
    named = _PICTURE.fullmatch(name)
    if not PACK_NAME.fullmatch(pack) or not named or named[2] not in KINDS:
        raise Problem(404)
    content = _loaded(request.site.settings.data / "images" / pack / name)
    if content is None and named[2] == "svg":
        content = generator.picture(pack, int(named[1]))
    if content is None:
        raise Problem(404)
    return _file(request, content, KINDS[named[2]], _A_YEAR)


def _loaded(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _file(request: PageRequest, content: bytes, kind: str, caching: str) -> PageResponse:
    tag = f'"{blake2b(content, digest_size=12).hexdigest()}"'
    headers = (
        ("ETag", tag),
        ("Cache-Control", caching),
        ("X-Content-Type-Options", "nosniff"),
        _SANDBOX,
    )
    known = request.header("if-none-match") or ""
    if known.strip() == "*" or tag in (one.strip().removeprefix("W/") for one in known.split(",")):
        return PageResponse(b"", 304, kind, headers)
    return PageResponse(content, 200, kind, headers)
