"""Copies everything from one store to another and compares counts and checksums."""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from stickers.stores import TABLES, Row, Store, Table

BATCH: Final = 1000


@dataclass(frozen=True, slots=True)
class Copied:
    """One table, seen in both stores after the copy."""

    table: Table
    count: int
    checksum: str
    count_there: int
    checksum_there: str

    @property
    def same(self) -> bool:
        """True if nothing was lost and nothing changed."""
        return (self.count, self.checksum) == (self.count_there, self.checksum_there)


async def migrate(
    source: Store, target: Store, progress: Callable[[str, int], None] = lambda _table, _done: None
) -> list[Copied]:
    """Empty `target`, copy every table into it, and tell what both hold."""
    await target.clear()
    result = []
    for table in TABLES:
        done = 0
        async for batch in batches(source, table):
            await target.put(table, batch)
            done += len(batch)
            progress(table, done)
        here, there = await summary(source, table), await summary(target, table)
        result.append(Copied(table, *here, *there))
    return result


async def summary(store: Store, table: Table) -> tuple[int, str]:
    """How many rows, and the SHA-256 of all of them in the order of their keys."""
    count, digest = 0, sha256()
    async for batch in batches(store, table):
        count += len(batch)
        for row in batch:
            digest.update(json.dumps(row, ensure_ascii=False).encode() + b"\n")
    return count, digest.hexdigest()


async def batches(store: Store, table: Table) -> AsyncIterator[list[Row]]:
    """All rows of a table, some at a time."""
    after: Row | None = None
    while batch := await store.rows(table, after, BATCH):
        yield batch
        after = batch[-1]
