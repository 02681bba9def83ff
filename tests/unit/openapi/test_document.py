# The document of an application: what it says of each route, and that it is a valid one.

import datetime
import decimal
import enum
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, NotRequired, TypedDict

import msgspec
import openapi_spec_validator
import pydantic
import pytest
from jsonschema import Draft202012Validator
from tarmac import App, Response, Router
from tarmac.http.models import library
from tarmac.http.plain_models import convert
from tarmac.openapi import Answer, build_document, describe
from tarmac.openapi.schemas import Schemas


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Leaf:
    """A leaf of a tree."""

    at: datetime.datetime
    color: Color = Color.RED
    below: "list[Leaf]" = field(default_factory=list)
    count: ClassVar[int] = 0
    made: bool = field(init=False, default=True)


class Structured(msgspec.Struct):
    text: Annotated[str, msgspec.Meta(min_length=1)]
    number: int | None = None


class Modelled(pydantic.BaseModel):
    text: str = pydantic.Field(min_length=1, description="what it says")
    inner: list["Modelled"] = []


class Typed(TypedDict):
    a: int
    b: NotRequired[str]


@dataclass
class Page:
    number: int = 1
    tags: list[str] | None = None
    exact: Literal["yes", "no"] = "no"


def document_of(app: Router, **options: Any) -> dict[str, Any]:
    document = build_document(app, **{"title": "Test", "version": "1", **options})
    openapi_spec_validator.validate(document)
    return document


def operation_of(app: Router, path: str = "/", method: str = "get") -> dict[str, Any]:
    return document_of(app)["paths"][path][method]


def test_the_least_application_has_a_valid_document():
    assert {"openapi": "3.1.1", "info": {"title": "Test", "version": "1"}, "paths": {}} == document_of(App())


def test_what_is_said_of_a_handler_comes_from_its_docstring_its_name_and_describe():
    app = App()

    @app.get("/doc")
    def documented(request):
        """Look at something.

        More words.
        """

    @app.get("/bare")
    def bare_one(request):
        return ""

    @app.post("/told")
    @describe(summary="Do it", description="Well.", tags=["a", "b"], deprecated=True, operation_id="doIt")
    def told(request):
        """Not this."""

    paths = document_of(app)["paths"]
    assert ("Look at something", "More words.", "documented") == tuple(
        paths["/doc"]["get"][key] for key in ("summary", "description", "operationId")
    )
    assert "bare one" == paths["/bare"]["get"]["summary"]
    assert {
        "operationId": "doIt",
        "summary": "Do it",
        "description": "Well.",
        "tags": ["a", "b"],
        "deprecated": True,
        "responses": {"200": {"description": "OK"}},
    } == paths["/told"]["post"]


def test_path_parameters_of_every_kind():
    app = App()
    app.get("/{a}/{b:int}/{c:float}/{d:uuid}/{e:path}")(lambda request, a, b, c, d, e: "")
    parameters = operation_of(app, "/{a}/{b}/{c}/{d}/{e}")["parameters"]
    assert [("a", "string"), ("b", "integer"), ("c", "number"), ("d", "string"), ("e", "string")] == [
        (one["name"], one["schema"]["type"]) for one in parameters
    ]
    assert all(one["required"] and one["in"] == "path" for one in parameters)
    assert ("uuid", "slashes") == (parameters[3]["schema"]["format"], parameters[4]["description"].split()[-1][:-1])


@pytest.mark.parametrize("model", [Leaf, Structured, Modelled, Typed])
def test_a_body_and_its_answer(model):
    app = App()

    @app.post("/")
    @describe(examples={"one": {"text": "x"}})
    async def create(request, body: model) -> list[model]:
        return [body]

    found = operation_of(app, method="post")
    schema = {"$ref": f"#/components/schemas/{model.__name__}"}
    content = {"application/json": {"schema": schema, "examples": {"one": {"value": {"text": "x"}}}}}
    assert {"required": True, "content": content} == found["requestBody"]
    assert {"type": "array", "items": schema} == found["responses"]["200"]["content"]["application/json"]["schema"]
    problem = found["responses"]["422"]["content"]["application/json"]["schema"]
    assert {"$ref": "#/components/schemas/InvalidInput"} == problem


def test_a_query_is_its_fields():
    app = App()

    @app.get("/typed")
    def typed(request, query: Page):
        return ""

    @app.get("/told")
    @describe(query=Page, headers={"X-Key": str, "X-Count": int | None})
    def told(request):
        return ""

    expected = [
        {"name": "number", "in": "query", "required": False, "schema": {"type": "integer", "default": 1}},
        {
            "name": "tags",
            "in": "query",
            "required": False,
            "schema": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}], "default": None},
        },
        {"name": "exact", "in": "query", "required": False, "schema": {"enum": ["yes", "no"], "default": "no"}},
    ]
    paths = document_of(app)["paths"]
    assert expected == paths["/typed"]["get"]["parameters"]
    assert [*expected, {"name": "X-Key", "in": "header", "schema": {"type": "string"}}] == paths["/told"]["get"][
        "parameters"
    ][:4]
    assert "422" not in paths["/told"]["get"]["responses"]  # this handler reads its query by itself


class StructuredPage(msgspec.Struct):
    number: int
    exact: bool = False


class ModelledPage(pydantic.BaseModel):
    number: int
    exact: bool = False


@pytest.mark.parametrize("page", [StructuredPage, ModelledPage])
def test_a_query_may_be_a_model_of_another_library(page):
    app = App()

    @app.get("/")
    def typed(request, query: page):
        return ""

    found = operation_of(app)["parameters"]
    assert [("number", True, "integer"), ("exact", False, "boolean")] == [
        (one["name"], one["required"], one["schema"]["type"]) for one in found
    ]


@dataclass
class Upload:
    title: str
    content: bytes


@pytest.mark.parametrize(
    ("form", "kind"), [(Leaf, "application/x-www-form-urlencoded"), (Upload, "multipart/form-data")]
)
def test_a_form(form, kind):
    app = App()
    app.post("/")(describe(form=form)(lambda request: ""))
    schema = {"$ref": f"#/components/schemas/{form.__name__}"}
    assert {"required": True, "content": {kind: {"schema": schema}}} == operation_of(app, method="post")["requestBody"]


def test_answers_by_annotation_and_by_description():
    app = App()

    @app.get("/nothing")
    def nothing(request) -> None:
        """Say nothing."""

    @app.get("/any")
    def anything(request) -> Response:
        return Response()

    @app.get("/text")
    def text(request) -> str:
        return ""

    @app.get("/told")
    @describe(
        responses={201: Answer(Leaf, "grown", {"at": "2026-01-01T00:00:00"}), 404: "no tree", 406: None, 409: bytes}
    )
    def told(request):
        return ""

    found = {path: item["get"]["responses"] for path, item in document_of(app)["paths"].items()}
    assert {"204": {"description": "No Content"}} == found["/nothing"]
    assert {"200": {"description": "OK"}} == found["/any"]
    assert {"text/plain": {"schema": {"type": "string"}}} == found["/text"]["200"]["content"]
    assert ["201", "404", "406", "409"] == list(found["/told"])
    assert ("grown", "no tree", "Not Acceptable") == tuple(
        found["/told"][status]["description"] for status in ("201", "404", "406")
    )
    content = found["/told"]["201"]["content"]["application/json"]
    assert {"example": {"value": {"at": "2026-01-01T00:00:00"}}} == content["examples"]
    assert ["application/octet-stream"] == list(found["/told"]["409"]["content"])


def test_errors_that_are_described_stand_beside_the_answer_and_a_redirect_is_one():
    app = App()

    @app.get("/found")
    @describe(responses={404: "no tree"})
    def found(request) -> Leaf:
        return Leaf(datetime.datetime.now(datetime.UTC))

    @app.get("/moved")
    @describe(responses={303: "over there"})
    def moved(request):
        return ""

    paths = document_of(app)["paths"]
    assert [["200", "404"], ["303"]] == [list(paths[path]["get"]["responses"]) for path in ("/found", "/moved")]


def test_websockets_are_left_out_and_of_two_routes_with_one_template_the_first_is_shown():
    app = App()
    app.get("/{x:int}", name="number")(lambda request, x: "")
    app.get("/{x}", name="text")(lambda request, x: "")

    @app.websocket("/talk")
    async def talk(ws):
        """Say nothing."""

    paths = document_of(app)["paths"]
    assert ["/{x}"] == list(paths)
    assert "number" == paths["/{x}"]["get"]["operationId"]


def test_what_only_checkers_know_says_nothing():
    app = App()

    @app.post("/")
    def handler(request: "Unknown", body: Leaf) -> "Unknown":  # noqa: F821 - as with names for checkers alone
        return body

    found = operation_of(app, method="post")
    assert {"description": "OK"} == found["responses"]["200"]
    assert "requestBody" in found


def test_prefixes_hidden_routes_and_methods_that_openapi_does_not_know():
    part, app = Router(prefix="/part"), App()
    part.get("/x")(lambda request: "")
    app.include(part, prefix="/v1")
    app.get("/hidden")(describe(hidden=True)(lambda request: ""))
    app.add_route("/dav", lambda request: "", methods=["PROPFIND"])
    assert ["/v1/part/x"] == list(document_of(app)["paths"])


def test_every_operation_has_an_id_of_its_own():
    app = App()

    def item(request):
        return ""

    for pattern in ("/a", "/b", "/c"):
        app.add_route(pattern, item, methods=["GET", "POST"])
    ids = [one["operationId"] for path in document_of(app)["paths"].values() for one in path.values()]
    assert ["item", "post_item", "get_item", "item_2", "item_3", "item_4"] == ids


def test_security_servers_and_tags():
    app = App()

    @app.get("/open")
    @describe(security=())
    def everybody(request):
        return ""

    @app.get("/closed")
    @describe(security=["key"], tags=["x"])
    def few(request):
        return ""

    key = {"type": "apiKey", "in": "header", "name": "X-Key"}
    document = document_of(
        app, security={"key": key}, servers=["https://example.org/api"], tags={"x": "about"}, description="words"
    )
    assert {"key": key} == document["components"]["securitySchemes"]
    assert ([], [{"key": []}]) == tuple(document["paths"][path]["get"]["security"] for path in ("/open", "/closed"))
    assert ([{"url": "https://example.org/api"}], "words") == (document["servers"], document["info"]["description"])
    assert [{"name": "x", "description": "about"}] == document["tags"]


def test_a_dataclass_is_a_component_that_may_contain_itself():
    app = App()
    app.get("/")(describe(responses={200: Leaf})(lambda request: ""))
    leaf = document_of(app)["components"]["schemas"]["Leaf"]
    assert {
        "type": "object",
        "title": "Leaf",
        "description": "A leaf of a tree.",
        "properties": {
            "at": {"type": "string", "format": "date-time"},
            "color": {"enum": ["red", "blue"], "title": "Color", "default": "red"},
            "below": {"type": "array", "items": {"$ref": "#/components/schemas/Leaf"}},
        },
        "required": ["at"],
    } == leaf


def test_two_models_of_one_name_are_two_components():
    def make() -> type:
        @dataclass
        class Leaf:
            other: int

        return Leaf

    schemas = Schemas()
    first, second = schemas.of(Leaf), schemas.of(make())
    assert first != second
    assert 2 == len(schemas.components)
    assert first == schemas.of(Leaf)


KINDS = [
    (str, "x", 7),
    (int, 7, "x"),
    (float, 7.5, "x"),
    (bool, True, "x"),
    (None.__class__, None, 1),
    (int | None, None, "x"),
    (list[int], [1], ["x"]),
    (Sequence[str], ["a"], [1]),
    (set[int], [1], "x"),
    (tuple[int, str], [1, "a"], [1]),
    (tuple[int, int], [1, 2], [1, 2, 3]),
    (tuple[int, ...], [1, 2, 3], ["a"]),
    (dict[str, int], {"a": 1}, {"a": "x"}),
    (Literal["a", 1], 1, "b"),
    (Color, "red", "green"),
    (Annotated[int, "words"], 1, "x"),
    (Typed, {"a": 1}, {"b": "x"}),
    (Leaf, {"at": "2026-01-01T00:00:00"}, {"at": 7}),
    (uuid.UUID, "0188f3c2-1234-7abc-8def-0123456789ab", 7),
    (decimal.Decimal, "1.5", 1),
    (datetime.date, "2026-01-01", 1),
]


@pytest.mark.parametrize(("kind", "good", "bad"), KINDS, ids=lambda value: str(value)[:30])
def test_a_schema_lets_through_what_the_reader_of_requests_does(kind, good, bad):
    """The document and the check of a request must not tell different stories."""
    schemas = Schemas()
    schema = {**schemas.of(kind), "components": {"schemas": schemas.components}}
    assert "plain" == library(kind)
    for value, fits in ((good, True), (bad, False)):
        problems: list = []
        convert(value, kind, "$", problems, text=False)
        assert (fits, fits) == (not problems, Draft202012Validator(schema).is_valid(value)), value
