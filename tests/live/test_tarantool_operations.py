"""Every operation, against a real server."""

from __future__ import annotations

import pytest
from support.loops import on_every_loop
from support.spaces import ANN, BOB, EVE, opened, people
from tarmac import tarantool as tnt

pytestmark = pytest.mark.live


def plain(rows) -> list[tuple]:
    return [tuple(row) for row in rows]


@on_every_loop
async def test_ping(tarantool):
    async with opened(tarantool) as db:
        assert await db.ping() is None
        assert "ready" == db.state
        assert (db.server_version or "").startswith(("2.", "3."))


@on_every_loop
async def test_insert_gives_the_row_and_get_finds_it(tarantool):
    async with people(tarantool) as (_, space):
        assert ANN == tuple(await space.insert(ANN))
        assert [2, "Bob", 25] == list(await space.insert([2, "Bob", 25]))
        assert EVE == tuple(await space.insert({"age": 30, "name": "Eve", "id": 3}))
        assert ANN == tuple(await space.get(1))
        assert ANN == tuple(await space.get((1,)))
        assert ANN == tuple(await space.get([1]))
        assert ANN == tuple(await space.get({"id": 1}))
        assert ANN == tuple(await space.get(("Ann", 30), index="name"))
        assert ANN == tuple(await space.get(("Ann", 30), index=2))
        assert await space.get(99) is None


@on_every_loop
async def test_a_row_is_read_by_position_name_and_attribute(tarantool):
    async with people(tarantool, (*ANN, {"a": [1]})) as (_, space):
        row = await space.get(1)
        assert (1, "Ann", 30) == (row[0], row["name"], row.age)
        assert {"a": [1]} == row[-1] == row.extra
        assert ("id", "name", "age", "extra") == row.keys()
        assert (1, "Ann", 30, {"a": [1]}) == row.values()
        assert {"id": 1, "name": "Ann", "age": 30, "extra": {"a": [1]}} == dict(row.items())
        assert (1, "Ann") == row[:2]
        assert 4 == len(row)
        assert "Ann" == row.get("name")
        assert "x" == row.get("nothing", "x")
        with pytest.raises(KeyError):
            row["nothing"]
        with pytest.raises(AttributeError):
            _ = row.nothing
        with pytest.raises(IndexError):
            row[4]
        assert "Ann" in repr(row)


@pytest.mark.parametrize(
    ("key", "options", "expected"),
    [
        ((), {}, [ANN, BOB, EVE]),
        (1, {}, [ANN]),
        (9, {}, []),
        ((), {"limit": 2}, [ANN, BOB]),
        ((), {"offset": 1, "limit": 1}, [BOB]),
        ((), {"limit": 0}, []),
        (2, {"iterator": "GE"}, [BOB, EVE]),
        (2, {"iterator": "gt"}, [EVE]),
        (2, {"iterator": "LE"}, [BOB, ANN]),
        (2, {"iterator": "LT"}, [ANN]),
        ((), {"iterator": "REQ"}, [EVE, BOB, ANN]),
        (30, {"index": "age"}, [ANN, EVE]),
        (30, {"index": 1, "iterator": "REQ"}, [EVE, ANN]),
        ("Bob", {"index": "name"}, [BOB]),
        ((10,), {"index": "age", "iterator": "GE", "limit": 100}, [BOB, ANN, EVE]),
        ({"age": 30}, {"index": "age"}, [ANN, EVE]),
    ],
)
@on_every_loop
async def test_select(tarantool, key, options, expected):
    async with people(tarantool, ANN, BOB, EVE) as (_, space):
        assert expected == plain(await space.select(key, **options))


@on_every_loop
async def test_select_of_a_space_by_number(tarantool):
    async with people(tarantool, ANN) as (db, space):
        number = db.schema[space.name]["id"]
        assert [ANN] == plain(await db.space(number).select())
        assert space.name in {row["name"] for row in await db.space("_vspace").select()}


@on_every_loop
async def test_bit_and_rtree_iterators(tarantool):
    async with opened(tarantool) as db:
        await db.eval("""
            local bits = box.schema.space.create('bits')
            bits:create_index('primary', {parts = {1, 'unsigned'}})
            bits:create_index('bits', {type = 'bitset', unique = false, parts = {2, 'unsigned'}})
            local boxes = box.schema.space.create('boxes')
            boxes:create_index('primary', {parts = {1, 'unsigned'}})
            boxes:create_index('place', {type = 'rtree', unique = false, parts = {2, 'array'}})
        """)
        try:
            bits, boxes = db.space("bits"), db.space("boxes")
            for number in range(4):
                await bits.insert((number, number))
                await boxes.insert((number, [number, number]))
            assert {1, 3} == {row[0] for row in await bits.select(1, index="bits", iterator="BITS_ALL_SET")}
            assert {1, 2, 3} == {row[0] for row in await bits.select(3, index="bits", iterator="BITS_ANY_SET")}
            assert {0, 2} == {row[0] for row in await bits.select(1, index="bits", iterator="BITS_ALL_NOT_SET")}
            near = await boxes.select((3, 3), index="place", iterator="NEIGHBOR", limit=2)
            assert [3, 2] == [row[0] for row in near]
            inside = await boxes.select((0.5, 0.5, 2.5, 2.5), index="place", iterator="OVERLAPS")
            assert {1, 2} == {row[0] for row in inside}
        finally:
            await db.eval("box.space.bits:drop() box.space.boxes:drop()")


@on_every_loop
async def test_replace(tarantool):
    async with people(tarantool, ANN) as (_, space):
        assert (1, "Anna", 31) == tuple(await space.replace((1, "Anna", 31)))
        assert (2, "Bob", 25) == tuple(await space.replace({"id": 2, "name": "Bob", "age": 25}))
        assert 2 == len(await space.select())


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        ([tnt.set("name", "Anna")], (1, "Anna", 30, 7)),
        ([tnt.add("age", 2)], (1, "Ann", 32, 7)),
        ([tnt.subtract(2, 2)], (1, "Ann", 28, 7)),
        ([tnt.band("extra", 3)], (1, "Ann", 30, 3)),
        ([tnt.bor("extra", 8)], (1, "Ann", 30, 15)),
        ([tnt.bxor("extra", 1)], (1, "Ann", 30, 6)),
        ([tnt.splice("name", 1, 1, "--")], (1, "A--n", 30, 7)),
        ([tnt.insert_field(3, "new")], (1, "Ann", 30, "new", 7)),
        ([tnt.delete_field(3)], (1, "Ann", 30)),
        ([tnt.add("age", 1), tnt.set("name", "B")], (1, "B", 31, 7)),
        ([[["+", 2, 1], ["=", "name", "C"]]], (1, "C", 31, 7)),
        ([["+", 2, 5]], (1, "Ann", 35, 7)),
        ([tnt.set(-1, "last")], (1, "Ann", 30, "last")),
    ],
)
@on_every_loop
async def test_update(tarantool, operations, expected):
    async with people(tarantool, (*ANN, 7)) as (_, space):
        assert expected == tuple(await space.update(1, *operations))
        assert expected == tuple(await space.get(1))


@on_every_loop
async def test_update_by_another_index_and_of_nothing(tarantool):
    async with people(tarantool, ANN) as (_, space):
        changed = await space.update(("Ann", 30), tnt.set("extra", "x"), index="name")
        assert (*ANN, "x") == tuple(changed)
        assert await space.update(9, tnt.add("age", 1)) is None


@on_every_loop
async def test_upsert(tarantool):
    async with people(tarantool) as (_, space):
        assert await space.upsert(ANN, tnt.add("age", 1)) is None
        assert ANN == tuple(await space.get(1))
        assert await space.upsert({"id": 1, "name": "x", "age": 1}, tnt.add("age", 1)) is None
        assert (1, "Ann", 31) == tuple(await space.get(1))


@on_every_loop
async def test_delete(tarantool):
    async with people(tarantool, ANN, BOB) as (_, space):
        assert ANN == tuple(await space.delete(1))
        assert await space.delete(1) is None
        assert BOB == tuple(await space.delete(("Bob", 25), index="name"))
        assert [] == await space.select()


@on_every_loop
async def test_call_gives_one_value_several_or_none(tarantool):
    async with opened(tarantool) as db:
        await db.eval("""
            function nothing() end
            function echo(...) return ... end
            shop = {sum = function(a, b) return a + b end}
        """)
        assert await db.call("nothing") is None
        assert 7 == await db.call("echo", 7)
        assert (1, "two", None) == await db.call("echo", 1, "two", None)
        assert [1, 2] == await db.call("echo", [1, 2])
        assert {"a": {"b": [1.5]}} == await db.call("echo", {"a": {"b": [1.5]}})
        assert 5 == await db.call("shop.sum", 2, 3)


@on_every_loop
async def test_eval(tarantool):
    async with opened(tarantool) as db:
        assert 3 == await db.eval("return 1 + 2")
        assert (2, 1) == await db.eval("local a, b = ... return b, a", 1, 2)
        assert await db.eval("local x = 1") is None


@on_every_loop
async def test_sql(tarantool):
    async with opened(tarantool) as db:
        await db.sql("create table sql_people (id integer primary key autoincrement, name text, age integer)")
        try:
            made = await db.sql("insert into sql_people (name, age) values (?, ?), ('Bob', 25)", "Ann", 30)
            assert (2, [1, 2]) == (made["row_count"], made["autoincrement_ids"])
            rows = await db.sql("select id, name as who from sql_people where age > :age order by id", age=20)
            assert [(1, "Ann"), (2, "Bob")] == plain(rows)
            row = rows[0]
            assert "Ann" == row["WHO"] or "Ann" == row["who"]
            assert 1 == (await db.sql("delete from sql_people where id = ?", 1))["row_count"]
            assert [] == await db.sql("select * from sql_people where id = 1")
        finally:
            await db.sql("drop table sql_people")


@on_every_loop
async def test_sql_takes_positional_or_named_parameters(tarantool):
    async with opened(tarantool) as db:
        with pytest.raises(tnt.UsageError, match="not both"):
            db.sql("select ?, :a", 1, a=2)


@on_every_loop
async def test_insert_many(tarantool):
    async with people(tarantool) as (db, space):
        rows = [(number, f"name {number}", number) for number in range(2000)]
        stored = await space.insert_many(rows)
        assert rows == plain(stored)
        assert 2000 == await db.call(f"box.space.{space.name}:len")
        again = await space.insert_many([(1, "x", 1), (5000, "y", 5000)], return_exceptions=True)
        assert isinstance(again[0], tnt.TupleFound)
        assert (5000, "y", 5000) == tuple(again[1])
        with pytest.raises(tnt.TupleFound):
            await space.insert_many([(1, "x", 1), (5001, "z", 5001)])


@on_every_loop
async def test_scan_sees_everything_once_in_order(tarantool):
    async with people(tarantool) as (_, space):
        await space.insert_many([(number, "x", number) for number in range(1050)])
        assert list(range(1050)) == [row.id async for row in space.scan(batch=100)]
        by_name = [row.id async for row in space.scan(batch=100, index="name")]
        assert list(range(1050)) == by_name


@on_every_loop
async def test_what_needs_a_newer_server_is_refused_and_not_ignored(tarantool):
    async with opened(tarantool) as db:
        with pytest.raises(tnt.NotSupported, match=r"2\.10"):
            db.transaction()
        with pytest.raises(tnt.NotSupported, match=r"2\.10"):
            db.watch("box.status")


@on_every_loop
async def test_hooks_see_queries_and_replies(tarantool):
    queries, replies = [], []
    hooks = {
        "on_query": lambda operation, arguments: queries.append((operation, arguments)),
        "on_reply": lambda operation, seconds, error: replies.append((operation, seconds > 0, type(error))),
    }
    async with opened(tarantool, **hooks) as db:
        await db.call("math.abs", -1)
        with pytest.raises(tnt.LuaError):
            await db.eval("error('x')")
    assert ("call", ("math.abs", (-1,), None)) in queries
    assert [("call", True, type(None)), ("eval", True, tnt.LuaError)] == replies[-2:]
