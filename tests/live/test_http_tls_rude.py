"""Rude clients over TLS, and everything else that a connection may become: nothing of it is special to TLS."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import ssl

import pytest
import websockets
from support.certificates import Authority
from support.http import request, served
from support.loops import on_every_loop, until
from support.tls_talk import Talk
from tarmac import TLS, App, stream
from tarmac.hosting import Hosted

pytestmark = pytest.mark.live

SEED = 20_260_822


@pytest.fixture
def authority(tmp_path) -> Authority:
    return Authority(tmp_path)


def site() -> App:
    app = App()
    app.get("/{name}")(lambda request, name: name)
    app.post("/")(lambda request: request.content)

    @app.get("/stream/{count:int}")
    async def pieces(request, count):
        async def produce():
            for number in range(count):
                yield f"{number:08d}" * 1000

        return stream(produce())

    @app.post("/upload", stream=True)
    async def upload(request):
        size = 0
        async for piece in request.stream():
            size += len(piece)
        return str(size)

    @app.websocket("/echo")
    async def echo(ws):
        await ws.accept()
        async for message in ws:
            await ws.send(message)

    return app


async def visit(port: int, context: ssl.SSLContext, dice: random.Random) -> bytes:
    """A conversation that is cut or changed somewhere; gives what was said after the handshake."""
    with socket.create_connection(("127.0.0.1", port)) as plain:
        plain.settimeout(0)
        talk = Talk(plain, context)
        manner = dice.choice(["polite", "cut", "flip", "insert", "reset"])
        if dice.random() < 0.3:
            # Something goes wrong in the handshake already.
            with contextlib.suppress(ssl.SSLWantReadError):
                talk.object.do_handshake()
            await talk.send(changed(talk.outgoing.read(), manner, dice))
            return b""
        await talk.shake_hands(piece=dice.choice([1, 100, 10_000]))
        for number in range(dice.randrange(1, 8)):
            talk.object.write(request(f"/{number}"))
        talk.object.write(request("/last", headers="Connection: close\r\n"))
        await talk.send(changed(talk.outgoing.read(), manner, dice))
        if manner == "reset":
            return b""
        if manner != "polite":
            plain.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ssl.SSLError):
            return await talk.read_all()
        return b""


def changed(data: bytes, manner: str, dice: random.Random) -> bytes:
    at = dice.randrange(len(data))
    if manner in {"cut", "reset"}:
        return data[:at]
    if manner == "flip":
        return data[:at] + bytes([data[at] ^ dice.randrange(1, 256)]) + data[at + 1 :]
    if manner == "insert":
        return data[:at] + dice.randbytes(dice.randrange(1, 50)) + data[at:]
    return data


@on_every_loop
async def test_whatever_happens_to_the_bytes_nobody_else_notices(authority):
    dice = random.Random(SEED)
    context = authority.client()
    async with served(site(), tls=TLS(*authority.issue("a.example"))) as server:
        whole = 0
        for _ in range(15):
            visits = (visit(server.port, context, random.Random(dice.random())) for _ in range(10))
            for said in await asyncio.gather(*visits, return_exceptions=True):
                if isinstance(said, OSError):
                    continue
                assert isinstance(said, bytes), said
                # What is answered is answered rightly, whatever came after it.
                assert said.count(b"HTTP/1.1 200 ") == said.count(b"HTTP/1.1 ")
                whole += said.endswith(b"last")
        assert whole > 10
        await until(lambda: server.connections == 0)


@on_every_loop
async def test_streams_and_uploads_go_over_tls(authority):
    async with served(site(), tls=TLS(*authority.issue("a.example"))) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as plain:
            plain.settimeout(0)
            talk = Talk(plain, authority.client())
            await talk.shake_hands()
            talk.object.write(request("/upload", method="POST", body=b"x" * 3_000_000))
            await talk.flush()
            talk.object.write(request("/stream/300", headers="Connection: close\r\n"))
            await talk.flush()
            said = await talk.read_all()
        first, _, second = said.partition(b"HTTP/1.1 200 OK\r\n")[2].partition(b"HTTP/1.1 200 OK\r\n")
        assert first.endswith(b"\r\n\r\n3000000")
        body = second.partition(b"\r\n\r\n")[2]
        assert body.count(b"00000299") == 1000
        assert body.endswith(b"0\r\n\r\n")


@on_every_loop
async def test_a_websocket_goes_over_tls(authority):
    async with served(site(), tls=TLS(*authority.issue("a.example"))) as server:
        url = f"wss://127.0.0.1:{server.port}/echo"
        async with websockets.connect(url, ssl=authority.client(), server_hostname="a.example") as ws:
            for message in ("hello", b"\x00" * 300_000):
                await ws.send(message)
                assert message == await asyncio.wait_for(ws.recv(), 5)
        await until(lambda: server.connections == 0)


@on_every_loop
async def test_hosted_applications_are_told_the_scheme(authority):
    schemes = []

    async def hosted(scope, receive, send):
        schemes.append((scope["type"], scope["scheme"]))
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"hosted"})
        else:
            await receive()
            await send({"type": "websocket.accept"})
            await send({"type": "websocket.close"})

    async with served(Hosted(hosted, lifespan="off"), tls=TLS(*authority.issue("a.example"))) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as plain:
            plain.settimeout(0)
            talk = Talk(plain, authority.client())
            await talk.shake_hands()
            talk.object.write(request("/", headers="Connection: close\r\n"))
            await talk.flush()
            assert (await talk.read_all()).endswith(b"hosted")
        url = f"wss://127.0.0.1:{server.port}/"
        async with websockets.connect(url, ssl=authority.client(), server_hostname="a.example") as ws:
            await asyncio.wait_for(ws.wait_closed(), 5)
    assert [("http", "https"), ("websocket", "wss")] == schemes
