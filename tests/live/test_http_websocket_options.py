"""What a route can say of its WebSockets: compression, limits, origins, where it stands."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
import tarmac
from support.http import served
from support.loops import on_every_loop
from tarmac import App, WebSocket
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

pytestmark = pytest.mark.live


@contextlib.asynccontextmanager
async def client_of(app: App, path: str = "/", *, limits: tarmac.Limits | None = None, **options: Any):
    """*app* and one client connected to it."""
    async with (
        served(app, limits=limits) as server,
        connect(f"ws://127.0.0.1:{server.port}{path}", **options) as client,
    ):
        yield client


def echo_app(**options: Any) -> App:
    app = App()

    @app.websocket("/", **options)
    async def echo(ws: WebSocket) -> None:
        async for message in ws:
            await ws.send(message)

    return app


@on_every_loop
async def test_compression_is_agreed_on_and_can_be_declined():
    text = json.dumps([{"name": "visitor", "number": number} for number in range(200)])
    for options, expected in (({}, True), ({"compress": False}, False)):
        async with client_of(echo_app(**options)) as client:
            assert expected is ("Sec-WebSocket-Extensions" in client.response.headers)
            for _ in range(3):
                await client.send(text)
                assert text == await client.recv()


@on_every_loop
@pytest.mark.parametrize("limit", [10, 1000])
async def test_the_limit_of_a_message_counts_after_decompression(limit):
    async with client_of(echo_app(message_bytes=limit)) as client:
        await client.send(b"x" * limit)
        assert b"x" * limit == await client.recv()
        await client.send(b"x" * (limit + 1))
        with pytest.raises(ConnectionClosed):
            await client.recv()
        assert 1009 == client.close_code


@on_every_loop
async def test_the_servers_limit_holds_where_the_route_says_nothing():
    async with client_of(echo_app(), limits=tarmac.Limits(ws_message_bytes=20)) as client:
        await client.send("x" * 20)
        assert "x" * 20 == await client.recv()
        await client.send("x" * 21)
        await client.wait_closed()
    assert 1009 == client.close_code


@on_every_loop
async def test_origins():
    async def status(app: App, origin: str | None) -> int:
        with contextlib.suppress(InvalidStatus):
            async with client_of(app, origin=origin) as client:
                return client.response.status_code
        return 403

    listed = echo_app(origins=["https://a.example"])
    assert [101, 101, 403] == [await status(listed, one) for one in ("https://a.example", None, "https://b.example")]
    async with served(echo_app(origins=["same"])) as server:
        site = f"127.0.0.1:{server.port}"
        async with connect(f"ws://{site}/", origin=f"http://{site}"):
            pass
        with pytest.raises(InvalidStatus):
            await connect(f"ws://{site}/", origin="http://elsewhere.example")


@on_every_loop
async def test_routers_carry_websockets_too():
    app, part = App(), tarmac.Router(prefix="/part")
    app.include(part, prefix="/v1")

    @part.websocket("/{x}", name="ear")
    async def handler(ws, x):
        await ws.send(x)

    assert "/v1/part/me" == app.url_for("ear", x="me")
    async with client_of(app, "/v1/part/me") as client:
        assert "me" == await client.recv()


def test_a_plain_function_is_no_handler_of_websockets():
    with pytest.raises(tarmac.ConfigurationError, match="async function"):
        App().websocket("/")(lambda ws: None)
    with pytest.raises(tarmac.ConfigurationError, match="slash"):
        App().websocket("x")(_nothing)
    app = App()
    app.get("/")(lambda request: "")
    with pytest.raises(tarmac.ConfigurationError, match="answered already"):
        app.websocket("/")(_nothing)


async def _nothing(ws: WebSocket) -> None: ...
