"""What handlers tie into cycles is collected, and a server that has stopped holds nothing any more."""

from __future__ import annotations

import asyncio
import gc
import weakref

import pytest
import tarmac
from support.http import Wire, connected, request
from support.loops import on_every_loop, until
from support.websocket import TEXT, frame, goodbye, opened, received
from tarmac import App, Response
from tarmac.hosting import Hosted

pytestmark = pytest.mark.live


class Witness:
    """Lives as long as what holds it."""


def tie_state(request, witness):
    request.state.witness, request.state.me = witness, request
    return "x"


def tie_headers(request, witness):
    request.state.witness, request.state.headers = witness, request.headers
    return "x"


def tie_stream(request, witness):
    request.state.witness, request.state.stream = witness, request.stream()
    return "x"


def tie_writer(request, witness):
    writer = request.start(200, length=1)
    request.state.witness, request.state.writer = witness, writer
    writer.write("x")
    writer.end()


def tie_background(request, witness):
    response = Response("x")
    response.background = lambda: (response, witness, request)
    request.state.response = response
    return response


class Own(Response):
    """One that has attributes."""


def tie_response_headers(request, witness):
    response = Own("x")
    response.witness, response.own = witness, response.headers
    return response


TIES = [tie_state, tie_headers, tie_stream, tie_writer, tie_background, tie_response_headers]


async def gone(seen: list[weakref.ref]) -> None:
    """Wait until everything seen, which there has to be, is collected."""
    assert seen

    def are_gone() -> bool:
        gc.collect()
        return not any(one() for one in seen)

    await until(are_gone, what="the collector")


@pytest.mark.parametrize("way", ["plain", "asynchronous", "suspended"])
@pytest.mark.parametrize("tie", TIES, ids=lambda tie: tie.__name__)
@on_every_loop
async def test_a_cycle_is_collected(tie, way):
    app, seen = App(), []

    def tied(request):
        witness = Witness()
        seen.append(weakref.ref(witness))
        return tie(request, witness)

    async def asynchronous(request):
        return tied(request)

    async def suspended(request):
        await asyncio.sleep(0)
        return tied(request)

    app.get("/")({"plain": tied, "asynchronous": asynchronous, "suspended": suspended}[way])
    async with connected(app) as wire:
        assert b"x" == (await wire.get("/")).body
        await gone(seen)


@pytest.mark.parametrize("tasks", ["light", "plain"])
@pytest.mark.parametrize("end", ["returns", "raises", "suspended"])
@on_every_loop
async def test_a_task_in_its_own_request_is_collected(tasks, end):
    app, seen = App(), []

    @app.get("/")
    async def handler(request):
        task = asyncio.current_task()
        seen.append(weakref.ref(task))
        request.state.task = task
        if end == "suspended":
            await asyncio.sleep(0)
        if end == "raises":
            raise tarmac.NotFound
        return "x"

    async with connected(app, tasks=tasks) as wire:
        await wire.get("/")
        await gone(seen)


@on_every_loop
async def test_a_form_that_leads_back_is_collected():
    app, seen = App(), []

    @app.post("/")
    async def handler(request):
        form = await request.form()
        witness = Witness()
        seen.append(weakref.ref(witness))
        form["tied"] = witness, request
        return "x"

    async with connected(app) as wire:
        kind = "Content-Type: multipart/form-data; boundary=b\r\n"
        body = b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--b--\r\n'
        assert b"x" == (await wire.get("/", method="POST", headers=kind, body=body)).body
        await gone(seen)


@on_every_loop
async def test_a_socket_in_its_own_request_is_collected():
    app, seen = App(), []

    @app.websocket("/")
    async def talk(socket):
        witness = Witness()
        seen.append(weakref.ref(witness))
        socket.request.state.socket, socket.request.state.witness = socket, witness
        async for message in socket:
            await socket.send(message)

    async with connected(app) as wire:
        await opened(wire)
        wire.send(frame(TEXT, "x"))
        assert (TEXT, b"x") == await received(wire)
        wire.send(goodbye())
        await received(wire)
        await gone(seen)


@on_every_loop
async def test_an_awaitable_that_failed_in_the_frame_that_awaited_it_is_collected():
    seen = []

    async def application(scope, receive, send):
        if scope["type"] != "http":
            raise NotImplementedError
        witness = Witness()
        seen.append(weakref.ref(witness))
        wrong = send({"type": "nonsense"})
        try:
            await wrong
        except RuntimeError as error:
            kept = error  # noqa: F841 - the frame holds what holds the frame
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b"x"})

    async with connected(application) as wire:
        await wire.get("/")
        await gone(seen)


@on_every_loop
async def test_only_requests_that_may_be_in_a_cycle_are_shown_to_the_collector():
    app, shown = App(), []

    @app.get("/plain")
    def plain(request):
        shown.append(gc.is_tracked(request))
        return "x"

    @app.get("/tied")
    def tied(request):
        state = request.state
        assert state is request.state
        shown.append(gc.is_tracked(request))
        return "x"

    async with connected(app) as wire:
        for path in ("/plain", "/tied", "/plain", "/tied"):
            await wire.get(path)
        gc.collect()  # what other tests left behind
        found = [one for one in gc.get_objects() if type(one) is tarmac.Request]
    assert [False, True, False, True] == shown
    assert [] == found, "one that waits for its next exchange must not be found"


def site(kind: str) -> App:
    """One that has a use for all that a server is given."""
    app = App()
    if kind == "hosted":

        async def application(scope, receive, send):
            assert app is not None  # the application holds itself
            if scope["type"] == "http":
                await send({"type": "http.response.start", "status": 200})
                await send({"type": "http.response.body", "body": b"x"})

        app = Hosted(application)
    app.error(ValueError)(lambda request, error: app.state)
    app.state.app = app
    app.get("/sync")(lambda request: app.state.word)

    @app.get("/light")
    async def light(request):
        return app.state.word

    @app.get("/suspended")
    async def suspended(request):
        await asyncio.sleep(0)
        return app.state.word

    @app.websocket("/socket")
    async def talk(socket):
        async for message in socket:
            await socket.send(app.state.word + message)

    app.state.word = "x"
    return app


@pytest.mark.parametrize("kind", ["sync", "light", "suspended", "hosted", "socket"])
@on_every_loop
async def test_a_stopped_server_lets_its_application_go(kind):
    app = site(kind)
    held = weakref.ref(app)
    server = await tarmac.serve(app, port=0)
    async with Wire(server.port) as wire:
        if kind == "socket":
            await opened(wire, "/socket")
        else:
            assert b"x" == (await wire.get(f"/{kind}")).body
        del app
        gc.collect()
        assert held(), "it is served"
        await server.stop()
    del server
    await gone([held])


@on_every_loop
async def test_so_does_one_that_its_own_handler_stops_when_that_has_answered():
    app, go_on = site("sync"), asyncio.Event()
    held = weakref.ref(app)

    @app.get("/stop")
    async def stop(request):
        await request.app.state.server.stop()
        gc.collect()
        assert held(), "it is answering"
        await go_on.wait()
        return "stopped"

    server = app.state.server = await tarmac.serve(app, port=0)
    async with Wire(server.port) as wire:
        wire.send(request("/stop"))
        await until(lambda: not held().life.running)
        go_on.set()
        assert b"stopped" == (await wire.answer()).body
        assert await wire.ended()
    del app, server, stop
    await gone([held])


@on_every_loop
async def test_another_server_of_the_same_loop_goes_on():
    first, second = site("sync"), site("sync")
    held = weakref.ref(first)
    other = await tarmac.serve(second, port=0)
    server = await tarmac.serve(first, port=0)
    async with Wire(other.port) as wire, Wire(server.port) as lost:
        assert b"x" == (await lost.get("/sync")).body
        await server.stop()
        del first, server
        await gone([held])
        assert b"x" == (await wire.get("/sync")).body
    await other.stop()
