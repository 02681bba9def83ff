"""Every kind of refusal, by a real server."""

from __future__ import annotations

import asyncio

import pytest
from support.loops import on_every_loop
from support.spaces import ANN, opened, people
from support.waiting import free_port
from tarmac import tarantool as tnt

pytestmark = pytest.mark.live


@on_every_loop
async def test_a_taken_key(tarantool):
    async with people(tarantool, ANN) as (_, space):
        with pytest.raises(tnt.TupleFound) as caught:
            await space.insert(ANN)
        error = caught.value
        assert (3, "ER_TUPLE_FOUND") == (error.code, error.name)
        assert "Duplicate key" in error.message
        assert "Duplicate key" in str(error)


@on_every_loop
async def test_an_unknown_space_index_and_field(tarantool):
    async with people(tarantool, ANN) as (db, space):
        with pytest.raises(tnt.NoSuchSpace, match="nothing"):
            await db.space("nothing").get(1)
        with pytest.raises(tnt.NoSuchIndex, match="nothing"):
            await space.get(1, index="nothing")
        with pytest.raises(ValueError, match="nothing"):
            await space.insert({"id": 9, "name": "x", "age": 1, "nothing": 1})
        with pytest.raises(ValueError, match="nothing"):
            await space.get({"nothing": 1})
        with pytest.raises((tnt.UsageError, tnt.DatabaseError), match="nothing"):
            await space.update(1, tnt.set("nothing", 1))
        with pytest.raises(ValueError, match="iterator must be EQ"):
            await space.select(1, iterator="sideways")
        assert await db.ping() is None


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (2, tnt.MemoryFull),
        (3, tnt.TupleFound),
        (4, tnt.TupleNotFound),
        (7, tnt.ReadOnly),
        (10, tnt.SpaceExists),
        (32, tnt.LuaError),
        (33, tnt.NoSuchFunction),
        (51, tnt.NoSuchFunction),
        (35, tnt.NoSuchIndex),
        (36, tnt.NoSuchSpace),
        (42, tnt.AccessDenied),
        (47, tnt.WrongPassword),
        (48, tnt.UnknownRequest),
        (78, tnt.ServerTimeout),
        (97, tnt.TransactionConflict),
        (109, tnt.SchemaChanged),
        (116, tnt.Loading),
        (148, tnt.NoSuchIndex),
        (184, tnt.SyntaxProblem),
        (5, tnt.DatabaseError),
    ],
)
@on_every_loop
async def test_every_code_is_its_class(tarantool, code, kind):
    async with opened(tarantool) as db:
        with pytest.raises(tnt.DatabaseError) as caught:
            await db.eval("box.error{code = ..., reason = 'for a test'}", code)
        assert (kind, code) == (type(caught.value), caught.value.code)
        assert "for a test" in caught.value.message


@on_every_loop
async def test_real_refusals(tarantool):
    async with people(tarantool, ANN) as (db, space):
        for statement, kind in [
            ("error('boom')", tnt.LuaError),
            ("no lua at all", tnt.LuaError),
            (f"box.schema.space.create('{space.name}')", tnt.SpaceExists),
        ]:
            with pytest.raises(kind):
                await db.eval(statement)
        with pytest.raises(tnt.NoSuchFunction, match="nowhere"):
            await db.call("nowhere")
        with pytest.raises(tnt.SyntaxProblem):
            await db.sql("selct 1")
        with pytest.raises(tnt.DatabaseError):
            await space.insert((2, 3, 4))


@on_every_loop
async def test_a_read_only_server(own_tarantool):
    async with people(own_tarantool, ANN) as (db, space):
        await db.eval("box.cfg{read_only = true}")
        with pytest.raises(tnt.ReadOnly):
            await space.replace(ANN)
        assert ANN == tuple(await space.get(1))
        await db.eval("box.cfg{read_only = false}")


@on_every_loop
async def test_a_guest_may_not(tarantool):
    url = f"tarantool://{tarantool.host}:{tarantool.port}"
    async with people(tarantool, ANN) as (_, space), tnt.connect(url, timeout=5) as guest:
        with pytest.raises((tnt.AccessDenied, tnt.NoSuchSpace)):
            await guest.space(space.name).get(1)
        with pytest.raises(tnt.AccessDenied):
            await guest.eval("return 1")


@pytest.mark.parametrize("who", ["app:wrong", "nobody:secret"])
@on_every_loop
async def test_a_wrong_password_is_told_and_not_tried_for_ever(tarantool, who):
    url = f"tarantool://{who}@{tarantool.host}:{tarantool.port}"
    async with asyncio.timeout(5):
        with pytest.raises(tnt.WrongPassword):
            await tnt.connect(url)
        lazy = tnt.connect(url, timeout=3)
        with pytest.raises(tnt.WrongPassword):
            await lazy.ping()
        await lazy.close()


@on_every_loop
async def test_the_admin_console_is_told_from_a_database(own_tarantool):
    port = free_port()
    own_tarantool.lua(f"require('console').listen('127.0.0.1:{port}')")
    async with asyncio.timeout(5):
        with pytest.raises(tnt.ProtocolError, match="console"):
            await tnt.connect(f"tarantool://127.0.0.1:{port}")


@on_every_loop
async def test_something_else_on_the_port_is_told(free_port):
    async def speak(reader, writer):
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n".ljust(128, b"x"))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(speak, "127.0.0.1", free_port)
    async with server, asyncio.timeout(5):
        with pytest.raises((tnt.ProtocolError, tnt.NetworkError)):
            await tnt.connect(f"tarantool://127.0.0.1:{free_port}", timeout=2)


@on_every_loop
async def test_nobody_on_the_port(free_port):
    url = f"tarantool://127.0.0.1:{free_port}"
    async with asyncio.timeout(5):
        with pytest.raises(tnt.NetworkError) as caught:
            await tnt.connect(url, fail_fast=True).ping()
        assert not caught.value.maybe_sent
        db = tnt.connect(url)
        with pytest.raises(tnt.NetworkError, match="refused"):
            await db
        assert "idle" == db.state, "nobody goes on trying"
        with pytest.raises(tnt.QueryTimeout) as late:
            await tnt.connect(url, timeout=0.2).ping()
        assert not late.value.maybe_sent


@on_every_loop
async def test_a_name_that_does_not_exist(tarantool):
    async with asyncio.timeout(10):
        with pytest.raises(tnt.NetworkError, match="looked up"):
            await tnt.connect("tarantool://no-such-host.invalid", timeout=5).ping()


@on_every_loop
async def test_a_name_is_looked_up_and_queries_keep_their_order(tarantool):
    url = tarantool.url.replace(tarantool.host, "localhost")
    db = tnt.connect(url, timeout=5)
    first = [db.eval("order = (order or '') .. ... return order", str(number)) for number in range(5)]
    assert "01234" == (await asyncio.gather(*first))[-1]
    assert "Link" in type(db.link()).__name__
    await db.eval("order = nil")
    await db.close()


@on_every_loop
async def test_a_closed_connection_says_so(tarantool):
    async with opened(tarantool) as db:
        pass
    assert "closed" == db.state
    with pytest.raises(tnt.NetworkError, match="closed"):
        await db.ping()
    await db.close()
