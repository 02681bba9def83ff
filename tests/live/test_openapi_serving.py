"""The document and its page, as they are served."""

from __future__ import annotations

import json
import re
from pathlib import Path

import openapi_spec_validator
import pytest
from support.http import connected
from support.loops import on_every_loop
from tarmac import App, Response, openapi

pytestmark = pytest.mark.live

PAGE = Path(openapi.__file__).parent / "page"


def documented(**options: object) -> App:
    app = App()
    app.get("/x")(lambda request: "x")
    app.openapi(title='Shop & "Sons"', version="2.0", **options)
    return app


@on_every_loop
async def test_the_document_is_valid_and_knows_routes_that_were_added_later():
    app = documented()
    app.get("/later/{n:int}")(lambda request, n: "later")
    async with connected(app) as wire:
        answer = await wire.get("/openapi.json")
    document = json.loads(answer.body)
    openapi_spec_validator.validate(document)
    assert "application/json" == answer.header("Content-Type")
    assert ["/x", "/later/{n}"] == list(document["paths"])
    assert ('Shop & "Sons"', "2.0") == (document["info"]["title"], document["info"]["version"])


@on_every_loop
async def test_the_page_and_its_parts_come_from_here_and_nothing_may_come_from_elsewhere():
    async with connected(documented(docs="/help", path="/api.json")) as wire:
        page = await wire.get("/help")
        parts = [await wire.get(path) for path in ("/help/docs.css", "/help/docs.js")]
        assert 404 == (await wire.get("/docs")).status
        assert 200 == (await wire.get("/api.json")).status
    text = page.body.decode()
    assert "<title>Shop &amp; &quot;Sons&quot;</title>" in text
    assert 'data-document="/api.json"' in text
    assert "{{" not in text
    assert "script-src 'self'" in (page.header("Content-Security-Policy") or "")
    for part in (page, *parts):
        assert (200, "nosniff") == (part.status, part.header("X-Content-Type-Options"))
    assert ["text/css; charset=utf-8", "text/javascript; charset=utf-8"] == [
        part.header("Content-Type") for part in parts
    ]


@on_every_loop
async def test_the_page_may_ask_the_servers_of_the_document():
    async with connected(documented(servers=["https://example.org/api", "/here"])) as wire:
        policy = (await wire.get("/docs")).header("Content-Security-Policy") or ""
    assert "connect-src 'self' https://example.org;" in policy


@on_every_loop
async def test_the_document_alone():
    async with connected(documented(docs=None)) as wire:
        assert [200, 404] == [(await wire.get(path)).status for path in ("/openapi.json", "/docs")]


@pytest.mark.parametrize("name", ["index.html", "docs.css", "docs.js"])
def test_no_file_of_the_page_names_another_host(name):
    assert [] == re.findall(r"(?:https?:)?//[a-z0-9-]+\.", (PAGE / name).read_text())


class Special(Response):
    pass


def test_a_response_is_no_model():
    """A subclass of Response as an annotation says nothing of the body."""
    app = App()

    @app.get("/")
    def special(request) -> Special:
        return Special()

    operation = openapi.build_document(app, title="x", version="1")["paths"]["/"]["get"]
    assert {"200": {"description": "OK"}} == operation["responses"]
