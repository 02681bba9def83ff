"""The query object as Python sees it: a future in all that asyncio asks, and nothing that leaks."""

from __future__ import annotations

import asyncio
import gc
import inspect
import sys
import weakref

import pytest
from support.loops import on_every_loop, until
from support.spaces import opened
from support.tarantool import Tarantool
from tarmac import tarantool as tnt

pytestmark = pytest.mark.live

# Names that are not interned: C code looks methods up by such strings.
FRESH = {name: "".join(list(name)) for name in ("get_loop", "add_done_callback", "result")}


@on_every_loop
async def test_every_kind_of_result_arrives_whole(tarantool: Tarantool):
    """A tuple must not be taken apart on its way through ``StopIteration``."""
    async with opened(tarantool) as db:
        for lua, expected in [("1, 2", (1, 2)), ("{}", []), ("nil", None), ("", None), ("'x'", "x")]:
            assert expected == await db.eval(f"return {lua}")


@on_every_loop
async def test_a_result_can_be_iterated_out_by_hand(tarantool: Tarantool):
    async with opened(tarantool) as db:
        query = db.eval("return 1, 2")
        assert query is next(query.__await__())
        assert query._asyncio_future_blocking
        query._asyncio_future_blocking = False
        await until(query.done)
        with pytest.raises(StopIteration) as caught:
            next(query.__await__())
        assert (1, 2) == caught.value.value
        assert ((1, 2),) == caught.value.args


@on_every_loop
async def test_it_can_be_awaited_more_than_once_and_by_many(tarantool: Tarantool):
    async with opened(tarantool) as db:
        query = db.eval("return 5")

        async def waits():
            return await query

        assert [5] * 5 == await asyncio.gather(*[waits() for _ in range(5)])
        assert 5 == await query


@on_every_loop
async def test_methods_that_tasks_use_look_like_any_method(tarantool: Tarantool):
    async with opened(tarantool) as db:
        query = db.ping()
        for name in ("get_loop", "add_done_callback"):
            method = getattr(query, name)
            assert name == method.__name__
            assert query is method.__self__
            assert method == getattr(query, name)
            assert method == getattr(query, FRESH[name])
            assert hash(method) == hash(getattr(query, name))
            assert name in repr(method)
            assert inspect.signature(method) == inspect.signature(getattr(query, FRESH[name]))
        assert query.get_loop() is asyncio.get_running_loop()
        with pytest.raises(TypeError):
            query.get_loop(1)
        with pytest.raises(TypeError):
            query.add_done_callback()
        with pytest.raises(TypeError):
            query.add_done_callback(print, nothing=1)
        with pytest.raises(TypeError):
            query._asyncio_future_blocking = 1
        await query
        assert getattr(query, FRESH["result"])() is None


@on_every_loop
async def test_a_callback_is_given_the_query(tarantool: Tarantool):
    """Only the tasks' own callback may be given something else, which it cannot tell."""
    async with opened(tarantool) as db:
        query, seen = db.eval("return 1"), []
        query.add_done_callback(seen.append)
        query.add_done_callback(callback=seen.append, context=None)
        await query
        await asyncio.sleep(0)
        assert [query, query] == seen


@on_every_loop
async def test_arguments_are_those_of_the_signature(tarantool: Tarantool):
    async with opened(tarantool) as db:
        space = db.space("nowhere")
        for wrong in (
            lambda: db.ping(1),
            db.call,
            lambda: db.call("f", nothing=1),
            space.get,
            lambda: space.get(1, 2),
            lambda: space.get(1, key=1),
            lambda: space.select(1, limit="many"),
            space.insert,
            lambda: space.get(1, timeout="soon"),
        ):
            with pytest.raises(TypeError):
                wrong()
        with pytest.raises(tnt.UsageError):
            space.update(1, "+")
        parameters = inspect.signature(type(space).select).parameters
        assert ["self", "key", "index", "iterator", "offset", "limit", "timeout"] == list(parameters)


@on_every_loop
async def test_a_failed_query_that_its_traceback_holds_is_collected(tarantool: Tarantool):
    async with opened(tarantool) as db:

        async def fails():
            query = db.eval("error('no')")
            with pytest.raises(tnt.DatabaseError):
                await query
            return weakref.ref(query)

        reference = await fails()
        await asyncio.sleep(0)  # this ran inside the query's own callback
        gc.collect()
        assert reference() is None


@on_every_loop
async def test_queries_leave_nothing_behind(tarantool: Tarantool):
    """Objects, and references to what every query refers to."""
    async with opened(tarantool) as db:
        loop, link = asyncio.get_running_loop(), db.link()

        async def works(times: int):
            for _ in range(times):
                await db.ping()
                await db.eval("return ...", 1, 2)
                db.ping().cancel()

        async def counted() -> tuple[int, ...]:
            await asyncio.gather(*[works(50) for _ in range(20)])
            await until(lambda: not db.in_flight)
            gc.collect()
            counts = sys.getrefcount(type(db.ping())), sys.getrefcount(loop), sys.getrefcount(link)
            return *counts, sum(type(one).__name__ == "Query" for one in gc.get_objects())

        await counted()
        first, second = await counted(), await counted()
        assert all(abs(one - other) < 100 for one, other in zip(first, second, strict=True)), (first, second)
