"""A space: one method for each operation, each returning the native query, which is awaited.

Keys are a value, a tuple of values for an index of several parts, or a dict by field name. Rows to
write are a tuple, a list or a dict by field name.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any

from tarmac.tarantool.operations import flatten

if TYPE_CHECKING:
    from tarmac._native import Query, Row
    from tarmac.tarantool.connection import Connection

__all__ = ["ALL", "Space", "by_default", "key_of"]

ALL = 0xFFFFFFFF  # the largest limit that the protocol can say


class Space:
    """A cheap handle; make as many as you like."""

    __slots__ = ("_connection", "name")

    def __init__(self, connection: Connection, name: str | int) -> None:
        self._connection = connection
        self.name = name

    def get(self, key: Any, *, index: str | int = 0, timeout: float | None = None) -> Query[Row | None]:
        """The row with that key in a unique index, or None."""
        return self._connection.link().get(self.name, key, index, timeout)

    def select(
        self,
        key: Any = (),
        *,
        index: str | int = 0,
        iterator: str | int | None = None,
        offset: int = 0,
        limit: int = ALL,
        timeout: float | None = None,
    ) -> Query[list[Row]]:
        """Rows in the order of *index*.

        *iterator*: EQ (the default), REQ, ALL (the default without a key), LT, LE, GE, GT, BITSALL_SET,
        BITS_ANY_SET, BITSALL_NOT_SET, OVERLAPS, NEIGHBOR; in any case of letters.
        """
        chosen = by_default(iterator, key)
        return self._connection.link().select(self.name, key, index, chosen, offset, limit, timeout)

    async def scan(
        self,
        *,
        batch: int = 1000,
        index: str | int = 0,
        timeout: float | None = None,  # noqa: ASYNC109 - one for each query, not for the whole
    ) -> AsyncIterator[Row]:
        """Every row in the order of a unique index, *batch* at a time, without holding the server up.

        Rows that others write meanwhile may be seen or not; none is seen twice. *timeout* is for each batch.
        """
        link = self._connection.link()
        rows = await link.select(self.name, (), index, "ALL", 0, batch, timeout)
        while rows:
            for row in rows:
                yield row
            if len(rows) < batch:
                return
            key = key_of(rows[-1], self._connection.schema, self.name, index)
            rows = await self._connection.link().select(self.name, key, index, "GT", 0, batch, timeout)

    def insert(self, row: Any, *, timeout: float | None = None) -> Query[Row]:
        """Add a row; ``TupleFound`` when its key is taken. The result is the row as it is stored."""
        return self._connection.link().insert(self.name, row, timeout)

    def replace(self, row: Any, *, timeout: float | None = None) -> Query[Row]:
        """Add a row, or put it in the place of the one with its key."""
        return self._connection.link().replace(self.name, row, timeout)

    def update(
        self, key: Any, *operations: Any, index: str | int = 0, timeout: float | None = None
    ) -> Query[Row | None]:
        """Change fields: ``update(1, tnt.add("visits", 1))``. The new row, or None where there is none."""
        return self._connection.link().update(self.name, key, flatten(operations), index, timeout)

    def upsert(self, row: Any, *operations: Any, timeout: float | None = None) -> Query[None]:
        """Add *row*, or apply *operations* to the one that has its key."""
        return self._connection.link().upsert(self.name, row, flatten(operations), timeout)

    def delete(self, key: Any, *, index: str | int = 0, timeout: float | None = None) -> Query[Row | None]:
        """Remove a row; the row that was there, or None."""
        return self._connection.link().delete(self.name, key, index, timeout)

    def insert_many(
        self, rows: Iterable[Any], *, return_exceptions: bool = False, timeout: float | None = None
    ) -> asyncio.Future[list[Any]]:
        """Insert rows, all under way at once; the stored rows in the same order.

        This is no transaction: without *return_exceptions* the first failure is raised and the other
        rows are written all the same; with it each failure stands in its row's place.
        """
        link = self._connection.link()
        queries = [link.insert(self.name, row, timeout) for row in rows]
        return asyncio.gather(*queries, return_exceptions=return_exceptions)

    def __repr__(self) -> str:
        return f"<Space {self.name!r} of {self._connection.target}>"


def by_default(iterator: str | int | None, key: Any) -> str | int:
    """The iterator that was asked for, or what the key suggests."""
    if iterator is not None:
        return iterator
    empty = key is None or (isinstance(key, (tuple, list, dict)) and not key)
    return "ALL" if empty else "EQ"


def key_of(row: Row, schema: dict[str, dict[str, Any]], space: str | int, index: str | int) -> tuple[Any, ...]:
    """The key of *row* in an index."""
    described = next(one for name, one in schema.items() if space in {name, one["id"]})
    fields = next(one["fields"] for name, one in described["indexes"].items() if index in {name, one["id"]})
    return tuple(row[field] for field in fields)
