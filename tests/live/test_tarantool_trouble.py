"""Crashes, restarts, cancellations, timeouts: what is lost is told, the rest goes on."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from support.loops import on_every_loop, until
from support.spaces import ANN, opened, people
from support.tarantool import OwnTarantool
from tarmac import tarantool as tnt

pytestmark = pytest.mark.live

SLEEP = "require('fiber').sleep(...)"


@on_every_loop
async def test_a_killed_server_fails_what_was_sent_and_says_that_it_may_have_run(own_tarantool: OwnTarantool):
    async with opened(own_tarantool) as db:
        sleeping = [db.eval(SLEEP, 60) for _ in range(3)]
        await until(lambda: db.in_flight == 3)
        await db.ping()
        await asyncio.to_thread(own_tarantool.kill)
        for query in sleeping:
            with pytest.raises(tnt.NetworkError) as caught:
                await query
            assert caught.value.maybe_sent
        await until(lambda: db.state in {"waiting", "connecting"})


@on_every_loop
async def test_queries_wait_for_the_server_to_come_back(own_tarantool: OwnTarantool):
    async with opened(own_tarantool, timeout=20, reconnect_max=0.2) as db:
        await db.eval("""
            local space = box.schema.space.create('kept')
            space:format({{'id', 'unsigned'}, {'name', 'string'}})
            space:create_index('primary')
        """)
        kept = db.space("kept")
        await kept.insert((1, "one"))
        await asyncio.to_thread(own_tarantool.kill)
        await until(lambda: db.state != "ready")
        waiting = [asyncio.ensure_future(kept.get(1)) for _ in range(10)]
        await asyncio.sleep(0)
        assert not any(query.done() for query in waiting)
        await asyncio.to_thread(own_tarantool.start)
        assert ["one"] * 10 == [(await query).name for query in waiting]
        assert "ready" == db.state


@on_every_loop
async def test_a_query_waits_no_longer_than_its_timeout(own_tarantool: OwnTarantool):
    async with opened(own_tarantool) as db:
        await asyncio.to_thread(own_tarantool.kill)
        await until(lambda: db.state != "ready")
        with pytest.raises(tnt.QueryTimeout) as caught:
            await db.ping(timeout=0.1)
        assert not caught.value.maybe_sent


@on_every_loop
async def test_fail_fast_does_not_wait(own_tarantool: OwnTarantool):
    async with opened(own_tarantool, fail_fast=True) as db:
        await asyncio.to_thread(own_tarantool.kill)
        await until(lambda: db.state != "ready")
        async with asyncio.timeout(1):
            with pytest.raises(tnt.NetworkError) as caught:
                await db.ping()
        assert not caught.value.maybe_sent


@on_every_loop
async def test_a_hundred_tasks_survive_three_restarts(own_tarantool: OwnTarantool):
    async with opened(own_tarantool, timeout=20, reconnect_max=0.1) as db:
        answered, stop = 0, False

        async def work(number):
            nonlocal answered
            while not stop:
                with contextlib.suppress(tnt.NetworkError):
                    assert number == await db.eval("return ...", number)
                    answered += 1

        async with asyncio.TaskGroup() as group:
            for number in range(100):
                group.create_task(work(number))
            for _ in range(3):
                before = answered
                await until(lambda: answered > before + 500, timeout=15)  # noqa: B023 - waited for here
                await asyncio.to_thread(own_tarantool.restart)
            before = answered
            await until(lambda: answered > before + 500, timeout=15)
            stop = True
        assert 0 == db.in_flight == db.waiting


@on_every_loop
async def test_a_late_reply_finds_nobody_and_the_next_one_its_query(tarantool):
    async with opened(tarantool) as db:
        with pytest.raises(tnt.QueryTimeout) as caught:
            await db.eval(SLEEP + " return 'late'", 0.1, timeout=0.02)
        assert caught.value.maybe_sent
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await db.eval(SLEEP + " return 'late'", 0.1)
        for number in range(50):
            assert number == await db.eval("return ...", number)
        await asyncio.sleep(0.15)
        assert 7 == await db.eval("return 7")
        assert 0 == db.in_flight


@on_every_loop
async def test_cancelled_queries_of_every_age(tarantool):
    async with opened(tarantool, in_flight=4) as db:
        queries = [db.eval(SLEEP + " return 1", 0.05) for _ in range(8)]
        for query in queries[::2]:
            assert query.cancel()
            assert not query.cancel()
        results = await asyncio.gather(*queries, return_exceptions=True)
        assert [True, False] * 4 == [isinstance(result, asyncio.CancelledError) for result in results]
        assert [1] * 4 == results[1::2]
        done = db.ping()
        await done
        assert not done.cancel()


@on_every_loop
async def test_a_query_is_a_future_like_any_other(tarantool):
    async with opened(tarantool) as db:
        loop = asyncio.get_running_loop()
        query = db.eval("return 7")
        assert asyncio.isfuture(query)
        assert not query.done()
        assert loop is query.get_loop()
        with pytest.raises(asyncio.InvalidStateError):
            query.result()
        seen: list[object] = []
        query.add_done_callback(seen.append)
        query.add_done_callback(print)
        assert 1 == query.remove_done_callback(print)
        assert 7 == await query == query.result() == await query
        assert query.exception() is None
        await asyncio.sleep(0)
        assert [query] == seen
        assert 7 == await asyncio.wait_for(db.eval("return 7"), 5)
        assert 7 == await asyncio.shield(db.eval("return 7"))
        done, _ = await asyncio.wait([db.eval("return 7"), db.eval("return 8")])
        assert {7, 8} == {one.result() for one in done}
        with pytest.raises(tnt.LuaError):
            await asyncio.gather(db.ping(), db.eval("error('x')"))
        failed = db.eval("error('x')")
        await asyncio.wait([failed])
        assert isinstance(failed.exception(), tnt.LuaError)
        with pytest.raises(tnt.LuaError):
            failed.result()
        with pytest.raises(tnt.LuaError):
            await failed


@on_every_loop
async def test_a_cancelled_task_cancels_its_query(tarantool):
    async with opened(tarantool) as db:

        async def work():
            await db.eval(SLEEP, 5)

        task = asyncio.create_task(work())
        await until(lambda: db.in_flight == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await db.ping() is None


@on_every_loop
async def test_a_failed_query_that_nobody_asks_for_is_silent_or_reported_not_fatal(tarantool):
    async with opened(tarantool) as db:
        db.eval("error('nobody looks')")
        await db.ping()


@on_every_loop
async def test_close_drains_first(own_tarantool: OwnTarantool):
    async with people(own_tarantool) as (db, space):
        other = await tnt.connect(own_tarantool.url, timeout=5)
        target = other.space(space.name)
        queries = [target.insert((number, "x", number)) for number in range(1000)]
        await other.close()
        assert all(query.done() for query in queries)
        assert 1000 == await db.call(f"box.space.{space.name}:len")


@on_every_loop
async def test_close_without_a_drain_fails_what_is_left(tarantool):
    db = await tnt.connect(tarantool.url)
    query = db.eval(SLEEP, 5)
    await until(lambda: db.in_flight == 1)
    await db.close(drain=0)
    with pytest.raises(tnt.NetworkError):
        await query


@on_every_loop
async def test_a_changed_schema_is_read_again(tarantool):
    rename = "box.space[...]:format({{'id', 'unsigned'}, {'nick', 'string'}, {'age', 'unsigned'}})"
    async with people(tarantool, ANN) as (db, space), opened(tarantool) as other:
        seen = other.space(space.name)
        assert "Ann" == (await seen.get(1)).name
        await db.eval(rename, space.name)
        await other.ping()
        await until(lambda: "nick" in other.schema[space.name]["fields"])
        assert "Ann" == (await seen.get(1)).nick
        assert "Ann" == (await seen.update(1, tnt.set("age", 31)))["nick"]


@on_every_loop
async def test_a_space_that_is_made_is_found_at_once(tarantool):
    async with opened(tarantool) as db, opened(tarantool) as other:
        await other.ping()
        for round_ in range(5):
            await db.eval("box.schema.space.create('brief'):create_index('primary')")
            assert (round_,) == tuple(await other.space("brief").insert((round_,)))
            await db.eval("box.space.brief:drop()")
            with pytest.raises(tnt.NoSuchSpace):
                await other.space("brief").get(1)


@on_every_loop
async def test_ddl_in_between_two_hundred_queries(tarantool):
    async with people(tarantool, ANN) as (db, space):
        queries = []
        for number in range(200):
            if number % 40 == 0:
                queries.append(db.eval("box.schema.space.create(...):drop()", f"ddl_{number}"))
            queries.append(space.get(1))
        results = await asyncio.gather(*queries)
        assert 200 == sum(row is not None and tuple(row) == ANN for row in results)
