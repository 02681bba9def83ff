"""What becomes of exceptions, over a socket."""

from __future__ import annotations

import asyncio

import pytest
import tarmac
from support.http import Wire, connected, request, served
from support.loops import on_every_loop, until
from tarmac import App, HTTPError, NotFound

pytestmark = pytest.mark.live


def failing(app: App, error: BaseException) -> None:
    """Add handlers of every kind that raise *error*."""

    @app.get("/sync")
    def plain(request):
        raise error

    @app.get("/eager")
    async def eager(request):
        raise error

    @app.get("/late")
    async def late(request):
        await asyncio.sleep(0)
        raise error

    @app.get("/thread", blocking=True)
    def blocking(request):
        raise error


PATHS = ("/sync", "/eager", "/late", "/thread")


@on_every_loop
async def test_an_http_error_is_answered_with_its_status():
    app = App()
    failing(app, HTTPError(418, "teapot", headers={"X-Tea": "green"}))
    async with connected(app) as wire:
        for path in PATHS:
            answer = await wire.get(path)
            assert (418, b"teapot", "green") == (answer.status, answer.body, answer.header("X-Tea"))


@on_every_loop
async def test_a_defect_is_a_500_that_tells_nothing(caplog):
    app = App()
    failing(app, ZeroDivisionError("secret"))
    async with connected(app) as wire:
        for path in PATHS:
            answer = await wire.get(path)
            assert (500, b"Internal Server Error") == (answer.status, answer.body)
    assert [f"GET {path} failed" for path in PATHS] == [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize("asynchronous", [False, True])
@on_every_loop
async def test_the_programs_own_error_handlers_answer(asynchronous):
    app = App()
    failing(app, KeyError("x"))

    if asynchronous:

        @app.error(LookupError)
        async def lookup(request, error):
            await asyncio.sleep(0)
            return {"missing": error.args[0]}, 404

        @app.error(404)
        async def missing(request, error):
            await asyncio.sleep(0)
            return f"nothing at {request.path}", 404

    else:

        @app.error(LookupError)
        def lookup(request, error):
            return {"missing": error.args[0]}, 404

        @app.error(404)
        def missing(request, error):
            return f"nothing at {request.path}", 404

    async with connected(app) as wire:
        for path in PATHS:
            answer = await wire.get(path)
            assert (404, b'{"missing":"x"}') == (answer.status, answer.body)
        answer = await wire.get("/nowhere")
        assert (404, b"nothing at /nowhere") == (answer.status, answer.body)


@on_every_loop
async def test_a_cancelled_handler_is_a_503():
    app = App()

    @app.get("/self")
    async def cancels_itself(request):
        asyncio.current_task().cancel()
        await asyncio.sleep(1)

    @app.get("/raise")
    async def raises(request):
        raise asyncio.CancelledError

    async with connected(app) as wire:
        assert 503 == (await wire.get("/self")).status
        assert 503 == (await wire.get("/raise")).status


@on_every_loop
async def test_middleware_sees_responses_errors_and_404():
    app, seen = App(), []

    @app.middleware
    async def outer(request, call_next):
        seen.append("outer in")
        response = await call_next(request)
        seen.append(f"outer out {response.status}")
        response.set_header("X-Outer", "1")
        return response

    @app.middleware
    async def inner(request, call_next):
        seen.append("inner in")
        try:
            return await call_next(request)
        except ZeroDivisionError:
            return tarmac.text("caught", status=599)

    app.get("/plain")(lambda request: "x")
    app.get("/defect")(lambda request: 1 / 0)

    @app.get("/missing")
    async def missing(request):
        raise NotFound

    async with connected(app) as wire:
        for path, status in {"/plain": 200, "/defect": 599, "/missing": 404, "/nowhere": 404}.items():
            answer = await wire.get(path)
            assert (status, "1") == (answer.status, answer.header("X-Outer")), path
            assert ["outer in", "inner in", f"outer out {status}"] == seen
            seen.clear()


@on_every_loop
async def test_middleware_may_answer_by_itself():
    app = App()

    @app.middleware
    async def closed(request, call_next):
        return "closed", 403

    app.get("/")(lambda request: "open")
    async with connected(app) as wire:
        assert (403, b"closed") == ((answer := await wire.get("/")).status, answer.body)


@on_every_loop
async def test_without_middleware_the_endpoint_is_called_as_it_is():
    app = App()

    @app.get("/")
    def endpoint(request):
        return "x"

    found = app.native_router().match("GET", "/")
    assert isinstance(found, tuple) and found[0] is endpoint


@on_every_loop
async def test_a_client_that_leaves_harms_nobody():
    app, finished = App(), asyncio.Event()

    @app.get("/slow")
    async def slow(request):
        while not request.disconnected:  # noqa: ASYNC110 - that it changes is the claim
            await asyncio.sleep(0.001)
        finished.set()
        return "to nobody"

    app.get("/")(lambda request: "alive")
    async with served(app) as server:
        async with Wire(server.port) as wire:
            wire.send(request("/slow"))
            await until(lambda: server.requests_in_flight == 1)
            wire.reset()
        async with asyncio.timeout(5):
            await finished.wait()
        async with Wire(server.port) as wire:
            assert b"alive" == (await wire.get("/")).body
