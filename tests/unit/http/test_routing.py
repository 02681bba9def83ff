"""Routes are understood, or refused, when they are written."""

from __future__ import annotations

import functools
import uuid

import pytest
import tarmac
from tarmac import App, Router
from tarmac.errors import NoSuchRoute
from tarmac.http.routing import Route


def answer(request):
    return "ok"


def routes(table: Router) -> list[tuple[str, str]]:
    return [(route.method, route.pattern) for route in table.routes]


def test_every_decorator_adds_its_method():
    app = App()
    for name in ("get", "post", "put", "patch", "delete", "head", "options"):
        getattr(app, name)("/")(answer)
    assert [(name, "/") for name in ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")] == routes(app)


def test_route_takes_several_methods_and_decorators_give_the_function_back():
    app = App()
    assert answer is app.route("/", methods=["get", "post"])(answer)
    assert [("GET", "/"), ("POST", "/")] == routes(app)


def test_a_class_view_answers_the_methods_it_has_with_one_instance():
    app = App()

    @app.route("/view")
    class View:
        def get(self, request):
            return "got"

        async def delete(self, request):
            return "deleted"

    get, delete = app.routes
    assert [("GET", "/view"), ("DELETE", "/view")] == routes(app)
    assert get.endpoint.__self__ is delete.endpoint.__self__
    assert (False, True) == (get.asynchronous, delete.asynchronous)
    assert get.name == "View"


def test_a_class_without_methods_is_refused():
    with pytest.raises(tarmac.ConfigurationError, match="none of the methods"):
        App().add_route("/", type("Empty", (), {}))


async def waiting(request, extra=1):
    return "ok"


class Caller:
    async def __call__(self, request) -> str:
        return "ok"


@pytest.mark.parametrize(
    ("endpoint", "asynchronous"),
    [
        (answer, False),
        (waiting, True),
        (functools.partial(answer), False),
        (functools.partial(waiting, extra=2), True),
        (functools.partial(functools.partial(waiting), extra=2), True),
        (Caller(), True),
        (lambda request: "ok", False),
    ],
)
def test_what_makes_a_coroutine_is_seen_through_partials_and_objects(endpoint, asynchronous):
    assert asynchronous is Route("GET", "/", endpoint, "x").asynchronous


def test_a_router_is_included_with_both_prefixes_also_later():
    api, app = Router(prefix="/api"), App()
    api.get("/one")(answer)
    app.include(api, prefix="/v1")
    api.get("/two")(answer)
    assert [("GET", "/v1/api/one"), ("GET", "/v1/api/two")] == routes(app)


def test_routers_nest_and_middleware_is_outermost_first():
    inner, outer, app = Router(), Router(prefix="/outer"), App()

    async def first(request, call_next):
        return await call_next(request)

    async def second(request, call_next):
        return await call_next(request)

    async def third(request, call_next):
        return await call_next(request)

    inner.get("/x")(answer)
    outer.include(inner, prefix="/inner")
    app.include(outer)
    inner.middleware(third)
    outer.middleware(second)
    app.middleware(first)
    (route,) = app.routes
    assert ("/outer/inner/x", [first, second, third]) == (route.pattern, route.middleware)


def test_one_route_for_a_method_and_pattern():
    app = App()
    app.get("/")(answer)
    with pytest.raises(tarmac.ConfigurationError, match="answered already, by answer"):
        app.get("/")(waiting)


@pytest.mark.parametrize("pattern", ["", "x", "x/y"])
def test_a_pattern_starts_with_a_slash(pattern):
    with pytest.raises(tarmac.ConfigurationError, match="slash"):
        App().get(pattern)(answer)


@pytest.mark.parametrize("prefix", ["api", "/api/", "/"])
def test_a_prefix_has_a_slash_in_front_and_none_behind(prefix):
    with pytest.raises(tarmac.ConfigurationError, match="prefix"):
        Router(prefix=prefix)


def test_a_handler_that_cannot_take_the_parameters_is_refused_at_once():
    with pytest.raises(tarmac.ConfigurationError, match=r"answer\(request, number\)"):
        App().get("/{number:int}")(answer)


def test_a_plain_function_is_no_middleware():
    with pytest.raises(tarmac.ConfigurationError, match="async function"):
        App().middleware(lambda request, call_next: None)


def test_a_router_cannot_include_itself():
    router = Router()
    with pytest.raises(tarmac.ConfigurationError, match="itself"):
        router.include(router)


def files(request, number, path):
    return "ok"


def test_urls_are_built_by_name_and_encoded():
    app = App()
    app.get("/packs/{number:int}/{path:path}", name="file")(files)
    app.get("/hello/{name}")(lambda request, name: name)
    app.get("/plain")(answer)
    assert app.url_for("file", number=7, path="a b/c") == "/packs/7/a%20b/c"
    assert app.url_for("answer") == "/plain"
    assert app.url_for("<lambda>", name="a/b?") == "/hello/a%2Fb%3F"


def test_urls_of_included_routes_have_the_prefix():
    api, app = Router(prefix="/api"), App()
    api.get("/x", name="x")(answer)
    app.include(api)
    assert ("/api/x", "/api/x") == (app.url_for("x"), api.url_for("x"))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "needs 'number'"),
        ({"number": "x", "path": ""}, "is of type int"),
        ({"number": 1, "path": "", "z": 1}, "has no 'z'"),
    ],
)
def test_a_url_needs_exactly_its_parameters(parameters, message):
    app = App()
    app.get("/packs/{number:int}/{path:path}")(files)
    with pytest.raises(tarmac.ConfigurationError, match=message):
        app.url_for("files", **parameters)


def test_urls_of_every_kind_of_parameter():
    number = uuid.UUID("0188f3c2-1234-7abc-8def-0123456789ab")
    app = App()
    app.get("/{a:int}/{b:float}/{c:uuid}", name="kinds")(lambda request, a, b, c: "ok")
    assert f"/-7/0.5/{number}" == app.url_for("kinds", a=-7, b=0.5, c=number)
    for wrong in ({"a": 1.5}, {"b": "x"}, {"b": 1e-9}, {"b": float("inf")}, {"c": "7"}):
        with pytest.raises(tarmac.ConfigurationError, match="is of type"):
            app.url_for("kinds", **({"a": 1, "b": 1, "c": number} | wrong))


def test_an_unknown_name_is_a_lookup_error():
    with pytest.raises(NoSuchRoute, match="nothing"):
        App().url_for("nothing")


async def layer(request, call_next):
    return await call_next(request)


async def inner_layer(request, call_next):
    return await call_next(request)


def test_a_route_has_middleware_of_its_own_inside_that_of_its_tables():
    app, part = App(), Router()
    app.add_middleware(layer)
    part.get("/", middleware=[inner_layer], timeout=2.5)(waiting)
    app.include(part)
    (route,) = app.routes
    outer, limit, inner = route.middleware
    assert (layer, 2.5, inner_layer) == (outer, limit.seconds, inner)


def test_an_option_that_no_route_has_is_told():
    with pytest.raises(TypeError, match="no option blokcing"):
        App().get("/", blokcing=True)(answer)


def test_what_cannot_be_interrupted_has_no_time_limit():
    with pytest.raises(tarmac.ConfigurationError, match="nothing can interrupt"):
        App().get("/", timeout=1)(answer)
    App().get("/", timeout=1, blocking=True)(answer)


@pytest.mark.parametrize("wrong", [answer, 7])
def test_what_is_no_middleware_is_refused(wrong):
    app = App()
    with pytest.raises(tarmac.ConfigurationError, match="a middleware is"):
        app.middleware(wrong)
    with pytest.raises(tarmac.ConfigurationError, match="a middleware is"):
        app.get("/", middleware=[wrong])(answer)


def test_an_object_that_is_called_like_a_middleware_is_one():
    class Layer:
        async def __call__(self, request, call_next) -> object:
            return await call_next(request)

    app, instance = App(), Layer()
    assert instance is app.middleware(instance)
    assert [instance] == app.own_middleware
