"""Which handler answers, over a socket."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from support.http import connected
from support.loops import on_every_loop
from tarmac import App, ConfigurationError, Router

pytestmark = pytest.mark.live


def site() -> App:
    app = App()

    @app.get("/")
    def root(request):
        return "root"

    @app.get("/packs/new")
    def new(request):
        return "static wins"

    @app.get("/packs/{pack}")
    async def pack(request, pack):
        return f"pack {pack}"

    @app.get("/packs/{pack}/{number:int}")
    def sticker(request, pack, number):
        return [pack, number, request.path_params["number"]]

    @app.get("/files/{path:path}")
    def files(request, path):
        return f"file {path}"

    @app.post("/packs/{pack}")
    def change(request, pack):
        return f"changed {pack}"

    @app.head("/headed")
    def head_of(request):
        return ("", 202)

    @app.get("/headed")
    def headed(request):
        return "body"

    @app.options("/own-options")
    def own(request):
        return "mine"

    return app


@on_every_loop
async def test_the_routing_table():
    expected = {
        ("GET", "/"): (200, b"root"),
        ("GET", "/?a=1"): (200, b"root"),
        ("GET", "/packs/new"): (200, b"static wins"),
        ("GET", "/packs/old"): (200, b"pack old"),
        ("GET", "/packs/a%2Fb"): (200, b"pack a/b"),
        ("GET", "/packs/%E2%82%AC"): (200, "pack €".encode()),
        ("GET", "/packs/a/7"): (200, b'["a",7,7]'),
        ("GET", "/files/a/b/c"): (200, b"file a/b/c"),
        ("POST", "/packs/old"): (200, b"changed old"),
        ("OPTIONS", "/own-options"): (200, b"mine"),
    }
    async with connected(site()) as wire:
        for (method, path), (status, body) in expected.items():
            answer = await wire.get(path, method=method)
            assert (status, body) == (answer.status, answer.body), path


@on_every_loop
async def test_what_is_not_there_is_404_and_the_connection_lives():
    async with connected(site()) as wire:
        for path in ("/nothing", "/packs", "/packs/", "/packs/a/x", "/packs/a/7/8", "//"):
            assert (await wire.get(path)).status == 404, path
        assert (await wire.get("/")).body == b"root"


@on_every_loop
async def test_a_wrong_method_is_405_and_tells_the_right_ones():
    async with connected(site()) as wire:
        answer = await wire.get("/packs/old", method="DELETE")
        assert answer.status == 405
        assert {"GET", "HEAD", "POST", "OPTIONS"} >= set((answer.header("Allow") or "").split(", ")) >= {"GET", "POST"}


@on_every_loop
async def test_head_is_answered_by_get_without_its_body():
    async with connected(site()) as wire:
        head = await wire.get("/packs/old", method="HEAD")
        assert (200, "8", b"") == (head.status, head.header("Content-Length"), head.body)
        assert (await wire.get("/headed", method="HEAD")).status == 202
        assert (await wire.get("/headed")).body == b"body"


@on_every_loop
async def test_options_tells_the_methods():
    async with connected(site()) as wire:
        answer = await wire.get("/packs/old", method="OPTIONS")
        assert answer.status in {200, 204}
        assert {"GET", "POST"} <= set((answer.header("Allow") or "").split(", "))


@on_every_loop
async def test_bound_methods_partials_views_and_included_routers():
    class Shop:
        name = "shop"

        def front(self, request):
            return self.name

        async def back(self, request, shelf):
            return f"{self.name} {shelf}"

    class View:
        async def get(self, request):
            return "got"

        def put(self, request):
            return "put"

    def greet(request, word):
        return word

    shop, app, part = Shop(), App(), Router(prefix="/part")
    app.add_route("/front", shop.front)
    app.add_route("/back/{shelf}", shop.back)
    app.add_route("/greet", functools.partial(greet, word="hi"))
    app.add_route("/view", View)
    part.get("/x")(lambda request: "x of part")
    app.include(part)
    async with connected(app) as wire:
        assert b"shop" == (await wire.get("/front")).body
        assert b"shop 3" == (await wire.get("/back/3")).body
        assert b"hi" == (await wire.get("/greet")).body
        assert b"got" == (await wire.get("/view")).body
        assert b"put" == (await wire.get("/view", method="PUT")).body
        assert b"x of part" == (await wire.get("/part/x")).body


@on_every_loop
async def test_a_route_comes_before_the_server_and_may_come_after_it():
    app = App()
    app.get("/")(lambda request: "first")
    async with connected(app) as wire:
        assert b"first" == (await wire.get("/")).body
        with pytest.raises(ConfigurationError, match="GET /late comes too late"):
            app.get("/late")(lambda request: "late")
    app.get("/late")(lambda request: "late")
    async with connected(app) as wire:
        assert b"late" == (await wire.get("/late")).body


@on_every_loop
async def test_decorated_handlers_are_called_like_any_other():
    app = App()

    def shouting(handler):
        @functools.wraps(handler)
        async def loud(request, name):
            return (await handler(request, name)).upper()

        return loud

    def polite(handler):
        @functools.wraps(handler)
        def please(request, count):
            return f"{handler(request, count)}, please"

        return please

    @app.get("/loud/{name}")
    @shouting
    async def hello(request, name):
        return f"hello {name}"

    @app.get("/polite/{count:int}")
    @polite
    def beer(request, count):
        return f"{count} beers"

    async with connected(app) as wire:
        assert b"HELLO ANN" == (await wire.get("/loud/ann")).body
        assert b"3 beers, please" == (await wire.get("/polite/3")).body


@on_every_loop
async def test_every_kind_of_parameter():
    app = App()
    for kind in ("int", "float", "uuid", "str"):
        pattern = f"/{{value:{kind}}}"
        app.add_route(pattern, lambda request, value: f"{type(value).__name__} {value}", name=kind)
    expected = {
        "/-7": "int -7",
        "/7.50": "float 7.5",
        "/0188F3C2-1234-7abc-8def-0123456789ab": "UUID 0188f3c2-1234-7abc-8def-0123456789ab",
        "/0188f3c2": "str 0188f3c2",
    }
    async with connected(app) as wire:
        for path, body in expected.items():
            assert body.encode() == (await wire.get(path)).body


@on_every_loop
async def test_methods_of_other_worlds():
    app = App()
    app.add_route("/files/{path:path}", lambda request, path: f"{request.method} {path}", methods=["PROPFIND", "mkcol"])
    async with connected(app) as wire:
        assert b"PROPFIND a/b" == (await wire.get("/files/a/b", method="PROPFIND")).body
        assert b"MKCOL c" == (await wire.get("/files/c", method="MKCOL")).body
        refused = await wire.get("/files/c")
        assert (405, "PROPFIND, MKCOL, OPTIONS") == (refused.status, refused.header("Allow"))
        assert 405 == (await wire.get("/files/c", method="propfind")).status  # methods are case-sensitive


def slashed(**options: Any) -> App:
    app = App(**options)
    app.get("/with/")(lambda request: "with")
    app.get("/without/{name}")(lambda request, name: name)
    app.post("/only-post")(lambda request: "posted")
    app.get("//twice")(lambda request: "twice")
    app.get("/all/{rest:path}")(lambda request, rest: rest)
    return app


@on_every_loop
async def test_a_slash_at_the_end_makes_another_path():
    async with connected(slashed()) as wire:
        for path in ("/with", "/without/x/", "/only-post/"):
            assert 404 == (await wire.get(path)).status, path


@pytest.mark.parametrize("around", [False, True])
@on_every_loop
async def test_a_slash_at_the_end_may_be_a_matter_of_taste(around):
    app = slashed(slashes="redirect")
    if around:

        @app.middleware
        async def mark(request, call_next):
            response = await call_next(request)
            response.set_header("X-Marked", "yes")
            return response

    async with connected(app) as wire:
        for path, location in (
            ("/with?a=1&b=%2F", "/with/?a=1&b=%2F"),
            ("/without/a%20b/", "/without/a%20b"),
            ("/only-post/", "/only-post"),  # where the method is told to be wrong
        ):
            answer = await wire.get(path)
            assert (308, location) == (answer.status, answer.header("Location"))
            assert ("yes" if around else None) == answer.header("X-Marked")
        for path in ("/nothing", "/nothing/", "//twice/", "/", "/without//"):
            assert 404 == (await wire.get(path)).status, path
        assert (await wire.get("/all/x/")).body == b"x/"


def test_there_are_two_ways_with_slashes():
    with pytest.raises(ConfigurationError, match="strict"):
        App(slashes="ignore")
