"""A connection to the test's Tarantool and a fresh space in it."""

from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING, Any

from tarmac import tarantool as tnt

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from support.tarantool import Tarantool

_names = (f"space_{number}" for number in itertools.count())

CREATE = """
    local space = box.schema.space.create(...)
    space:format({{'id', 'unsigned'}, {'name', 'string'}, {'age', 'unsigned'}, {'extra', 'any', is_nullable = true}})
    space:create_index('primary', {parts = {'id'}})
    space:create_index('age', {parts = {'age'}, unique = false})
    space:create_index('name', {parts = {'name', 'age'}})
"""


@contextlib.asynccontextmanager
async def opened(tarantool: Tarantool, **options: Any) -> AsyncIterator[tnt.Connection]:
    """Connect, with a timeout that no test should need."""
    async with tnt.connect(tarantool.url, **{"timeout": 10, **options}) as db:
        yield db


@contextlib.asynccontextmanager
async def people(
    tarantool: Tarantool, *rows: tuple[Any, ...], **options: Any
) -> AsyncIterator[tuple[tnt.Connection, tnt.Space]]:
    """Connect and make a space of (id, name, age, extra) with *rows*, dropped at the end."""
    async with opened(tarantool, **options) as db:
        name = next(_names)
        await db.eval(CREATE, name)
        space = db.space(name)
        try:
            for row in rows:
                await space.insert(row)
            yield db, space
        finally:
            await db.eval("box.space[...]:drop()", name)


ANN, BOB, EVE = (1, "Ann", 30), (2, "Bob", 25), (3, "Eve", 30)
