"""The programs of the guides do what their pages say."""

from __future__ import annotations

import json
import re

import openapi_spec_validator
import pytest
from support.sources import ROOT

pytestmark = pytest.mark.live


def test_the_program_that_came_from_japronto(serve):
    service = serve("docs/how-to/migrate-from-japronto.md")
    assert (200, "Hello Ann!") == service.ask("/hello/Ann")
    assert (404, "lost?") == service.send("DELETE", "/hello/Ann")
    status, text = service.send("GET", "/slow?a=1", **{"User-Agent": "test"})
    assert (200, {"agent": "test", "query": {"a": "1"}}) == (status, json.loads(text))
    assert (409, "nothing left") == service.send("POST", "/order")
    assert "done: /order" in service.process.output


def test_the_program_that_came_from_sanic(serve):
    service = serve("docs/how-to/migrate-from-sanic.md")
    assert (200, "welcome") == service.ask("/")
    assert {"name": "cats", "stickers": 3, "page": "2"} == json.loads(service.ask("/api/packs/cats?page=2")[1])
    assert (404, '{"error":"no pack dogs"}') == service.ask("/api/packs/dogs")
    assert 303 == service.ask("/orders", pack="cats")[0]


PAGE = "docs/how-to/document-your-api.md"


def test_the_collection_of_stickers_checks_and_documents_itself(serve):
    service = serve(PAGE)
    sticker = {"pack": "cats", "number": 7, "tags": None}
    status, text = service.send("POST", "/stickers", json.dumps(sticker).encode())
    assert (201, sticker) == (status, {name: json.loads(text)[name] for name in sticker})
    assert 200 == service.ask("/stickers/cats/7")[0]
    assert 404 == service.ask("/stickers/cats/8")[0]
    assert [] == json.loads(service.ask("/stickers?start=1")[1])
    status, text = service.send("POST", "/stickers", b'{"pack": "cats", "number": "seven"}')
    assert (422, text) == (status, said(PAGE))
    document = json.loads(service.ask("/openapi.json")[1])
    openapi_spec_validator.validate(document)
    assert ["/stickers", "/stickers/{pack}/{number}"] == list(document["paths"])
    assert "<title>Stickers</title>" in service.ask("/docs")[1]


def said(page: str) -> str:
    """What the page shows as the answer to the wrong request."""
    found = re.search(r'^\{"error".*$', (ROOT / page).read_text(), re.MULTILINE)
    assert found
    return found[0]
