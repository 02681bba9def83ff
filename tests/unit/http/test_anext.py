"""``anext(iterator, default)``: where ``__anext__`` itself raised, it would take old interpreters down."""

from __future__ import annotations

import pytest
import tarmac
from tarmac import App
from tarmac.testing import Client


@pytest.mark.parametrize("stream", [False, True])
def test_the_end_of_a_body_is_the_default(stream):
    app = App()

    @app.post("/", stream=stream)
    async def handler(request):
        pieces = aiter(request.stream())
        return [str(await anext(pieces, None)), str(await anext(pieces, None)), str(await anext(pieces, "none"))]

    with Client(app) as client:
        assert ["b'xyz'", "None", "none"] == client.post("/", data=b"xyz").json()


def test_the_end_of_a_websocket_is_the_default():
    app, seen = App(), []

    @app.websocket("/")
    async def handler(ws):
        await ws.accept()
        messages = aiter(ws)
        seen.extend([await anext(messages, None), await anext(messages, None), await anext(messages, "none")])

    with Client(app) as client, client.websocket("/") as ws:
        ws.send("x")
        ws.close()
    assert ["x", None, "none"] == seen


def test_what_is_wrong_is_raised_when_it_is_awaited():
    app = App()

    @app.websocket("/")
    async def handler(ws):
        first, second = anext(aiter(ws), None), anext(aiter(ws), None)
        with pytest.raises(RuntimeError, match="another"):
            await second
        await ws.send(str(await first))

    with Client(app) as client, client.websocket("/") as ws:
        ws.send("x")
        assert "x" == ws.receive()
    assert issubclass(tarmac.WebSocketClosed, tarmac.TarmacError)
