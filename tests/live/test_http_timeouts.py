"""Clients that are too slow are shown out; handlers that are slow are not."""

from __future__ import annotations

import asyncio

import pytest
from support.http import Wire, connected, request, served
from support.loops import on_every_loop, until
from tarmac import App, Limits

pytestmark = pytest.mark.live


def site() -> App:
    app = App()

    @app.get("/slow")
    async def slow(request):
        await asyncio.sleep(0.8)
        return "late"

    @app.get("/big")
    def big(request):
        return b"x" * 8_000_000

    app.get("/")(lambda request: "x")
    app.post("/")(lambda request: request.content)
    return app


@on_every_loop
async def test_an_idle_connection_is_closed_without_a_word():
    async with connected(site(), limits=Limits(idle_timeout=0.2)) as wire:
        assert b"x" == (await wire.get("/")).body
        assert await wire.ended()


@on_every_loop
async def test_a_connection_that_never_speaks_is_closed():
    async with connected(site(), limits=Limits(idle_timeout=0.2, header_timeout=0.2)) as wire:
        rest = await wire.rest()
        assert b"" == rest or b" 408 " in rest


@on_every_loop
async def test_a_head_in_dribbles_is_cut_off():
    async with connected(site(), limits=Limits(header_timeout=0.3)) as wire:

        async def dribble():
            for byte in b"GET / HTTP/1.1\r\nX: " + b"x" * 1000:
                wire.send(bytes([byte]))
                await asyncio.sleep(0.02)

        dribbling = asyncio.create_task(dribble())
        rest = await wire.rest()
        dribbling.cancel()
        assert b"" == rest or b" 408 " in rest


@on_every_loop
async def test_a_body_that_stops_is_cut_off():
    async with connected(site(), limits=Limits(body_timeout=0.3)) as wire:
        wire.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc")
        rest = await wire.rest()
        assert b"" == rest or b" 408 " in rest


@on_every_loop
async def test_a_slow_handler_is_nobodys_fault():
    limits = Limits(idle_timeout=0.2, header_timeout=0.2, body_timeout=0.2, write_timeout=0.2)
    async with connected(site(), limits=limits) as wire:
        assert b"late" == (await wire.get("/slow")).body


@on_every_loop
async def test_a_reader_that_stops_reading_is_cut_off():
    async with served(site(), limits=Limits(write_timeout=0.3)) as server, Wire(server.port) as wire:
        wire.writer.transport.pause_reading()
        wire.send(request("/big"))
        async with asyncio.timeout(5):
            await until(lambda: server.connections == 1)
            await until(lambda: server.connections == 0)
