"""What stands around handlers: the order of things, and that nothing gets past it."""

from __future__ import annotations

import asyncio

import pytest
import tarmac
from support.http import connected
from support.loops import on_every_loop
from tarmac import App, Response, Router

pytestmark = pytest.mark.live


def marked(app: App | Router, mark: str):
    async def mark_it(request, call_next):
        response = await call_next(request)
        response.headers.append("X-Mark", mark)
        return response

    app.add_middleware(mark_it)


@on_every_loop
async def test_404_405_and_options_pass_through_it():
    app = App()
    marked(app, "outer")
    app.get("/x")(lambda request: "x")
    app.post("/x")(lambda request: "posted")
    async with connected(app) as wire:
        for method, path, status, allow in [
            ("GET", "/x", 200, None),
            ("HEAD", "/x", 200, None),
            ("GET", "/none", 404, None),
            ("OPTIONS", "/none", 404, None),
            ("PUT", "/x", 405, "GET, POST, HEAD, OPTIONS"),
            ("OPTIONS", "/x", 204, "GET, POST, HEAD, OPTIONS"),
            ("OPTIONS", "*", 204, "GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE"),
        ]:
            answer = await wire.get(path, method=method)
            told = (answer.status, answer.header("Allow"), answer.header("X-Mark"))
            assert (status, allow, "outer") == told, (method, path)


@on_every_loop
async def test_an_error_handler_answers_for_405():
    app = App()
    app.get("/x")(lambda request: "x")

    @app.error(405)
    def other_method(request, error):
        return {"allowed": request.allow}, 405

    async with connected(app) as wire:
        answer = await wire.get("/x", method="PUT")
        assert (405, b'{"allowed":"GET, HEAD, OPTIONS"}') == (answer.status, answer.body)
        assert "GET, HEAD, OPTIONS" == (await wire.get("/x", method="OPTIONS")).header("Allow")
        assert 404 == (await wire.get("/none")).status


@on_every_loop
async def test_the_first_one_added_is_the_outermost():
    app, part = App(), Router(prefix="/part")
    for mark in ("a", "b"):
        marked(app, mark)
    marked(part, "c")

    class Mark:
        async def __call__(self, request, call_next) -> object:
            response = await call_next(request)
            response.headers.append("X-Mark", "d")
            return response

    part.get("/", middleware=[Mark()])(lambda request: "x")
    part.get("/other")(lambda request: "x")
    app.include(part)
    async with connected(app) as wire:
        assert ["d", "c", "b", "a"] == (await wire.get("/part/")).all("X-Mark")
        assert ["c", "b", "a"] == (await wire.get("/part/other")).all("X-Mark")


@on_every_loop
async def test_a_route_has_a_time_limit_of_its_own():
    app = App()
    ended = []

    @app.get("/slow", timeout=0.03)
    async def slow(request):
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(request.path)

    @app.get("/quick", timeout=5)
    async def quick(request):
        await asyncio.sleep(0)
        return "in time"

    @app.get("/own", timeout=5)
    async def own(request):
        raise TimeoutError

    app.get("/none")(lambda request: request.path)
    async with connected(app) as wire:
        answer = await wire.get("/slow")
        assert (503, b"The answer took too long.") == (answer.status, answer.body)
        assert ["/slow"] == ended
        assert b"in time" == (await wire.get("/quick")).body
        assert 500 == (await wire.get("/own")).status, "a TimeoutError of the handler's own is a defect"


@on_every_loop
async def test_what_a_proxy_knows_can_be_told():
    app = App()

    @app.middleware
    async def proxy(request, call_next):
        assert ("http", "test") == (request.scheme, request.host)
        request.override(client=("192.0.2.7", 0), scheme="https")
        request.override(host="example.org")
        with pytest.raises(ValueError, match="not http"):
            request.override(scheme="gopher")
        return await call_next(request)

    @app.get("/")
    def seen(request):
        return [request.client, request.scheme, request.host, request.header("host")]

    async with connected(app) as wire:
        for _ in range(2):
            assert b'[["192.0.2.7",0],"https","example.org","test"]' == (await wire.get("/")).body


@on_every_loop
async def test_a_streamed_answer_passes_through_it():
    app = App()
    marked(app, "outer")

    @app.get("/")
    def pieces(request):
        return tarmac.stream(["a", "b"], content_type="text/plain")

    async with connected(app) as wire:
        wire.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert b"X-Mark: outer\r\n" in (text := await wire.rest())
        assert text.endswith(b"\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n")


@on_every_loop
async def test_an_answer_can_be_replaced():
    app = App()

    @app.middleware
    async def replace(request, call_next):
        await call_next(request)
        return Response("other", status=203)

    app.get("/")(lambda request: "x")
    async with connected(app) as wire:
        assert (203, b"other") == ((answer := await wire.get("/")).status, answer.body)
