"""Above the cap on connections clients are told to come again, and a flood of them costs nothing for long."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from support.certificates import Authority
from support.http import Wire, request, served
from support.loops import on_every_loop, until
from tarmac import TLS, App, Limits

pytestmark = pytest.mark.live


def site() -> App:
    app = App()
    app.get("/")(lambda request: "here")
    return app


@on_every_loop
async def test_the_last_that_fits_is_served_and_the_next_is_told():
    async with (
        served(site(), limits=Limits(connections=2)) as server,
        Wire(server.port) as first,
        Wire(server.port) as second,
    ):
        assert b"here" == (await first.get("/")).body == (await second.get("/")).body
        async with Wire(server.port) as third:
            answer = await third.answer()
            assert 503 == answer.status
            assert "1" == answer.header("Retry-After")
            assert "close" == answer.header("Connection")
            assert b"too many connections" == answer.body
            assert await third.ended()
        await until(lambda: server.connections == 2)
        async with Wire(server.port) as asking:
            # A client that has asked already gets to read why.
            asking.send(request("/"))
            assert 503 == (await asking.answer()).status
        assert b"here" == (await first.get("/")).body
    async with served(site(), limits=Limits(connections=1)) as server:
        async with Wire(server.port) as first:
            assert b"here" == (await first.get("/")).body
        await until(lambda: server.connections == 0)
        async with Wire(server.port) as second:
            assert b"here" == (await second.get("/")).body


@on_every_loop
async def test_a_flood_is_turned_away_and_the_one_inside_is_served():
    async with served(site(), limits=Limits(connections=1)) as server, Wire(server.port) as inside:
        assert b"here" == (await inside.get("/")).body
        told = 0
        async with contextlib.AsyncExitStack() as stack:
            for _ in range(300):
                wire = await stack.enter_async_context(Wire(server.port))
                with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                    told += (await wire.answer()).status == 503
                assert server.connections <= 1 + 32
        assert told > 0
        assert b"here" == (await inside.get("/")).body
        await until(lambda: server.connections == 1)


@on_every_loop
async def test_nobody_is_told_in_plain_text_where_tls_is_spoken(tmp_path):
    tls = TLS(*Authority(tmp_path).issue("a.example"))
    async with served(site(), tls=tls, limits=Limits(connections=1)) as server, Wire(server.port):
        await until(lambda: server.connections == 1)
        async with Wire(server.port) as second:
            assert await second.ended()
