"""Opens and closes a store for each page: to see what connecting costs, as the article did."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from stickers.domain import Ballot, Listing, Pack, Pair, Statistics, Sticker, Visit
from stickers.stores.interface import Row, Store, Table

_Answer = TypeVar("_Answer")


class ConnectionPerRequest:
    """Whatever `make` makes, made anew for every call."""

    def __init__(self, make: Callable[[], Store]) -> None:
        self._make = make
        example = make()
        self.name = f"{example.name}, a connection per request"
        self.expires_itself = example.expires_itself

    async def open(self) -> None:
        """Nothing is kept open."""

    async def close(self) -> None:
        """Nothing is kept open."""

    async def index(self, visit: Visit) -> Pair:
        """See Store."""
        return await self._once(lambda store: store.index(visit))

    async def listing(self, visit: Visit, *, best: bool) -> Listing:
        """See Store."""
        return await self._once(lambda store: store.listing(visit, best=best))

    async def vote(self, ballot: Ballot) -> bool:
        """See Store."""
        return await self._once(lambda store: store.vote(ballot))

    async def ugliest(self) -> list[Sticker]:
        """See Store."""
        return await self._once(lambda store: store.ugliest())

    async def statistics(self) -> Statistics:
        """See Store."""
        return await self._once(lambda store: store.statistics())

    async def packs(self, offset: int, limit: int) -> list[Pack]:
        """See Store."""
        return await self._once(lambda store: store.packs(offset, limit))

    async def pack(self, name: str, offset: int, limit: int) -> list[Sticker]:
        """See Store."""
        return await self._once(lambda store: store.pack(name, offset, limit))

    async def sticker(self, pack: str, number: int) -> Sticker | None:
        """See Store."""
        return await self._once(lambda store: store.sticker(pack, number))

    async def expire(self, now: int) -> int:
        """See Store."""
        return await self._once(lambda store: store.expire(now))

    async def put(self, table: Table, rows: Sequence[Row]) -> None:
        """See Store."""
        await self._once(lambda store: store.put(table, rows))

    async def rows(self, table: Table, after: Row | None, limit: int) -> list[Row]:
        """See Store."""
        return await self._once(lambda store: store.rows(table, after, limit))

    async def clear(self) -> None:
        """See Store."""
        await self._once(lambda store: store.clear())

    async def _once(self, ask: Callable[[Store], Awaitable[_Answer]]) -> _Answer:
        store = self._make()
        try:
            await store.open()
            return await ask(store)
        finally:
            await store.close()
