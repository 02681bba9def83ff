"""What every Tarantool store does; how the queries travel is the business of a driver's file.

`requests="one"` calls one stored procedure for each page (tarantool/pages.lua).
`requests="many"` sends the queries of the article one after the other: for a new visitor ten for
Index and four for Good, for a known one eight and two.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Final, Literal

from stickers import domain
from stickers.domain import Ballot, Listing, Pack, Pair, Shown, Statistics, Sticker, Visit
from stickers.stores.interface import Row, Table

Requests = Literal["one", "many"]

REQUEST_SECONDS: Final = 2.0
"""How long a page waits for an answer; a restart of the server shorter than that is not noticed."""

CONNECT_SECONDS: Final = 1.0
"""How long the site's start waits for the server before it starts without."""


class TarantoolStore(ABC):
    """A driver implements the underscored methods and turns its errors into StoreUnavailable."""

    name = "tarantool"
    expires_itself = True
    """tarantool/expiry.lua does, in the server."""

    def __init__(self, url: str, requests: Requests = "one") -> None:
        self.url = url
        self._many = requests == "many"

    @abstractmethod
    async def open(self) -> None:
        """See Store."""

    @abstractmethod
    async def close(self) -> None:
        """See Store."""

    @abstractmethod
    async def _call(self, function: str, *arguments: object) -> Any:
        """What the stored procedure returns."""

    @abstractmethod
    async def _select(self, space: str, index: str, iterator: str, limit: int) -> Any:
        """Rows in the order of an index, from its beginning."""

    @abstractmethod
    async def _insert(self, space: str, row: Row) -> None:
        """A new row."""

    @abstractmethod
    async def _update(self, space: str, key: str, changes: list[list[Any]]) -> None:
        """Change the fields of one row; fields are counted from 0."""

    @abstractmethod
    async def _upsert(self, space: str, row: Row, changes: list[list[Any]]) -> None:
        """Insert the row, or change the one that is there."""

    async def index(self, visit: Visit) -> Pair:
        """See Store."""
        if self._many:
            return await self._index_by_many(visit)
        session = visit.session or domain.new_token()
        left, right = domain.new_token(), domain.new_token()
        drawn = await self._call(
            "stickers.index", session, visit.session is None, visit.now, visit.address, visit.agent,
            left, right, visit.now + domain.TOKEN_LIFETIME,
        )  # fmt: skip
        if not drawn:
            return Pair(session, None, None)
        return Pair(session, Shown(Sticker(*drawn[0]), left), Shown(Sticker(*drawn[1]), right))

    async def listing(self, visit: Visit, *, best: bool) -> Listing:
        """See Store."""
        if self._many:
            session = await self._count_visit(visit)
            order = "LE" if best else "GE"
            rows = await self._select("stickers", "rating", order, domain.SHOWN)
        else:
            session = visit.session or domain.new_token()
            rows = await self._call(
                "stickers.good" if best else "stickers.bad",
                session, visit.session is None, visit.now, visit.address, visit.agent,
            )  # fmt: skip
        return Listing(session, list(map(Sticker._make, rows)))

    async def vote(self, ballot: Ballot) -> bool:
        """See Store. Always one call: only the server can do it atomically."""
        return bool(await self._call("stickers.vote", *ballot))

    async def ugliest(self) -> list[Sticker]:
        """See Store."""
        return list(map(Sticker._make, await self._call("stickers.ugliest")))

    async def statistics(self) -> Statistics:
        """See Store."""
        return Statistics(*await self._call("stickers.statistics"))

    async def packs(self, offset: int, limit: int) -> list[Pack]:
        """See Store."""
        return [Pack(*row) for row in await self._call("stickers.packs", offset, limit)]

    async def pack(self, name: str, offset: int, limit: int) -> list[Sticker]:
        """See Store."""
        return [Sticker(*row) for row in await self._call("stickers.pack", name, offset, limit)]

    async def sticker(self, pack: str, number: int) -> Sticker | None:
        """See Store."""
        found = await self._call("stickers.sticker", pack, number)
        return Sticker(*found[0]) if found else None

    async def expire(self, now: int) -> int:
        """See Store. Only the user `stickers_admin` may ask for it; the server does it by itself."""
        return int(await self._call("stickers.expire", now))

    async def put(self, table: Table, rows: Sequence[Row]) -> None:
        """See Store. For `stickers_admin` only, as all that follows."""
        await self._call("stickers.put", table, [tuple(row) for row in rows])

    async def rows(self, table: Table, after: Row | None, limit: int) -> list[Row]:
        """See Store."""
        key = None if after is None else after[0]
        return [tuple(row) for row in await self._call("stickers.rows", table, key, limit)]

    async def clear(self) -> None:
        """See Store."""
        await self._call("stickers.clear")

    async def _index_by_many(self, visit: Visit) -> Pair:
        one = await self._call("stickers.random_sticker")
        left = await self._call("stickers.new_token")
        other = await self._call("stickers.random_sticker", one[0][0] if one else None)
        right = await self._call("stickers.new_token")
        session = await self._count_visit(visit)
        await self._update("server", "clicks", [["+", 1, 1]])
        if not one or not other:
            return Pair(session, None, None)
        first, second = Sticker(*one[0]), Sticker(*other[0])
        expires = visit.now + domain.TOKEN_LIFETIME
        await self._insert("secret", (left, right, session, first.id, expires))
        await self._insert("secret", (right, left, session, second.id, expires))
        return Pair(session, Shown(first, left), Shown(second, right))

    async def _count_visit(self, visit: Visit) -> str:
        session = visit.session
        if session is None:
            session = str(await self._call("stickers.new_token"))
            await self._update("server", "users", [["+", 1, 1]])
        await self._upsert(
            "sessions",
            (session, visit.now, visit.now, 1, visit.address, visit.agent),
            [["=", 2, visit.now], ["+", 3, 1], ["=", 4, visit.address], ["=", 5, visit.agent]],
        )
        return session
