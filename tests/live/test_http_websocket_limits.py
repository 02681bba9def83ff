"""WebSockets at their limits: slow and silent clients, full queues, the end of the server, leaks."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest
import tarmac
import tarmac.waiting
from support.http import Wire, served
from support.loops import on_every_loop, until
from support.websocket import (
    BINARY,
    OFFER,
    PING,
    PONG,
    TEXT,
    closed,
    frame,
    goodbye,
    opened,
    opening,
    received,
    socket_to,
)
from tarmac import App, Limits, WebSocketClosed

pytestmark = pytest.mark.live


def echo_app(ends: list[Any] | None = None) -> App:
    app = App()

    @app.websocket("/")
    async def echo(ws):
        async for message in ws:
            await ws.send(message)
        if ends is not None:
            ends.append((ws.close_code, ws.close_reason))

    return app


@on_every_loop
async def test_a_silent_client_is_pinged_and_then_given_up():
    ends: list[Any] = []
    limits = Limits(ws_idle_timeout=0.05, ws_ping_timeout=0.05)
    async with socket_to(echo_app(ends), limits=limits) as wire:
        for _ in range(3):
            assert (PING, b"") == await received(wire)
            wire.send(frame(PONG))
        assert (PING, b"") == await received(wire)
        assert await wire.ended()
        await until(lambda: ends, what="the end of the handler")
    assert [(1006, "no answer to a ping")] == ends


@on_every_loop
async def test_who_speaks_is_not_pinged():
    limits = Limits(ws_idle_timeout=0.2, ws_ping_timeout=10)
    async with socket_to(echo_app(), limits=limits) as wire:
        ended = asyncio.get_running_loop().time() + 0.6
        while asyncio.get_running_loop().time() < ended:
            wire.send(frame(TEXT, "x"))
            assert (TEXT, b"x") == await received(wire)
            await asyncio.sleep(0.02)
        assert (PING, b"") == await received(wire)


@on_every_loop
async def test_messages_wait_up_to_a_bound_and_then_the_socket_is_not_read():
    app, go, got = App(), asyncio.Event(), []

    @app.websocket("/")
    async def handler(ws):
        await ws.accept()
        await go.wait()
        got.extend([message async for message in ws])

    message = frame(BINARY, b"m" * 1000)
    async with socket_to(app, limits=Limits(ws_queued_bytes=10_000)) as wire:
        sent = 0
        while True:
            wire.send(message * 100)
            sent += 100
            try:
                await asyncio.wait_for(wire.writer.drain(), 0.3)
            except TimeoutError:
                break
            assert sent < 100_000, "nobody stops the client"
        go.set()
        wire.send(goodbye())
        assert (1000, "") == await closed(wire)
        await until(lambda: got, what="the messages")
    assert sent == len(got)


@on_every_loop
async def test_sending_waits_for_a_slow_reader():
    app, progress = App(), []

    @app.websocket("/")
    async def handler(ws):
        for number in range(500):
            await ws.send(b"x" * 65536)
            progress.append(number)
        await ws.receive()

    async with socket_to(app) as wire:
        wire.writer.transport.pause_reading()
        await until(lambda: progress, what="the first message")
        previous = -1
        while previous != len(progress):
            previous = len(progress)
            await asyncio.sleep(0.1)
        assert len(progress) < 400, "the handler was never asked to wait"
        wire.writer.transport.resume_reading()
        for _ in range(500):
            assert (BINARY, b"x" * 65536) == await received(wire)
    assert 500 == len(progress)


@on_every_loop
async def test_a_reader_that_is_too_slow_is_cut_off():
    app, ends = App(), []

    @app.websocket("/")
    async def handler(ws):
        try:
            while True:
                await ws.send(b"x" * 65536)
        except WebSocketClosed as ended:
            ends.append(ended.code)

    async with socket_to(app, limits=Limits(write_timeout=0.1)) as wire:
        wire.writer.transport.pause_reading()
        await until(lambda: ends, what="the end of the handler")
    assert [1006] == ends


@on_every_loop
async def test_who_does_not_wait_is_stopped_before_memory_is():
    app, sent, ends = App(), [], []

    @app.websocket("/")
    async def handler(ws):
        await ws.receive()
        while ws.close_code is None:
            ws.send(b"x" * 65536)
            sent.append(65536)
        try:
            await ws.send("x")
        except WebSocketClosed as error:
            ends.append(error.code)

    async with socket_to(app) as wire:
        wire.writer.transport.pause_reading()
        wire.send(frame(TEXT, "go"))
        await until(lambda: ends, what="the end")
    assert [1006] == ends
    assert 2**24 <= sum(sent) <= 2**24 + 2**17


@on_every_loop
async def test_many_messages_of_one_read_leave_in_one_write():
    app = echo_app()
    async with socket_to(app) as wire:
        reactor = tarmac.waiting.reactor_for(asyncio.get_running_loop())
        wire.send(frame(TEXT, "warm"))
        await received(wire)
        before = reactor.stats()["writes"]
        wire.send(frame(TEXT, "x" * 64) * 50)
        for _ in range(50):
            assert (TEXT, b"x" * 64) == await received(wire)
        assert reactor.stats()["writes"] - before <= 2


@on_every_loop
async def test_compressed_frames_are_small_and_share_their_memory():
    async with socket_to(echo_app(), headers=OFFER) as wire:
        text = "the same words over and over " * 10
        sizes = []
        for _ in range(2):
            wire.send(frame(TEXT, text))
            first, payload = await received(wire)
            assert 0xC1 == first
            sizes.append(len(payload))
        assert sizes[0] < len(text) / 3
        assert sizes[1] < sizes[0] / 2


@on_every_loop
async def test_the_end_of_the_server_says_1001_and_waits_for_the_handlers():
    app, ends = App(), []

    @app.websocket("/")
    async def handler(ws):
        async for _ in ws:
            pass
        ends.append(ws.close_code)

    async with served(app) as server, Wire(server.port) as wire:
        await opened(wire)
        stopping = asyncio.ensure_future(server.stop(drain=5))
        assert (1001, "the server stops") == await closed(wire)
        assert not stopping.done()
        wire.send(goodbye(1001))
        assert await wire.ended()
        await asyncio.wait_for(stopping, 2)
    assert [1001] == ends


@on_every_loop
async def test_who_does_not_answer_cannot_keep_the_server_from_ending():
    async with served(echo_app()) as server, Wire(server.port) as wire:
        await opened(wire)
        await asyncio.wait_for(server.stop(drain=0.1), 2)
        assert (1001, "the server stops") == await closed(wire)
        assert await wire.ended()


@on_every_loop
async def test_nothing_is_opened_while_the_server_ends():
    app, go, refused = App(), asyncio.Event(), []

    @app.websocket("/")
    async def handler(ws):
        await go.wait()
        try:
            await ws.accept()
        except WebSocketClosed as error:
            refused.append(error.code)
            raise

    async with served(app) as server, Wire(server.port) as wire:
        wire.send(opening())
        await until(lambda: server.requests_in_flight, what="the request")
        stopping = asyncio.ensure_future(server.stop(drain=5))
        await asyncio.sleep(0)
        go.set()
        assert 503 == (await wire.answer()).status
        await stopping
    assert [1006] == refused


@on_every_loop
async def test_a_client_that_leaves_before_the_answer_is_met_at_accept():
    app, go, refused = App(), asyncio.Event(), []

    @app.websocket("/")
    async def handler(ws):
        await go.wait()
        with pytest.raises(WebSocketClosed) as closed:
            await ws.receive()
        refused.append(closed.value.code)

    async with served(app) as server:
        async with Wire(server.port) as wire:
            wire.send(opening())
            await until(lambda: server.requests_in_flight, what="the request")
            wire.reset()
        await until(lambda: server.connections == 0, what="the end of the connection")
        go.set()
        await until(lambda: refused, what="the handler")
    assert [1006] == refused


@on_every_loop
async def test_nothing_is_left_of_many_connections():
    app = echo_app()
    async with served(app) as server:
        tasks, handlers = len(asyncio.all_tasks()), alive("HandlerCoroutine")
        for leave in range(30):
            async with Wire(server.port) as wire:
                await opened(wire, headers=OFFER if leave % 2 else "")
                wire.send(frame(TEXT, "x" * 100))
                await received(wire)
                if leave % 3 == 0:
                    wire.reset()
                elif leave % 3 == 1:
                    wire.send(goodbye())
        await until(lambda: server.connections == 0, what="the end of the connections")
        await until(lambda: len(asyncio.all_tasks()) == tasks, what="the end of the tasks")
        assert handlers == alive("HandlerCoroutine")


def alive(kind: str) -> int:
    """How many objects of a class the collector knows."""
    gc.collect()
    return sum(type(one).__name__ == kind for one in gc.get_objects())
