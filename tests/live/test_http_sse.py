"""Server-sent events: as they come, with signs of life between them, until the client leaves."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
import tarmac
from support.http import Wire, connected, request, served
from support.loops import on_every_loop, until
from tarmac import App, Limits, ServerSentEvent

pytestmark = pytest.mark.live


class Source:
    """Events that a test sends by hand; knows whether somebody listens."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[object] = asyncio.Queue()
        self.listening = False
        self.given = 0

    async def events(self):
        self.listening = True
        try:
            while (event := await self.queue.get()) is not None:
                self.given += 1
                if isinstance(event, Exception):
                    raise event
                yield event
        finally:
            self.listening = False


def site(source: Source, **options: Any) -> App:
    app = App()
    app.get("/")(lambda request: tarmac.sse(source.events(), **options))
    app.get("/quick")(lambda request: "quick")
    return app


async def begun(wire: Wire) -> bytes:
    """The head of the answer, sent before the first event."""
    wire.send(request("/"))
    async with asyncio.timeout(5):
        return await wire.reader.readuntil(b"\r\n\r\n")


async def chunk(wire: Wire) -> bytes:
    """The next chunk of the answer."""
    async with asyncio.timeout(5):
        size = int(await wire.reader.readuntil(b"\r\n"), 16)
        return (await wire.reader.readexactly(size + 2))[:-2]


@on_every_loop
async def test_events_leave_when_they_are_made():
    source = Source()
    async with connected(site(source, ping=None)) as wire:
        head = await begun(wire)
        assert b"Content-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-store\r\n" in head
        for event, expected in [
            ("hello", b"data: hello\n\n"),
            ({"a": 1}, b'data: {"a":1}\n\n'),
            (ServerSentEvent("a\nb", event="vote", id="7"), b"event: vote\nid: 7\ndata: a\ndata: b\n\n"),
        ]:
            source.queue.put_nowait(event)
            assert expected == await chunk(wire)
        source.queue.put_nowait(None)
        assert b"" == await chunk(wire)
        assert not source.listening
        assert b"quick" == (await wire.get("/quick")).body


@on_every_loop
async def test_the_client_is_told_when_to_come_again():
    async with connected(site(Source(), ping=None, retry=2.5, headers={"Cache-Control": "private"})) as wire:
        assert b"Cache-Control: private\r\n" in await begun(wire)
        assert b"retry: 2500\n\n" == await chunk(wire)


@on_every_loop
async def test_silence_is_broken_by_comments():
    source = Source()
    async with connected(site(source, ping=0.01)) as wire:
        await begun(wire)
        for _ in range(3):
            assert b": ping\n\n" == await chunk(wire)
        source.queue.put_nowait("x")
        while (piece := await chunk(wire)) != b"data: x\n\n":
            assert b": ping\n\n" == piece
        assert b": ping\n\n" == await chunk(wire)


@pytest.mark.parametrize("ping", [None, 60.0])
@pytest.mark.parametrize("rudely", [True, False])
@on_every_loop
async def test_events_end_when_the_client_leaves(ping, rudely):
    """At once, not at the next event or ping."""
    source = Source()
    async with served(site(source, ping=ping)) as server:
        async with Wire(server.port) as wire:
            await begun(wire)
            source.queue.put_nowait("x")
            await chunk(wire)
            assert source.listening
            if rudely:
                wire.reset()
        await until(lambda: not source.listening, what="the events to be closed")
        await until(lambda: server.connections == 0, what="the connection to go")


@on_every_loop
async def test_a_listener_that_does_not_read_is_waited_for():
    source = Source()
    for _ in range(10_000):
        source.queue.put_nowait("x" * 10_000)
    async with connected(site(source, ping=0.001), limits=Limits(queued_bytes=10_000)) as wire:
        await begun(wire)
        await chunk(wire)
        before = source.given
        assert before < 5_000  # what the kernel's buffers hold, and not all that there is
        for _ in range(before):
            await chunk(wire)
        await until(lambda: source.given > before, what="the events to go on")
        wire.reset()


@on_every_loop
async def test_a_defect_breaks_the_connection_off(caplog):
    source = Source()
    async with connected(site(source, ping=None)) as wire:
        await begun(wire)
        source.queue.put_nowait(RuntimeError("on purpose"))
        assert b"" == await wire.rest()
    (record,) = [one for one in caplog.records if one.levelno == logging.ERROR]
    assert "GET / failed in the middle of its answer" == record.getMessage()


@on_every_loop
async def test_what_json_cannot_say_is_a_defect(caplog):
    source = Source()
    async with connected(site(source, ping=None)) as wire:
        await begun(wire)
        source.queue.put_nowait(object())
        assert b"" == await wire.rest()
        assert not source.listening
    assert caplog.records


@on_every_loop
async def test_nobody_listens_to_a_head():
    source = Source()
    async with connected(site(source)) as wire:
        assert 200 == (await wire.get("/", method="HEAD")).status
        assert b"quick" == (await wire.get("/quick")).body
    assert not source.listening


@on_every_loop
async def test_a_time_limit_may_span_events():
    """The events run in one task."""
    app = App()

    @app.get("/")
    async def handler(request):
        async def events():
            task = asyncio.current_task()
            try:
                async with asyncio.timeout(0.02):
                    yield "first"
                    await asyncio.sleep(60)
            except TimeoutError:
                yield f"late, same task: {task is asyncio.current_task()}"

        return tarmac.sse(events(), ping=None)

    async with connected(app) as wire:
        answer = await wire.get("/")
    assert b"data: first\n\ndata: late, same task: True\n\n" == answer.body


@on_every_loop
async def test_a_server_that_stops_ends_the_events():
    source = Source()
    async with served(site(source, ping=None)) as server, Wire(server.port) as wire:
        await begun(wire)
        await until(lambda: source.listening, what="the events to begin")
        await server.stop(drain=0.01)
        assert not source.listening


@on_every_loop
async def test_a_listener_that_comes_again_says_where_it_was():
    app = App()

    @app.get("/")
    async def handler(request):
        async def events():
            yield ServerSentEvent("more", id=str(int(request.header("last-event-id")) + 1))

        return tarmac.sse(events())

    async with connected(app) as wire:
        answer = await wire.get("/", headers="Last-Event-ID: 41\r\n")
    assert b"id: 42\ndata: more\n\n" == answer.body
