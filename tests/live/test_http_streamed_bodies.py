"""Bodies in pieces, over a socket: when their handlers start, back-pressure, and what is wrong with them."""

from __future__ import annotations

import asyncio

import pytest
import tarmac
from support.http import Wire, connected, served
from support.loops import on_every_loop, settled, until
from tarmac import App, Limits

pytestmark = pytest.mark.live

CHUNKED = "POST /up HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


def counting(app: App) -> list[bytes]:
    """Add a handler that counts the bytes of its body; its pieces as they came."""
    pieces: list[bytes] = []

    @app.post("/up", stream=True)
    async def up(request):
        async for piece in request.stream():
            pieces.append(piece)  # noqa: PERF401 - they are looked at while they come
        return str(sum(map(len, pieces)))

    return pieces


@on_every_loop
async def test_a_handler_starts_before_its_body_is_there():
    app = App()
    pieces = counting(app)
    async with connected(app) as wire:
        wire.send(CHUNKED + "3\r\nabc\r\n")
        await until(lambda: pieces == [b"abc"])
        wire.send("2\r\nde\r\n0\r\n\r\n")
        assert b"5" == (await wire.answer()).body
        assert b"abcde" == b"".join(pieces)
        # The connection goes on.
        assert 200 == (await wire.get("/up", method="POST", body=b"x")).status


@on_every_loop
async def test_a_body_waits_in_the_kernel_until_its_handler_takes_it():
    app, gate, size = App(), asyncio.Event(), 64 * 1024 * 1024

    @app.post("/up", stream=True)
    async def up(request):
        await gate.wait()
        return str(sum([len(piece) async for piece in request.stream()]))

    async with served(app, limits=Limits(body_bytes=size)) as server, Wire(server.port) as wire:
        wire.send(f"POST /up HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n")
        wire.send(bytes(size))
        left = wire.writer.transport.get_write_buffer_size
        await settled(left)
        assert left() > size // 2, "somebody took it"
        gate.set()
        assert str(size).encode() == (await wire.answer()).body


@on_every_loop
async def test_an_expectant_client_is_asked_when_its_body_is_wanted():
    app, gate = App(), asyncio.Event()

    @app.post("/wanted", stream=True)
    async def wanted(request):
        await gate.wait()
        return await request.body()

    @app.post("/unwanted", stream=True)
    async def unwanted(request):
        return "no", 413

    expect = "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n"
    async with connected(app) as wire:
        wire.send(f"POST /wanted HTTP/1.1\r\nHost: x\r\n{expect}")
        reading = asyncio.ensure_future(wire.reader.readuntil(b"\r\n\r\n"))
        await asyncio.sleep(0.03)
        assert not reading.done()
        gate.set()
        assert b"HTTP/1.1 100 Continue\r\n\r\n" == await reading
        wire.send("ok")
        assert b"ok" == (await wire.answer()).body
        wire.send(f"POST /unwanted HTTP/1.1\r\nHost: x\r\n{expect}")
        everything = await wire.reader.read()
        # Nobody can tell whether the body still comes.
        assert everything.startswith(b"HTTP/1.1 413 ")
        assert b"Connection: close\r\n" in everything


@on_every_loop
async def test_what_is_wrong_with_a_body_comes_out_where_it_is_read():
    app, seen = App(), []

    @app.post("/up", stream=True)
    async def up(request):
        try:
            async for _ in request.stream():
                pass
        except Exception as error:
            seen.append(error)
            raise

    limits = Limits(body_bytes=10, body_timeout=0.1)
    async with served(app, limits=limits) as server:
        for rest, status in (("zz\r\n", 400), ("ff\r\n" + "x" * 255, 413), ("3\r\nab", 408)):
            async with Wire(server.port) as wire:
                wire.send(CHUNKED + rest)
                everything = await wire.reader.read()
                assert everything.startswith(f"HTTP/1.1 {status} ".encode()), rest
                assert status == seen[-1].status
        async with Wire(server.port) as wire:
            wire.send(CHUNKED + "3\r\nab")
            await until(lambda: server.requests_in_flight == 1)
            wire.writer.write_eof()
            await until(lambda: isinstance(seen[-1], tarmac.Disconnected))
            assert await wire.reader.read() != b"", "it closed only its own side"


@on_every_loop
async def test_a_slow_body_is_given_up_though_a_byte_comes_now_and_then():
    app = App()
    counting(app)
    async with served(app, limits=Limits(body_timeout=0.2, body_rate=1000)) as server, Wire(server.port) as wire:
        wire.send("POST /up HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
        answer = asyncio.ensure_future(wire.answer())
        async with asyncio.timeout(5):
            while not answer.done():
                wire.send("x")
                await asyncio.sleep(0.02)
        assert 408 == (await answer).status


@on_every_loop
async def test_a_body_that_nobody_reads_is_dropped_or_ends_the_connection():
    app = App()

    @app.post("/", stream=True)
    async def ignore(request):
        return "ignored"

    async with served(app) as server:
        async with Wire(server.port) as wire:
            for _ in range(2):
                answer = await wire.get("/", method="POST", body=bytes(100_000))
                assert (b"ignored", None) == (answer.body, answer.header("connection"))
        async with Wire(server.port) as wire:
            wire.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
            everything = await wire.reader.read()
            assert b"Connection: close\r\n" in everything
        async with Wire(server.port) as wire:
            wire.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            assert b"ignored" == (await wire.answer()).body
            wire.send((b"10000\r\n" + bytes(65536) + b"\r\n") * 100)
            assert await wire.ended(), "nobody wants that much"


@on_every_loop
async def test_the_whole_of_a_body_in_pieces():
    app = App()

    @app.post("/{kind}", stream=True)
    async def whole(request, kind):
        with pytest.raises(RuntimeError, match="in pieces"):
            request.content  # noqa: B018 - reading it is the test
        first, again = await getattr(request, kind)(), await getattr(request, kind)()
        assert first == again
        assert request.content
        return repr(first)

    async with connected(app) as wire:
        for kind, body, value in (
            ("body", b"x" * 200_000, b"x" * 200_000),
            ("text", "ä".encode(), "ä"),
            ("json", b'{"a": [1]}', {"a": [1]}),
        ):
            assert repr(value).encode() == (await wire.get(f"/{kind}", method="POST", body=body)).body


@on_every_loop
async def test_pieces_of_a_body_that_was_whole():
    app = App()

    @app.post("/")
    async def whole(request):
        return repr([piece async for piece in request.stream()])

    async with connected(app) as wire:
        assert b"[b'abc']" == (await wire.get("/", method="POST", body=b"abc")).body
        assert b"[]" == (await wire.get("/", method="POST")).body


@on_every_loop
async def test_both_ways_at_once():
    app = App()

    @app.post("/echo", stream=True)
    async def echo(request):
        return tarmac.stream(request.stream(), content_type="text/plain")

    async with connected(app) as wire:
        wire.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        await wire.reader.readuntil(b"\r\n\r\n")
        for word in ("one", "two"):
            wire.send(f"3\r\n{word}\r\n")
            assert f"3\r\n{word}\r\n".encode() == await wire.reader.readexactly(8)
        wire.send("0\r\n\r\n")
        assert b"0\r\n\r\n" == await wire.reader.readexactly(5)
        assert b"" == (await wire.get("/echo", method="POST")).body


def test_limits_of_bodies_in_pieces_are_checked():
    with pytest.raises(ValueError, match="body_window"):
        Limits(body_window=0)
