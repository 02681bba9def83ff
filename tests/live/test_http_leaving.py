"""A handler whose client leaves is cancelled, where its route wants that, and only there."""

from __future__ import annotations

import asyncio

import pytest
import tarmac
from support.http import connected, request
from support.loops import on_every_loop, until
from tarmac import App

pytestmark = pytest.mark.live


def waiting(app: App, seen: list[str]) -> asyncio.Event:
    go = asyncio.Event()

    async def wait(request):
        seen.append("began")
        try:
            await go.wait()
        except asyncio.CancelledError as error:
            seen.append(f"cancelled: {error}")
            raise
        seen.append("ended")
        return "x"

    app.get("/cancelled", cancel_on_disconnect=True)(wait)
    app.get(
        "/not",
    )(wait)
    return go


@pytest.mark.parametrize("leave", ["reset", "end"])
@on_every_loop
async def test_a_handler_is_cancelled_when_its_client_leaves(leave):
    app, seen = App(), []
    waiting(app, seen)
    async with connected(app) as wire:
        wire.send(request("/cancelled"))
        await until(lambda: seen)
        if leave == "reset":
            wire.reset()
        else:
            wire.writer.write_eof()
        await until(lambda: len(seen) == 2)
    assert ["began", "cancelled: the client has left"] == seen


@on_every_loop
async def test_others_are_not():
    app, seen = App(), []
    go = waiting(app, seen)
    async with connected(app) as wire:
        wire.send(request("/not"))
        await until(lambda: seen)
        wire.reset()
        await asyncio.sleep(0)
        go.set()
        await until(lambda: len(seen) == 2)
    assert ["began", "ended"] == seen


@on_every_loop
async def test_who_stays_is_answered_again_and_again():
    app, seen = App(), []
    waiting(app, seen).set()
    async with connected(app) as wire:
        for _ in range(3):
            assert b"x" == (await wire.get("/cancelled")).body
    assert ["began", "ended"] * 3 == seen


@on_every_loop
async def test_an_iterator_that_waits_is_left_too():
    app, seen = App(), []

    async def pieces():
        try:
            yield "first"
            await asyncio.Event().wait()
        finally:
            seen.append("closed")

    @app.get("/", cancel_on_disconnect=True)
    async def stream(request):
        return tarmac.stream(pieces())

    async with connected(app) as wire:
        wire.send(request("/"))
        await wire.reader.readuntil(b"first")
        wire.reset()
        await until(lambda: seen)


def test_a_plain_handler_cannot_be_cancelled():
    with pytest.raises(tarmac.ConfigurationError, match="nothing can interrupt"):
        App().get("/", cancel_on_disconnect=True)(lambda request: "x")
