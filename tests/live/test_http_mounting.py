"""Applications below a prefix: of tarmac with all that is theirs, ASGI and WSGI as handlers."""

from __future__ import annotations

import asyncio

import flask
import pytest
import tarmac
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route
from support.loops import on_every_loop, until
from tarmac import App, ConfigurationError
from tarmac.middleware import Compression
from tarmac.testing import AsyncClient, BrokenAnswer, Client

pytestmark = pytest.mark.live


def marked(mark: str):
    async def mark_it(request, call_next):
        response = await call_next(request)
        response.headers.append("X-Mark", mark)
        return response

    return mark_it


def inner(seen: list[str]) -> App:
    app = App()
    app.add_middleware(marked("inner"))
    app.on_startup(lambda: seen.append("up"))
    app.on_shutdown(lambda: seen.append("down"))

    @app.get("/thing/{number:int}")
    def thing(request, number):
        return [number, request.path]

    @app.get("/fails/{kind}")
    def fails(request, kind):
        raise {"key": KeyError, "value": ValueError, "missing": tarmac.NotFound}[kind]

    @app.error(KeyError)
    def known(request, error):
        return "answered inside", 409

    @app.error(404)
    def missing(request, error):
        return "missing inside", 404

    return app


def test_an_application_brings_all_that_is_its_own():
    app, seen = App(), []
    app.add_middleware(marked("outer"))
    app.mount("/inner", inner(seen))

    @app.error(ValueError)
    def value(request, error):
        return "answered outside", 418

    app.get("/own")(lambda request: "own")
    with Client(app) as client:
        assert ["up"] == seen
        answer = client.get("/inner/thing/7")
        assert ([7, "/inner/thing/7"], ["inner", "outer"]) == (answer.json(), answer.headers.get_all("x-mark"))
        for kind, status, text in [
            ("key", 409, "answered inside"),
            ("missing", 404, "missing inside"),
            ("value", 418, "answered outside"),
        ]:
            assert (status, text) == ((answer := client.get(f"/inner/fails/{kind}")).status, answer.text)
        assert ["outer"] == client.get("/own").headers.get_all("x-mark")
        assert 404 == client.get("/thing/7").status
    assert ["up", "down"] == seen


def starlette(seen: list[str]) -> Starlette:
    async def show(request):
        return PlainTextResponse(
            f"{request.scope['root_path']} {request.url.path} {request.query_params.get('q')} {request.client.host}"
        )

    async def echo(request):
        response = PlainTextResponse(await request.body(), status_code=201)
        response.set_cookie("a", "1")
        response.set_cookie("b", "2")
        return response

    async def count(request):
        async def pieces():
            try:
                for number in range(3):
                    yield f"{number}"
                    await asyncio.sleep(0)
                if "wait" in request.query_params:
                    await asyncio.Event().wait()
                if "break" in request.query_params:
                    raise ValueError("in the middle")
            finally:
                seen.append("closed")

        return StreamingResponse(pieces(), media_type="text/plain")

    async def defect(request):
        raise ValueError("before the answer")

    return Starlette(
        routes=[
            Route("/", show),
            Route("/show", show),
            Route("/echo", echo, methods=["POST"]),
            Route("/count", count),
            Route("/defect", defect),
        ],
    )


@pytest.fixture
def seen() -> list[str]:
    return []


@pytest.fixture
def client(seen):
    app = App()
    app.add_middleware(marked("outer"))
    app.add_middleware(Compression(minimum=0))
    app.mount("/asgi", starlette(seen))
    app.get("/asgi/own")(lambda request: "own")
    with Client(app) as client:
        yield client


def test_an_asgi_application_answers_below_its_prefix(client):
    assert "/asgi /asgi/show ä 127.0.0.1" == client.get("/asgi/show", params={"q": "ä"}).text
    assert "/asgi /asgi/ None 127.0.0.1" == client.get("/asgi/").text
    assert (404, "Not Found") == ((answer := client.get("/asgi/none")).status, answer.text)
    assert (405, "GET, HEAD") == (
        (answer := client.put("/asgi/show")).status,
        ", ".join(sorted(answer.headers["allow"].split(", "))),
    )
    answer = client.get("/asgi/show")
    assert (["outer"], "text/plain; charset=utf-8") == (
        answer.headers.get_all("x-mark"),
        answer.headers["content-type"],
    )
    assert "own" == client.get("/asgi/own").text, "a route that says more goes first"


def test_bodies_headers_and_cookies_pass(client):
    answer = client.post("/asgi/echo", data=b"x" * 100_000)
    assert (201, b"x" * 100_000, {"a": "1", "b": "2"}) == (answer.status, answer.body, answer.cookies)
    head = client.head("/asgi/show")
    assert (200, b"", str(len(client.get("/asgi/show").body))) == (
        head.status,
        head.body,
        head.headers["content-length"],
    )


def test_streams_pass_through_middleware(client, seen):
    with client.stream("GET", "/asgi/count") as stream:
        assert [b"0", b"1", b"2"] == list(stream)
    packed = client.get("/asgi/count", headers={"Accept-Encoding": "gzip"})
    assert ("gzip", True) == (packed.headers["content-encoding"], packed.body.startswith(b"\x1f\x8b"))
    assert ["closed", "closed"] == seen


def test_what_nobody_reads_is_dropped(client, seen):
    assert (200, b"") == ((answer := client.head("/asgi/count")).status, answer.body)
    assert ["closed"] == seen


def test_defects_are_told(client, caplog):
    with pytest.raises(ValueError, match="before the answer"):
        client.get("/asgi/defect")
    with pytest.raises((ValueError, BrokenAnswer)):
        client.get("/asgi/count?break=1")
    assert 200 == client.get("/asgi/show").status


@on_every_loop
async def test_who_leaves_ends_it():
    seen: list[str] = []
    app = App()
    app.mount("/asgi", starlette(seen))
    async with AsyncClient(app) as client:
        async with client.stream("GET", "/asgi/count?wait=1") as stream:
            async for _ in stream:
                break
        await until(lambda: seen == ["closed"])


def test_a_wsgi_application_at_the_root():
    legacy = flask.Flask("legacy")
    legacy.route("/hello/<name>", methods=["GET", "POST"])(
        lambda name: f"{flask.request.script_root} {name} {flask.request.get_data(as_text=True)}"
    )
    app = App()
    app.get("/own")(lambda request: "own")
    app.mount("/", legacy)
    app.mount("/old", legacy)
    with Client(app) as client:
        assert " Ann body" == client.post("/hello/Ann", data="body").text
        assert "/old Ann " == client.get("/old/hello/Ann").text
        assert "own" == client.get("/own").text
        assert 404 == client.get("/none").status


@pytest.mark.parametrize("prefix", ["asgi", "/asgi/", ""])
def test_a_prefix_is_a_prefix(prefix):
    app = App()
    if prefix:
        with pytest.raises(ConfigurationError, match="a prefix looks like"):
            app.mount(prefix, App())
    with pytest.raises(ConfigurationError, match="no application"):
        app.mount("/x", 7)
