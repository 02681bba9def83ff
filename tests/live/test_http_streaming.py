"""Answers in pieces, over a socket: order, back-pressure, and what breaks off in the middle."""

from __future__ import annotations

import asyncio

import pytest
import tarmac
from support.http import Wire, connected, request, served
from support.loops import on_every_loop, settled, until
from tarmac import App, Response

pytestmark = pytest.mark.live


def numbers(app: App, path: str, gate: asyncio.Event | None = None) -> None:
    """Add an answer of three pieces; with a gate the last two wait for it."""

    @app.get(path)
    async def down(request):
        async def pieces():
            yield "one "
            if gate is not None:
                await gate.wait()
            yield b"two "
            await asyncio.sleep(0)
            yield "three"

        return tarmac.stream(pieces(), content_type="text/plain")


@on_every_loop
async def test_an_answer_is_produced_no_faster_than_it_is_read():
    app, made = App(), []

    @app.get("/")
    async def down(request):
        async def pieces():
            for _ in range(1000):
                made.append(1)
                yield bytes(65536)

        return tarmac.stream(pieces(), length=1000 * 65536)

    async with connected(app) as wire:
        wire.send(request("/"))
        await settled(lambda: len(made))
        assert 0 < len(made) < 500, "the client reads nothing"
        answer = await wire.answer()
        assert 1000 * 65536 == len(answer.body)
        assert str(1000 * 65536) == answer.header("content-length")


@on_every_loop
async def test_streams_keep_their_places_in_a_pipeline():
    app, gate = App(), asyncio.Event()
    numbers(app, "/slow", gate)
    numbers(app, "/quick")

    @app.get("/whole")
    def whole(request):
        return "whole"

    async with connected(app) as wire:
        wire.send(b"".join(request(path) for path in ("/slow", "/whole", "/quick", "/whole")))
        head = await wire.reader.readuntil(b"one ")
        assert b"chunked" in head
        await asyncio.sleep(0.02)
        gate.set()
        rest = await wire.reader.readuntil(b"0\r\n\r\n")
        assert rest.endswith(b"4\r\ntwo \r\n5\r\nthree\r\n0\r\n\r\n")
        bodies = [(await wire.answer()).body for _ in range(3)]
        assert [b"whole", b"one two three", b"whole"] == bodies


@on_every_loop
async def test_an_error_in_the_middle_breaks_the_connection_off(caplog):
    app = App()

    @app.get("/")
    async def down(request):
        async def pieces():
            yield "half"
            raise ZeroDivisionError

        return tarmac.stream(pieces())

    @app.get("/type")
    def wrong(request):
        return tarmac.stream(["text", 5])

    async with served(app) as server:
        for path in ("/", "/type"):
            async with Wire(server.port) as wire:
                wire.send(request(path))
                everything = await wire.reader.read()
                assert everything.startswith(b"HTTP/1.1 200 ")
                assert not everything.endswith(b"0\r\n\r\n"), "it looks like a whole answer"
    assert ["GET / failed in the middle of its answer", "GET /type failed in the middle of its answer"] == [
        record.getMessage() for record in caplog.records
    ]


@on_every_loop
async def test_an_old_client_is_not_left_with_half_an_answer_that_looks_whole():
    app, gate = App(), asyncio.Event()

    @app.get("/")
    async def down(request):
        async def pieces():
            yield "half"
            await gate.wait()
            raise ZeroDivisionError

        return tarmac.stream(pieces())

    async with connected(app) as wire:
        wire.send("GET / HTTP/1.0\r\n\r\n")
        await wire.reader.readuntil(b"half")
        gate.set()
        with pytest.raises(ConnectionResetError):
            await wire.reader.read()


@on_every_loop
async def test_the_producer_ends_when_its_client_goes():
    app, ended = App(), asyncio.Event()

    @app.get("/")
    async def down(request):
        async def pieces():
            try:
                while True:
                    yield bytes(65536)
            finally:
                ended.set()

        return tarmac.stream(pieces())

    async with served(app) as server:
        async with Wire(server.port) as wire:
            wire.send(request("/"))
            await wire.reader.readexactly(100_000)
            wire.reset()
        async with asyncio.timeout(5):
            await ended.wait()
        await until(lambda: server.requests_in_flight == 0)


@on_every_loop
async def test_lengths_are_kept():
    app = App()

    @app.get("/{announced:int}")
    async def down(request, announced):
        return tarmac.stream(iter(["ab", "cd"]), length=announced)

    async with served(app) as server:
        for announced, body in ((4, b"abcd"), (5, b"abcd"), (3, b"ab")):
            async with Wire(server.port) as wire:
                wire.send(request(f"/{announced}"))
                head = await wire.reader.readuntil(b"\r\n\r\n")
                assert f"Content-Length: {announced}".encode() in head
                if announced == len(body):
                    assert body == await wire.reader.readexactly(4)
                else:
                    assert body.startswith(await wire.reader.read()), "more than was announced, or not closed"


@on_every_loop
async def test_head_and_old_clients_and_answers_without_content():
    app = App()
    numbers(app, "/")

    @app.get("/nothing")
    async def nothing(request):
        response = tarmac.stream(iter(["never"]))
        response.status = 304
        return response

    async with connected(app) as wire:
        assert b"" == (await wire.get("/", method="HEAD")).body
        assert 304 == (await wire.get("/nothing")).status
        assert b"one two three" == (await wire.get("/")).body
        wire.send("GET / HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n\r\n")
        everything = await wire.reader.read()
        assert b"Connection: close\r\n" in everything
        assert everything.endswith(b"\r\n\r\none two three"), "no chunks before HTTP/1.1"


@on_every_loop
async def test_the_stream_belongs_to_its_handlers_task():
    app, tasks = App(), []

    @app.get("/")
    async def down(request):
        tasks.append(asyncio.current_task())

        async def pieces():
            tasks.append(asyncio.current_task())
            yield "x"

        return tarmac.stream(pieces())

    async with connected(app) as wire:
        await wire.get("/")
    assert tasks[0] is tasks[1]


@on_every_loop
async def test_who_waits_for_the_end_of_a_client_is_told():
    app, told = App(), []

    @app.route("/", methods=("GET", "POST"))
    async def wait(request):
        assert not request.disconnected
        await request.wait_disconnected()
        told.append(request.disconnected)
        await request.wait_disconnected()

    async with served(app) as server:
        for method in ("GET", "POST"):
            for leave in ("writer.write_eof", "reset"):
                async with Wire(server.port) as wire:
                    wire.send(request("/", method=method))
                    await until(lambda: server.requests_in_flight == 1)
                    if leave == "reset":
                        wire.reset()
                    else:
                        wire.writer.write_eof()
                    await until(lambda: server.requests_in_flight == 0)
    assert [True] * 4 == told


@on_every_loop
async def test_who_only_looks_sees_at_once_that_the_client_has_left():
    app, seen = App(), []

    @app.get("/")
    async def look(request):
        while True:
            waiting = request.wait_disconnected()
            if waiting.done():
                break
            waiting.cancel()
            await asyncio.sleep(0.002)
        seen.append("left")

    async with served(app) as server, Wire(server.port) as wire:
        wire.send(request("/"))
        await until(lambda: server.requests_in_flight == 1)
        wire.writer.write_eof()
        await until(lambda: seen == ["left"])


@on_every_loop
async def test_an_answer_by_hand():
    app = App()

    @app.get("/")
    async def by_hand(request):
        writer = request.start(201, content_type="text/plain", headers={"X-A": "b"})
        await writer.write("a")
        await writer.write(b"b")
        writer.end()
        with pytest.raises(RuntimeError, match="ended"):
            await writer.write("late")
        with pytest.raises(RuntimeError, match="answered already"):
            request.start()

    @app.get("/dropped")
    async def dropped(request):
        await request.start(length=10).write("half")

    async with served(app) as server:
        async with Wire(server.port) as wire:
            answer = await wire.get("/")
            assert (201, b"ab", "b") == (answer.status, answer.body, answer.header("x-a"))
        async with Wire(server.port) as wire:
            wire.send(request("/dropped"))
            assert not (await wire.reader.read()).endswith(b"half12345")


def test_a_response_tells_what_kind_of_body_it_has():
    response = tarmac.stream(["x"])
    assert "application/octet-stream" == response.content_type
    assert response.producer is not None
    with pytest.raises(TypeError, match="piece by piece"):
        response.body  # noqa: B018 - reading it is the test
    assert Response("x").producer is None
    for wrong in ("text", b"bytes", 5, None):
        with pytest.raises(TypeError, match="iterable of str or bytes"):
            tarmac.stream(wrong)
