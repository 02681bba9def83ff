"""A server without sockets carries connections within the process."""

from __future__ import annotations

import asyncio

import pytest
from support.loops import on_every_loop, until
from tarmac import App, Limits
from tarmac.http.serve import Server
from tarmac.http.sockets import Address

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def started(app: App, **options: object) -> Server:
    server = Server(app, Address(), **options)
    await server.start([])
    return server


@on_every_loop
async def test_requests_and_answers_pass_through_memory():
    app = App()
    app.get("/")(lambda request: f"{request.client}")
    server = await started(app)
    news = asyncio.Event()
    connection = server.connect(news.set, ("10.1.2.3", 99))
    assert 1 == server.connections
    connection.send(GET[:7])
    connection.send(GET[7:] + GET)
    await news.wait()
    answers = connection.take()
    assert 2 == answers.count(b"('10.1.2.3', 99)")
    assert b"" == connection.take()
    connection.end()
    await until(lambda: connection.closed)
    assert 0 == server.connections
    await server.stop()


@on_every_loop
async def test_a_large_answer_waits_for_its_reader():
    app = App()
    app.get("/")(lambda request: b"x" * 3_000_000)
    server = await started(app)
    news = asyncio.Event()
    connection = server.connect(news.set)
    connection.send(GET)
    came = b""
    while len(came) < 3_000_000:
        await news.wait()
        news.clear()
        piece = connection.take()
        assert len(piece) <= 256 * 1024
        came += piece
    await server.stop()
    assert connection.closed


@on_every_loop
async def test_the_end_of_the_server_is_news():
    app = App()
    server = await started(app)
    news = asyncio.Event()
    connection = server.connect(news.set)
    server.abort()
    assert news.is_set() and connection.closed
    await server.stop()


@on_every_loop
async def test_a_reset_reaches_the_handler():
    app = App()
    seen = asyncio.Event()

    @app.get("/")
    async def wait(request):
        await until(lambda: request.disconnected)
        seen.set()

    server = await started(app)
    connection = server.connect(lambda: None)
    connection.send(GET)
    await until(lambda: server.requests_in_flight)
    connection.reset()
    await asyncio.wait_for(seen.wait(), 5)
    await server.stop()


@on_every_loop
async def test_a_full_server_refuses():
    server = await started(App(), limits=Limits(connections=1))
    first = server.connect(lambda: None)
    second = server.connect(lambda: None)
    await until(lambda: second.closed)
    head, _, body = second.take().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503 ")
    assert b"\r\nRetry-After: 1" in head
    assert b"too many connections" == body
    with pytest.raises(ValueError, match="not an IP address"):
        server.connect(lambda: None, ("localhost", 1))
    first.reset()
    await until(lambda: not server.connections)
    server.connect(lambda: None)
    await server.stop()
