"""The programs of the guides for those who come from other servers do what they did there."""

from __future__ import annotations

import json

import pytest

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
