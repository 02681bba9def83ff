"""Handlers that take models, answer with models, and are not called for what does not fit."""

import datetime
import enum
import json
import uuid
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Annotated, TypedDict

import msgspec
import pydantic
import pytest
from support.http import Answer, connected
from support.loops import on_every_loop
from tarmac import App, ConfigurationError, InvalidInput

pytestmark = pytest.mark.live


@dataclass
class PlainTodo:
    text: str
    done: bool = False


class StructTodo(msgspec.Struct):
    text: Annotated[str, msgspec.Meta(min_length=1)]
    done: bool = False


class PydanticTodo(pydantic.BaseModel):
    text: str = pydantic.Field(min_length=1)
    done: bool = False


@dataclass
class PlainPage:
    number: int = 1
    tags: list[str] | None = None
    all: bool = False


class StructPage(msgspec.Struct):
    number: int = 1
    tags: list[str] | None = None
    all: bool = False


class PydanticPage(pydantic.BaseModel):
    number: int = 1
    tags: list[str] | None = None
    all: bool = False


MODELS = pytest.mark.parametrize("model", [PlainTodo, StructTodo, PydanticTodo])
PAGES = pytest.mark.parametrize("page", [PlainPage, StructPage, PydanticPage])


async def posted(app: App, body: bytes, path: str = "/") -> Answer:
    async with connected(app) as wire:
        return await wire.get(path, method="POST", body=body)


@MODELS
@on_every_loop
async def test_a_body_is_read_as_a_model_and_a_model_is_an_answer(model):
    app = App()

    @app.post("/")
    async def create(request, body: model) -> model:
        assert isinstance(body, model)
        body.done = True
        return body

    @app.post("/with-status")
    def also(request, body: model):
        return body, 201

    @app.post("/asked-for")
    async def asked(request):
        return [await request.json(model), {"more": await request.json(list[model] | model)}]

    answer = await posted(app, b'{"text": "milk"}')
    assert (200, "application/json", {"text": "milk", "done": True}) == (
        answer.status,
        answer.header("Content-Type"),
        json.loads(answer.body),
    )
    answer = await posted(app, b'{"text": "milk"}', "/with-status")
    assert (201, {"text": "milk", "done": False}) == (answer.status, json.loads(answer.body))
    milk = {"text": "milk", "done": False}
    assert [milk, {"more": milk}] == json.loads((await posted(app, b'{"text": "milk"}', "/asked-for")).body)


@MODELS
@on_every_loop
async def test_a_body_that_does_not_fit_is_422_and_says_where(model):
    app, called = App(), []

    @app.post("/todo")
    async def create(request, body: model):
        called.append(body)

    for body, places in ((b'{"text": 7}', ["$.text"]), (b"{}", ["$"]), (b"[]", ["$"])):
        answer = await posted(app, body, "/todo")
        told = json.loads(answer.body)
        assert (422, "application/json") == (answer.status, answer.header("Content-Type"))
        assert "the request is not what it has to be" == told["error"]
        assert [where.startswith(place) for place, where in zip(places, _where(told), strict=True)]
        assert all(problem["problem"] for problem in told["problems"])
    for body in (b"", b"{", b"\xff"):
        assert 400 == (await posted(app, body, "/todo")).status
    assert [] == called


def _where(told: dict) -> list[str]:
    return [problem["where"] for problem in told["problems"]]


@dataclass
class Nest:
    inner: "list[Nest]"
    number: float = 0.0


class StructNest(msgspec.Struct):
    inner: "list[StructNest]"
    number: float = 0.0


@pytest.mark.parametrize("model", [Nest, StructNest, None])
@on_every_loop
async def test_a_body_that_is_too_deep_is_the_clients_fault(model):
    app = App()

    @app.post("/")
    async def read(request):
        await request.json(model)
        return "read"

    shallow, deep, deepest = (b'{"inner":[' * depth + b"]}" * depth for depth in (20, 400, 50_000))
    assert b"read" == (await posted(app, shallow)).body
    assert (await posted(app, deep)).status in {200, 422}  # our own reader needs more of the stack
    assert 400 == (await posted(app, deepest)).status


@pytest.mark.parametrize("model", [Nest, StructNest])
@on_every_loop
async def test_what_python_alone_calls_a_number_is_no_json(model):
    app = App()

    @app.post("/")
    async def read(request, body: model):
        return body

    for number in (b"NaN", b"Infinity", b"-Infinity"):
        assert 400 == (await posted(app, b'{"inner": [], "number": ' + number + b"}")).status
    assert 200 == (await posted(app, b'{"inner": [], "number": 1e308}')).status


@PAGES
@on_every_loop
async def test_a_query_is_read_as_a_model(page):
    app = App()

    @app.get("/")
    def plain(request, query: page):
        return query

    @app.get("/{name}")
    async def named(request, name, query: page):
        return {"name": name, "number": query.number}

    async with connected(app) as wire:
        assert {"number": 1, "tags": None, "all": False} == json.loads((await wire.get("/")).body)
        full = await wire.get("/?number=2&number=3&tags=a&tags=b&all=true&other=1")
        assert {"number": 3, "tags": ["a", "b"], "all": True} == json.loads(full.body)
        assert {"name": "x", "number": 7} == json.loads((await wire.get("/x?number=7")).body)
        wrong = await wire.get("/?number=x")
        assert (422, ["$.number"]) == (wrong.status, _where(json.loads(wrong.body)))


@on_every_loop
async def test_threads_methods_and_middleware_take_models_too():
    app = App()

    class Shop:
        async def order(self, request, body: PlainTodo, query: PlainPage):
            return {"text": body.text, "number": query.number}

    @app.middleware
    async def mark(request, call_next):
        response = await call_next(request)
        response.headers["X-Marked"] = str(response.status)
        return response

    app.add_route("/shop", Shop().order, methods=["POST"])

    @app.post("/thread", blocking=True)
    def thread(request, body: PlainTodo):
        return body

    answer = await posted(app, b'{"text": "a"}', "/shop?number=3")
    assert ({"text": "a", "number": 3}, "200") == (json.loads(answer.body), answer.header("X-Marked"))
    assert b'{"text":"a","done":false}' == (await posted(app, b'{"text": "a"}', "/thread")).body
    assert "422" == (await posted(app, b"{}", "/thread")).header("X-Marked")


@on_every_loop
async def test_the_answer_to_what_does_not_fit_is_the_programs_to_change():
    app = App()

    @app.post("/")
    async def create(request, body: PlainTodo):
        """Never called here."""

    @app.error(InvalidInput)
    def refuse(request, error):
        return {"first": error.problems[0]["where"]}, 400

    answer = await posted(app, b"{}")
    assert (400, b'{"first":"$.text"}') == (answer.status, answer.body)


class Color(enum.Enum):
    RED = "red"


class Plain(TypedDict):
    at: datetime.date


@on_every_loop
async def test_values_that_json_does_not_know_are_written_as_what_stands_for_them():
    app = App()

    @app.get("/")
    async def everything(request):
        return {
            "date": datetime.date(2026, 1, 2),
            "moment": datetime.datetime(2026, 1, 2, 3, tzinfo=datetime.UTC),
            "uuid": uuid.UUID(int=7),
            "decimal": Decimal("1.10"),
            "enum": Color.RED,
            "set": {1},
            "mapping": MappingProxyType({"a": [PlainTodo("x")]}),
            "struct": StructTodo("y"),
            "pydantic": PydanticTodo(text="z"),
        }

    @app.get("/nothing")
    def nothing(request):
        return {"a": object()}

    async with connected(app) as wire:
        assert {
            "date": "2026-01-02",
            "moment": "2026-01-02T03:00:00+00:00",
            "uuid": "00000000-0000-0000-0000-000000000007",
            "decimal": "1.10",
            "enum": "red",
            "set": [1],
            "mapping": {"a": [{"text": "x", "done": False}]},
            "struct": {"text": "y", "done": False},
            "pydantic": {"text": "z", "done": False},
        } == json.loads((await wire.get("/")).body)
        assert 500 == (await wire.get("/nothing")).status


def test_annotations_that_mean_nothing_are_refused_at_once():
    app = App()
    with pytest.raises(ConfigurationError, match="with fields"):

        @app.get("/")
        def number(request, query: int):
            return query

    with pytest.raises(ConfigurationError, match="Nowhere"):

        @app.post("/")
        async def unknown(request, body: "Nowhere"):  # noqa: F821 - the point
            return body


@on_every_loop
async def test_parameters_of_those_names_without_an_annotation_or_from_the_path_are_as_they_were():
    app = App()

    @app.get("/{body}/{query}")
    def both(request, body: str, query: str):
        return [body, query]

    @app.get("/default")
    def default(request, body="d"):
        return body

    async with connected(app) as wire:
        assert b'["a","b"]' == (await wire.get("/a/b")).body
        assert b"d" == (await wire.get("/default")).body
