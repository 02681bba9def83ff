"""What a query costs: few writes for many, one connection for all."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import pytest
from support.loops import on_every_loop
from support.spaces import opened
from tarmac import tarantool as tnt
from tarmac.waiting import reactor_for

pytestmark = pytest.mark.live


def writes() -> int:
    return reactor_for(asyncio.get_running_loop()).stats()["writes"]


@on_every_loop
async def test_two_thousand_pings_of_a_hundred_tasks_are_a_few_writes(tarantool):
    async with opened(tarantool) as db:

        async def pings():
            for _ in range(20):
                await db.ping()

        before = writes()
        async with asyncio.TaskGroup() as group:
            for _ in range(100):
                group.create_task(pings())
        assert writes() - before <= 60


@on_every_loop
async def test_gather_is_one_write(tarantool):
    async with opened(tarantool) as db:
        before = writes()
        assert list(range(200)) == await asyncio.gather(*(db.eval("return ...", number) for number in range(200)))
        assert writes() - before <= 2


@on_every_loop
async def test_a_hundred_tasks_that_come_first_make_one_connection(tarantool):
    db = tnt.connect(tarantool.url, timeout=5)
    count = "return box.stat.net().CONNECTIONS.current"
    async with opened(tarantool) as other:
        before = await other.eval(count)
        answers = await asyncio.gather(*(db.eval("return ...", number) for number in range(100)))
        assert list(range(100)) == answers
        assert 1 == await other.eval(count) - before
    await db.close()


@on_every_loop
async def test_answers_that_come_in_another_order_find_their_query(tarantool):
    async with opened(tarantool) as db:
        code = "local wait, value = ... require('fiber').sleep(wait) return value"
        queries = [db.eval(code, (number * 7 % 20) / 1000, number) for number in range(200)]
        assert list(range(200)) == await asyncio.gather(*queries)


@on_every_loop
async def test_no_more_than_the_cap_are_in_flight_and_the_rest_waits(tarantool):
    async with opened(tarantool, in_flight=10) as db:
        await db.eval("running, most = 0, 0")
        code = """
            running = running + 1
            most = math.max(most, running)
            require('fiber').sleep(0.001)
            running = running - 1
        """
        queries = [db.eval(code) for _ in range(300)]
        assert (10, 290) == (db.in_flight, db.waiting)
        await asyncio.gather(*queries)
        assert 10 == await db.eval("return most")
        assert (0, 0) == (db.in_flight, db.waiting)


@on_every_loop
async def test_the_default_cap_cannot_freeze_an_old_server(tarantool):
    async with opened(tarantool) as db:
        queries = [db.eval("require('fiber').sleep(0.01)") for _ in range(3000)]
        assert 512 >= db.in_flight
        await asyncio.gather(*queries)


@on_every_loop
async def test_replies_leave_no_garbage(tarantool):
    async with opened(tarantool) as db:
        await asyncio.gather(*(db.ping() for _ in range(100)))
        gc.collect()
        gc.disable()
        try:
            before = len(gc.get_objects())
            for _ in range(20):
                await asyncio.gather(*(db.ping() for _ in range(100)))
            assert len(gc.get_objects()) - before < 100, "something is left of every query"
        finally:
            gc.enable()


def left_over() -> tuple[int, int]:
    """Count the objects that the collector knows and the open descriptors."""
    gc.collect()
    return len(gc.get_objects()), len(list(Path("/proc/self/fd").iterdir()))


@on_every_loop
async def test_connections_that_come_and_go_leave_nothing(tarantool):
    async def come_and_go(times):
        for _ in range(times):
            async with opened(tarantool) as db:
                await db.ping()
        return left_over()

    await come_and_go(10)
    objects, descriptors = await come_and_go(10)
    more_objects, more_descriptors = await come_and_go(100)
    assert more_descriptors == descriptors
    assert more_objects - objects < 100


@on_every_loop
async def test_a_connection_made_before_the_loop_lives_in_one_loop_after_the_other(tarantool):
    assert await _shared(tarantool.url).eval("return 7") == 7


_made: dict[str, tnt.Connection] = {}


def _shared(url: str) -> tnt.Connection:
    if url not in _made:
        _made[url] = tnt.connect(url, timeout=5)
    return _made[url]
