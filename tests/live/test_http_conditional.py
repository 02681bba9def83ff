"""Answers that are made have versions and conditions as files have."""

from __future__ import annotations

import pytest
import tarmac
from support.http import connected
from support.loops import on_every_loop
from tarmac import App

pytestmark = pytest.mark.live


@on_every_loop
async def test_what_the_client_has_is_not_sent_again():
    app = App()
    app.get("/")(lambda request: tarmac.conditional(request, {"a": 1}))
    async with connected(app) as wire:
        first = await wire.get("/")
        again = await wire.get("/", headers=f"If-None-Match: {first.header('ETag')}\r\n")
    assert (200, b'{"a":1}') == (first.status, first.body)
    assert (304, b"", first.header("ETag")) == (again.status, again.body, again.header("ETag"))


@on_every_loop
async def test_an_update_is_lost_to_nobody():
    """Two clients read version 1; the second one to write is told that there is another version."""
    app = App()
    app.state.version, app.state.text = 1, "first"

    @app.get("/")
    def read(request):
        return tarmac.conditional(request, app.state.text, etag=str(app.state.version))

    @app.put("/")
    async def write(request):
        text = await request.text()

        def change():
            app.state.version, app.state.text = app.state.version + 1, text

        return tarmac.conditional(request, change, etag=str(app.state.version))

    async with connected(app) as wire:
        tag = (await wire.get("/")).header("ETag")
        answers = [
            await wire.get("/", method="PUT", headers=f"If-Match: {tag}\r\n", body=text) for text in (b"mine", b"yours")
        ]
        assert [(204, None), (412, '"2"')] == [(one.status, one.header("ETag")) for one in answers]
        assert b"mine" == (await wire.get("/")).body
