"""The test client speaks WebSocket, streams, and asks ASGI and WSGI applications too."""

from __future__ import annotations

import asyncio

import flask
import pytest
import tarmac
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route, WebSocketRoute
from support.loops import on_every_loop
from tarmac import App, WebSocketClosed
from tarmac.testing import (
    Answer,
    AnswerHeaders,
    AsyncClient,
    AsyncWebSocket,
    BrokenAnswer,
    Client,
    WebSocketRefused,
)


def talking() -> App:
    app = App()

    @app.websocket("/echo")
    async def echo(ws):
        await ws.accept(subprotocol=ws.subprotocols[-1] if ws.subprotocols else None)
        async for message in ws:
            await ws.send(message)

    @app.websocket("/bye")
    async def bye(ws):
        await ws.accept()
        await ws.close(4001, "enough")

    @app.websocket("/broken")
    async def broken(ws):
        await ws.accept()
        message = "on purpose"
        raise ValueError(message)

    @app.websocket("/no")
    async def no(ws):
        raise tarmac.Forbidden("members only")

    app.get("/plain")(lambda request: "x")
    return app


@pytest.fixture
def client():
    with Client(talking()) as client:
        yield client


def test_messages_come_back(client):
    with client.websocket("/echo", subprotocols=["a", "b"], headers={"X-A": "1"}) as ws:
        assert (101, "b") == (ws.answer.status, ws.subprotocol)
        for message in ("", "hällo", b"", b"\x00\xff", "x" * 125, "x" * 126, b"y" * 65535, b"z" * 70000):
            ws.send(message)
            assert message == ws.receive()
        ws.send_json({"a": ["é"]})
        assert {"a": ["é"]} == ws.receive_json()
        ws.send("text")
        with pytest.raises(TypeError, match="binary message was expected"):
            ws.receive_bytes()
        ws.send(b"binary")
        with pytest.raises(TypeError, match="text message was expected"):
            ws.receive_text()
        ws.ping(b"are you there")
        ws.send_frame(1, b"in ", final=False)
        ws.send_frame(0, b"two parts")
        assert "in two parts" == ws.receive_text()
        assert ws.close_code is None
        ws.close(4000, "done")
        assert 4000 == ws.close_code
        ws.close()


def test_the_server_may_close(client):
    with client.websocket("/bye") as ws:
        with pytest.raises(WebSocketClosed) as closed:
            ws.receive()
        assert (4001, "enough") == (closed.value.code, closed.value.reason) == (ws.close_code, ws.close_reason)
        with pytest.raises(WebSocketClosed):
            ws.receive()


@pytest.mark.parametrize(
    ("path", "status", "text"), [("/no", 403, "members only"), ("/plain", 200, "x"), ("/none", 404, "Not Found")]
)
def test_what_is_no_websocket_says_so(client, path, status, text):
    with pytest.raises(WebSocketRefused) as refused, client.websocket(path):
        pass
    assert (status, text) == (refused.value.answer.status, refused.value.answer.text)


def test_a_defect_of_the_handler_is_raised(client, caplog):
    with pytest.raises(ValueError, match="on purpose"), client.websocket("/broken") as ws:
        ws.receive()
    assert "x" == client.get("/plain").text


def test_an_error_in_the_block_is_the_tests_own(client):
    with pytest.raises(KeyError, match="mine"), client.websocket("/echo"):
        raise KeyError("mine")
    assert "x" == client.get("/plain").text


class Wire:
    """A connection whose server has said something already."""

    closed = False

    def __init__(self, said: bytes) -> None:
        self.said = said
        self.sent = b""

    def send(self, data: bytes) -> None:
        self.sent += data

    async def receive(self) -> bytes:
        piece, self.said = self.said[:3], self.said[3:]
        return piece


def test_pings_are_answered_between_the_parts_of_a_message():
    wire = Wire(b"\x01\x02in" + b"\x89\x02hi" + b"\x8a\x00" + b"\x80\x06 parts" + b"\x88\x05\x0f\xa1bye")
    websocket = AsyncWebSocket(wire, Answer(101, AnswerHeaders([])), lambda: None)

    async def main() -> None:
        assert "in parts" == await websocket.receive()
        head, mask, data = wire.sent[:2], wire.sent[2:6], wire.sent[6:]
        assert (b"\x8a\x82", b"hi") == (head, bytes(one ^ other for one, other in zip(data, mask, strict=False)))
        with pytest.raises(WebSocketClosed, match="4001 bye"):
            await websocket.receive()

    asyncio.run(main())


def test_a_connection_that_breaks_is_an_end_too():
    websocket = AsyncWebSocket(Wire(b"\x81\x05hel"), Answer(101, AnswerHeaders([])), lambda: None)
    with pytest.raises(WebSocketClosed, match="1006"):
        asyncio.run(websocket.receive())


@on_every_loop
async def test_two_at_the_same_time():
    app, inside = App(), []

    @app.websocket("/room")
    async def room(ws):
        await ws.accept()
        inside.append(ws)
        async for message in ws:
            for one in inside:
                await one.send(message)

    async with AsyncClient(app) as client, client.websocket("/room") as first, client.websocket("/room") as second:
        first.send("from first")
        assert ["from first"] * 2 == [await first.receive(), await second.receive()]
        second.send(b"from second")
        assert [b"from second"] * 2 == [await first.receive_bytes(), await second.receive_bytes()]


def streaming() -> App:
    app = App()

    @app.get("/count")
    async def count(request):
        async def numbers():
            for number in range(3):
                yield f"{number}"
                await asyncio.sleep(0)

        return tarmac.stream(numbers())

    @app.get("/broken")
    def broken(request):
        def pieces():
            yield "half"
            message = "on purpose"
            raise ValueError(message)

        return tarmac.stream(pieces())

    @app.post("/upload", stream=True)
    async def upload(request):
        return [len(piece) async for piece in request.stream()]

    return app


def test_an_answer_in_pieces_comes_in_pieces():
    with Client(streaming()) as client:
        with client.stream("GET", "/count") as stream:
            assert (200, "chunked") == (stream.answer.status, stream.answer.headers["transfer-encoding"])
            assert [b"0", b"1", b"2"] == list(stream)
            assert b"" == stream.read()
        assert b"012" == client.get("/count").body


def test_a_defect_in_the_middle_is_raised(caplog):
    with Client(streaming()) as client, pytest.raises(ValueError, match="on purpose"):
        client.get("/broken")
    with Client(streaming(), raise_server_exceptions=False) as client, pytest.raises(BrokenAnswer) as broken:
        client.get("/broken")
    assert broken.value.partial.endswith(b"4\r\nhalf\r\n")


def test_a_body_in_pieces_goes_out_in_pieces():
    with Client(streaming()) as client:
        lengths = client.post("/upload", data=(b"x" * size for size in (5, 50_000, 7))).json()
        assert 50_012 == sum(lengths)


def starlette() -> Starlette:
    async def hello(request):
        return JSONResponse({"hello": request.query_params["name"]})

    async def echo(websocket):
        await websocket.accept()
        await websocket.send_text(await websocket.receive_text())
        await websocket.close()

    async def broken(request):
        message = "on purpose"
        raise ValueError(message)

    return Starlette(routes=[Route("/", hello), Route("/broken", broken), WebSocketRoute("/echo", echo)])


def test_an_asgi_application_is_asked_as_well(caplog):
    with Client(starlette()) as client:
        assert {"hello": "Ann"} == client.get("/", params={"name": "Ann"}).json()
        with client.websocket("/echo") as ws:
            ws.send("x")
            assert "x" == ws.receive()


def test_a_wsgi_application_is_asked_as_well():
    app = flask.Flask("test")
    app.route("/", methods=["POST"])(lambda: {"form": flask.request.form["name"]})
    with Client(app) as client:
        assert {"form": "Ann"} == client.post("/", data={"name": "Ann"}).json()


def test_what_is_no_application_is_refused():
    with pytest.raises(tarmac.ConfigurationError, match="no application"):
        Client(7)
