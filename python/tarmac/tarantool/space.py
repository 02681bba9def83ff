"""A space: one method for each operation, each returning the native query, which is awaited.

Keys are a value, a tuple of values for an index of several parts, or a dict by field name. Rows to
write are a tuple, a list or a dict by field name.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any

from tarmac._native import SpaceBase

if TYPE_CHECKING:
    from tarmac._native import Row

__all__ = ["ALL", "Space", "by_default", "key_of"]

ALL = 0xFFFFFFFF  # the largest limit that the protocol can say


class Space(SpaceBase):
    """A cheap handle; make as many as you like.

    ``get``, ``select``, ``insert``, ``replace``, ``update``, ``upsert`` and ``delete`` are native.
    """

    __slots__ = ()

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
