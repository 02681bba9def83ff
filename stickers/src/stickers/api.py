"""The JSON API: packs, stickers of a pack, one sticker. Links are relative to the site."""

import json
from typing import Final
from urllib.parse import quote

from stickers.domain import Sticker
from stickers.files import PACK_NAME
from stickers.http import DATA_HEADERS, JSON, PageRequest, PageResponse
from stickers.problems import Problem
from stickers.stores import Store

MOST_ROWS: Final = 100
_DEFAULT_ROWS: Final = 20
_MOST_DIGITS: Final = 9


async def packs(request: PageRequest, store: Store) -> PageResponse:
    """`/stickers?offset=&limit=`."""
    offset, limit = _paging(request)
    found = await store.packs(offset, limit + 1)
    listed = [
        {"name": pack.name, "title": pack.title, "size": pack.size,
         "url": f"/stickers/{quote(pack.name)}"}
        for pack in found[:limit]
    ]  # fmt: skip
    return _json({"packs": listed, "next": _next("/stickers", offset, limit, len(found))})


async def pack(request: PageRequest, store: Store) -> PageResponse:
    """`/stickers/{pack}?offset=&limit=`."""
    name = _pack_name(request.params[0])
    offset, limit = _paging(request)
    found = await store.pack(name, offset, limit + 1)
    # Nothing behind the end of a pack is an empty page; nothing at its start is no pack.
    if not found and not offset:
        raise Problem(404)
    listed = [_described(row) for row in found[:limit]]
    following = _next(f"/stickers/{quote(name)}", offset, limit, len(found))
    return _json({"pack": name, "stickers": listed, "next": following})


async def sticker(request: PageRequest, store: Store) -> PageResponse:
    """`/stickers/{pack}/{number}`."""
    name = _pack_name(request.params[0])
    number = _number(request.params[1], 404)
    found = await store.sticker(name, number)
    if found is None:
        raise Problem(404)
    return _json(_described(found))


def _described(row: Sticker) -> dict[str, object]:
    return {
        "pack": row.pack,
        "number": row.number,
        "title": row.title,
        "image": row.image,
        "rating": row.rating,
        "up": row.up,
        "down": row.down,
        "url": f"/stickers/{quote(row.pack)}/{row.number}",
    }


def _paging(request: PageRequest) -> tuple[int, int]:
    options = request.options()
    offset = _number(options.get("offset", "0"), 400)
    limit = _number(options.get("limit", str(_DEFAULT_ROWS)), 400)
    if not 1 <= limit <= MOST_ROWS:
        raise Problem(400)
    return offset, limit


def _next(path: str, offset: int, limit: int, found: int) -> str | None:
    return f"{path}?offset={offset + limit}&limit={limit}" if found > limit else None


def _number(text: str, otherwise: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
        raise Problem(otherwise)
    return int(text)


def _pack_name(text: str) -> str:
    if not PACK_NAME.fullmatch(text):
        raise Problem(404)
    return text


def _json(value: object) -> PageResponse:
    return PageResponse(json.dumps(value).encode(), 200, JSON, DATA_HEADERS)
