"""What the pages ask of a store. Every store passes tests/live/test_site_store_contract.py."""

from collections.abc import Sequence
from typing import Final, Literal, Protocol

from stickers.domain import (
    Ballot,
    Listing,
    Pack,
    Pair,
    Statistics,
    Sticker,
    Visit,
)

Table = Literal["packs", "stickers", "sessions", "secret", "server"]
Row = tuple[int | str, ...]

TABLES: Final[tuple[Table, ...]] = ("packs", "stickers", "sessions", "secret", "server")
"""All that a store holds, in the order in which it is copied."""


class Store(Protocol):
    """Everything raises StoreUnavailable when the data cannot be reached."""

    name: str
    expires_itself: bool
    """True if the store drops old sessions and tokens without being asked."""

    async def open(self) -> None:
        """Be ready to answer; a store that is down may stay closed and open later."""

    async def close(self) -> None:
        """Give everything back. May be called twice."""

    async def index(self, visit: Visit) -> Pair:
        """Count the visit, draw two different stickers, issue a token for each."""

    async def listing(self, visit: Visit, *, best: bool) -> Listing:
        """Count the visit and give the nine best or worst, from an index."""

    async def vote(self, ballot: Ballot) -> bool:
        """Count the vote, atomically and once; False changes nothing."""

    async def ugliest(self) -> list[Sticker]:
        """The nine worst of those that were voted on often enough."""

    async def statistics(self) -> Statistics:
        """The numbers of the About page."""

    async def packs(self, offset: int, limit: int) -> list[Pack]:
        """One page of the packs, by name."""

    async def pack(self, name: str, offset: int, limit: int) -> list[Sticker]:
        """One page of the stickers of a pack, by number."""

    async def sticker(self, pack: str, number: int) -> Sticker | None:
        """One sticker, or None."""

    async def expire(self, now: int) -> int:
        """Drop what has expired by `now` or is too much; how many rows went."""

    async def put(self, table: Table, rows: Sequence[Row]) -> None:
        """Insert or replace rows, as they are. For loading and migrating."""

    async def rows(self, table: Table, after: Row | None, limit: int) -> list[Row]:
        """The next rows behind `after` in the order of the first column."""

    async def clear(self) -> None:
        """Empty every table. For loading and migrating."""
