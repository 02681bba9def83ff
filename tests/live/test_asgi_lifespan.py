"""The lifespan of hosted ASGI applications: start-up, state, shutdown, and applications that know none."""

from __future__ import annotations

import asyncio
import logging

import pytest
import tarmac
from support.http import connected, served
from support.loops import on_every_loop
from tarmac.asgi import StartupFailed
from tarmac.hosting import Hosted

pytestmark = pytest.mark.live


class Application:
    """Notes what it is told, and does in its lifespan what a test wants."""

    def __init__(self, lifespan) -> None:
        self.notes = []
        self._lifespan = lifespan

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(self, scope, receive, send)
            return
        self.notes.append(("request", scope.get("state")))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x"})


async def whole(app, scope, receive, send):
    app.notes.append((await receive())["type"])
    scope["state"]["pool"] = "a pool"
    await send({"type": "lifespan.startup.complete"})
    app.notes.append((await receive())["type"])
    await send({"type": "lifespan.shutdown.complete"})
    await asyncio.sleep(0)
    app.notes.append("ended")


@on_every_loop
async def test_it_surrounds_the_requests_and_its_state_is_theirs():
    app = Application(whole)
    async with connected(Hosted(app)) as wire:
        assert ["lifespan.startup"] == app.notes
        assert 200 == (await wire.get("/")).status
    assert ["lifespan.startup", ("request", {"pool": "a pool"}), "lifespan.shutdown", "ended"] == app.notes


@on_every_loop
async def test_an_application_that_knows_none_is_served_without():
    async def unknown(app, scope, receive, send):
        raise KeyError("type")

    app = Application(unknown)
    async with connected(Hosted(app)) as wire:
        assert 200 == (await wire.get("/")).status
    assert [("request", {})] == app.notes


@on_every_loop
async def test_an_application_that_returns_at_once_is_served_without():
    async def quiet(app, scope, receive, send):
        return

    async with connected(Hosted(Application(quiet))) as wire:
        assert 200 == (await wire.get("/")).status


@on_every_loop
async def test_nobody_is_asked_when_it_is_off():
    app = Application(whole)
    async with connected(Hosted(app, lifespan="off")) as wire:
        assert 200 == (await wire.get("/")).status
    assert [("request", {})] == app.notes


@on_every_loop
async def test_a_start_up_that_failed_ends_the_start_with_its_message():
    async def failing(app, scope, receive, send):
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "no database"})

    with pytest.raises(StartupFailed, match="no database"):
        await tarmac.serve(Hosted(Application(failing)), port=0)


@on_every_loop
async def test_with_on_an_exception_is_a_failure():
    async def failing(app, scope, receive, send):
        await receive()
        raise OSError("no disk")

    with pytest.raises(StartupFailed) as raised:
        await tarmac.serve(Hosted(Application(failing), lifespan="on"), port=0)
    assert isinstance(raised.value.__cause__, OSError)


@pytest.mark.parametrize("with_event", [True, False])
def test_a_shutdown_that_fails_is_logged(with_event, caplog):
    async def failing(app, scope, receive, send):
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        if not with_event:
            raise OSError("no disk")
        await send({"type": "lifespan.shutdown.failed", "message": "no disk"})

    async def serve():
        async with served(Hosted(Application(failing))):
            pass

    with caplog.at_level(logging.ERROR, "tarmac.asgi"):
        asyncio.run(serve())
    assert "no disk" in caplog.text


@on_every_loop
async def test_events_out_of_turn_are_refused():
    refused = []

    async def confused(app, scope, receive, send):
        for kind in ("lifespan.shutdown.complete", "http.response.start"):
            try:
                await send({"type": kind})
            except RuntimeError as error:
                refused.append(str(error))
        await whole(app, scope, receive, send)

    async with served(Hosted(Application(confused))):
        pass
    assert 2 == len(refused)
    assert all("during startup" in text for text in refused)
