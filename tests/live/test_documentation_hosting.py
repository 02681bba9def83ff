"""The programs of the pages about hosted applications do what the pages say."""

from __future__ import annotations

import json

import pytest
from websockets.sync.client import connect

pytestmark = pytest.mark.live


def test_a_hosted_application_with_a_route_of_its_own(serve):
    service = serve("docs/how-to/host-fastapi-django-flask.md")
    assert (200, "ok") == service.ask("/health")
    assert (200, {"name": "cats", "limit": 3}) == loaded(service.ask("/packs/cats?limit=3"))
    assert 422 == service.ask("/packs/cats?limit=x")[0]
    assert (405, {"detail": "Method Not Allowed"}) == loaded(service.send("DELETE", "/packs/cats"))
    assert (404, {"detail": "Not Found"}) == loaded(service.send("POST", "/health"))


def test_the_program_that_came_half_way_from_fastapi(serve):
    service = serve("docs/how-to/migrate-from-fastapi.md")
    assert (200, ["cats"]) == loaded(service.ask("/packs"))
    assert (200, {"name": "cats", "stickers": 3, "page": 2}) == loaded(service.ask("/packs/cats?page=2"))
    assert (404, "no pack dogs") == service.ask("/packs/dogs")
    assert (202, {"voted": 7}) == loaded(service.send("POST", "/packs/cats/votes", b'{"sticker": 7}'))
    service.process.wait_for_line("a vote for cats 7")
    with connect(service.base.replace("http", "ws") + "/chat", proxy=None) as socket:
        socket.send("hello")
        assert "hello" == socket.recv(timeout=5)


def loaded(answer: tuple[int, str]) -> tuple[int, object]:
    """Status and JSON."""
    return answer[0], json.loads(answer[1])
