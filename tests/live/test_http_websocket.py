"""WebSockets as a program sees them, with the library `websockets` at the other end."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import json
import logging
from typing import Any

import pytest
import tarmac
from support.http import served
from support.loops import on_every_loop, until
from tarmac import App, HTTPError, WebSocket, WebSocketClosed
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

pytestmark = pytest.mark.live


@contextlib.asynccontextmanager
async def client_of(app: App, path: str = "/", *, limits: tarmac.Limits | None = None, **options: Any):
    """*app* and one client connected to it."""
    async with (
        served(app, limits=limits) as server,
        connect(f"ws://127.0.0.1:{server.port}{path}", **options) as client,
    ):
        yield client


async def answer_of(handler, **options: Any) -> ClientConnection:
    """Connect to a handler that is the whole site, and wait until it has ended."""
    app = App()
    app.websocket("/")(handler)
    async with client_of(app, **options) as client:
        await client.wait_closed()
        return client


async def refusal_of(handler) -> tuple[int, bytes]:
    """Status and body with which a handler sends a client away."""
    with pytest.raises(InvalidStatus) as refused:
        await answer_of(handler)
    response = refused.value.response
    return response.status_code, bytes(response.body)


def echo_app(**options: Any) -> App:
    app = App()

    @app.websocket("/", **options)
    async def echo(ws: WebSocket) -> None:
        async for message in ws:
            await ws.send(message)

    return app


@on_every_loop
async def test_an_echo_of_text_and_bytes():
    async with client_of(echo_app()) as client:
        for message in ["Hello", "", "κόσμε 😀", b"", b"\x00\xff", "x" * 200, b"y" * 70_000, "z" * 1_000_000]:
            await client.send(message)
            assert message == await client.recv()


@on_every_loop
async def test_fragments_of_a_client_arrive_as_one_message():
    async with client_of(echo_app()) as client:
        await client.send(["one, ", "two, ", "three"])
        assert "one, two, three" == await client.recv()


@on_every_loop
async def test_a_handler_gets_parameters_and_the_request():
    app, seen = App(), []

    @app.websocket("/chat/{room}/{number:int}")
    async def chat(ws, room, number):
        request = ws.request
        seen.append((room, number, request.path, request.query["x"], request.header("Origin"), request.app is app))
        await ws.send_json([room, number])

    async with client_of(app, "/chat/lobby/7?x=1", origin="https://a.example") as client:
        assert ["lobby", 7] == json.loads(await client.recv())
        await client.wait_closed()
    assert [("lobby", 7, "/chat/lobby/7", "1", "https://a.example", True)] == seen


@on_every_loop
async def test_accept_chooses_a_protocol_and_adds_headers():
    async def handler(ws):
        assert ["soup", "chat"] == ws.subprotocols
        assert not ws.accepted
        await ws.accept("chat", headers={"X-Room": "7"})
        assert ws.accepted
        assert "chat" == ws.subprotocol
        with pytest.raises(RuntimeError, match="answered already"):
            ws.accept()

    client = await answer_of(handler, subprotocols=["soup", "chat"])
    assert "chat" == client.subprotocol
    assert "7" == client.response.headers["X-Room"]
    assert 1000 == client.close_code


@on_every_loop
async def test_a_protocol_that_was_not_offered_is_refused():
    async def handler(ws):
        with pytest.raises(ValueError, match='not "other"'):
            ws.accept("other")
        with pytest.raises(ValueError, match="control"):
            ws.accept(headers={"X": "a\r\nb"})
        await ws.accept()

    assert 1000 == (await answer_of(handler, subprotocols=["chat"])).close_code


@on_every_loop
async def test_who_does_not_accept_sends_the_client_away():
    async def silent(ws):
        assert ws.request.method == "GET"

    async def closing(ws):
        await ws.close()
        assert not ws.accepted
        with pytest.raises(WebSocketClosed):
            await ws.receive()

    async def raising(ws):
        raise HTTPError(401, "who are you?")

    async def answering(ws):
        return tarmac.Response("gone", status=410)

    async def broken(ws):
        raise ZeroDivisionError

    assert (403, b"Forbidden") == await refusal_of(silent)
    assert (403, b"Forbidden") == await refusal_of(closing)
    assert (401, b"who are you?") == await refusal_of(raising)
    assert (410, b"gone") == await refusal_of(answering)
    assert 500 == (await refusal_of(broken))[0]


@on_every_loop
async def test_receivers_by_kind():
    results: list[Any] = []

    async def handler(ws):
        results.append(await ws.receive_text())
        results.append(await ws.receive_bytes())
        results.append(await ws.receive_json())
        for receive in (ws.receive_text, ws.receive_bytes, ws.receive_json):
            with pytest.raises(ValueError) as wrong:  # noqa: PT011 - the message is looked at below
                await receive()
            results.append(str(wrong.value).split(" came")[0])

    app = App()
    app.websocket("/")(handler)
    async with client_of(app) as client:
        for message in ["text", b"bytes", '{"a": [1]}', b"not text", "not bytes", "not json"]:
            await client.send(message)
        await client.wait_closed()
    assert ["text", b"bytes", {"a": [1]}, "a binary message", "a text message"] == results[:5]
    assert results[5].startswith("Expecting value")


@on_every_loop
async def test_what_can_be_sent():
    async def handler(ws):
        for message in ("text", b"bytes", bytearray(b"array"), memoryview(b"view")):
            await ws.send(message)
        await ws.send_json({"é": [1, None]})
        with pytest.raises(TypeError, match="not int"):
            ws.send(7)

    app = App()
    app.websocket("/")(handler)
    async with client_of(app) as client:
        got = [await client.recv() for _ in range(5)]
    assert ["text", b"bytes", b"array", b"view", '{"é":[1,null]}'] == got


@on_every_loop
async def test_a_ping_waits_for_its_pong():
    async def handler(ws):
        await asyncio.wait_for(ws.ping(b"there?"), 5)
        with pytest.raises(ValueError, match="125"):
            ws.ping(b"x" * 126)

    assert 1000 == (await answer_of(handler)).close_code


@on_every_loop
async def test_close_tells_code_and_reason():
    ends: list[Any] = []

    async def handler(ws):
        await ws.accept()
        assert (ws.close_code, ws.close_reason) == (None, None)
        await ws.close(4001, "enough")
        ends.append((ws.close_code, ws.close_reason))
        await ws.close(4002, "again")
        with pytest.raises(WebSocketClosed):
            await ws.send("too late")

    client = await answer_of(handler)
    assert (4001, "enough") == (client.close_code, client.close_reason)
    assert [(4001, "enough")] == ends


@on_every_loop
@pytest.mark.parametrize(("code", "reason"), [(1005, ""), (1006, ""), (999, ""), (5000, ""), (1000, "x" * 124)])
async def test_what_may_not_be_sent_is_told(code, reason):
    async def handler(ws):
        await ws.accept()
        with pytest.raises(ValueError, match="close with a code"):
            ws.close(code, reason)

    assert 1000 == (await answer_of(handler)).close_code


@on_every_loop
async def test_the_end_of_the_client_ends_the_iteration_and_raises_elsewhere():
    app, ends = App(), []

    @app.websocket("/iterate")
    async def iterate(ws):
        messages = [message async for message in ws]
        ends.append((messages, ws.close_code, ws.close_reason))

    @app.websocket("/receive")
    async def receive(ws):
        assert "last" == await ws.receive()
        with pytest.raises(WebSocketClosed) as closed:
            await ws.receive()
        ends.append((["last"], closed.value.code, closed.value.reason))

    for path in ("/iterate", "/receive"):
        async with client_of(app, path) as client:
            await client.send("last")
            await client.close(4000, "bye")
            await until(lambda: ends, what="the end of the handler")
            assert [(["last"], 4000, "bye")] == ends
            ends.clear()


@on_every_loop
async def test_messages_that_came_before_the_end_are_still_received():
    app, got, go = App(), [], asyncio.Event()

    @app.websocket("/")
    async def handler(ws):
        await ws.accept()
        await go.wait()
        got.extend([message async for message in ws])

    async with served(app) as server:
        async with connect(f"ws://127.0.0.1:{server.port}/") as client:
            for number in range(50):
                await client.send(str(number))
        await until(lambda: server.connections == 0, what="the end of the connection")
        go.set()
        await until(lambda: got, what="the messages")
    assert [str(number) for number in range(50)] == got


@on_every_loop
async def test_a_defect_closes_with_1011_and_is_logged(caplog):
    async def handler(ws):
        await ws.receive()
        raise ZeroDivisionError("on purpose")

    app = App()
    app.websocket("/")(handler)
    with caplog.at_level(logging.ERROR, "tarmac.http"):
        async with client_of(app) as client:
            await client.send("x")
            await client.wait_closed()
    assert 1011 == client.close_code
    assert ["GET / failed"] == [record.getMessage() for record in caplog.records]


@on_every_loop
async def test_a_handler_that_meets_the_end_is_no_defect(caplog):
    async def handler(ws):
        while True:
            await ws.receive()

    app = App()
    app.websocket("/")(handler)
    async with served(app) as server, connect(f"ws://127.0.0.1:{server.port}/") as client:
        await client.close()
        await until(lambda: server.connections == 0, what="the end")
    assert [] == caplog.records


@on_every_loop
async def test_only_one_task_receives_at_a_time_and_giving_up_loses_nothing():
    seen: list[Any] = []

    async def handler(ws):
        first = asyncio.ensure_future(ws.receive())
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="another task"):
            ws.receive()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(ws.receive(), 0.001)
        await ws.send("go")
        seen.append(await asyncio.wait_for(ws.receive(), 5))

    app = App()
    app.websocket("/")(handler)
    async with client_of(app) as client:
        assert "go" == await client.recv()
        await client.send("kept")
        await client.wait_closed()
    assert ["kept"] == seen


@on_every_loop
async def test_other_tasks_may_send():
    app, members, left = App(), set(), []

    @app.websocket("/")
    async def chat(ws):
        members.add(ws)
        try:
            async for message in ws:
                for member in members:
                    member.send(message)
        finally:
            members.discard(ws)
            left.append(ws)

    async with served(app) as server, contextlib.AsyncExitStack() as stack:
        url = f"ws://127.0.0.1:{server.port}/"
        clients = [await stack.enter_async_context(connect(url)) for _ in range(10)]
        await until(lambda: len(members) == 10, what="ten members")
        await clients[0].send("hello all")
        assert ["hello all"] * 10 == [await client.recv() for client in clients]
        await clients[0].close()
        await until(lambda: left, what="one less")
        gone = left[0].send("nobody waits, so nobody is told")
        with pytest.raises(WebSocketClosed):
            await gone
    assert not members


@on_every_loop
async def test_a_handler_is_a_task_with_a_context_of_its_own():
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="nobody")
    app, tasks = App(), set()

    @app.websocket("/{who}")
    async def handler(ws, who):
        name.set(who)
        tasks.add(asyncio.current_task())
        async for message in ws:
            async with asyncio.timeout(5), asyncio.TaskGroup() as group:
                group.create_task(asyncio.sleep(0))
            await ws.send(f"{message} {name.get()}")

    async with served(app) as server:
        url = f"ws://127.0.0.1:{server.port}"
        async with connect(f"{url}/ann") as ann, connect(f"{url}/bob") as bob:
            for client, who in [(ann, "ann"), (bob, "bob"), (ann, "ann")]:
                await client.send("I am")
                assert f"I am {who}" == await client.recv()
        await until(lambda: all(task.done() for task in tasks), what="the end of the tasks")
    assert 2 == len(tasks)
