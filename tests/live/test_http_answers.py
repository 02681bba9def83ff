"""What a handler's result becomes on the wire."""

from __future__ import annotations

import asyncio
import email.utils
import time

import pytest
import tarmac
from support.http import connected, request
from support.loops import on_every_loop
from tarmac import App, Response

pytestmark = pytest.mark.live

RESULTS = [
    ("x", 200, "text/plain; charset=utf-8", b"x"),
    ("ä€😀", 200, "text/plain; charset=utf-8", "ä€😀".encode()),
    ("", 200, "text/plain; charset=utf-8", b""),
    (b"\x00\xff", 200, "application/octet-stream", b"\x00\xff"),
    ({"a": [1, None, True, 1.5, "ä"]}, 200, "application/json", '{"a":[1,null,true,1.5,"ä"]}'.encode()),
    ([], 200, "application/json", b"[]"),
    (None, 204, None, b""),
    (("made", 201), 201, "text/plain; charset=utf-8", b"made"),
    (({"a": 1}, 422), 422, "application/json", b'{"a":1}'),
    (Response(b"r", status=203, content_type="x/y"), 203, "x/y", b"r"),
    (Response(bytearray(b"ba")), 200, "application/octet-stream", b"ba"),
    (Response(memoryview(b"mv")), 200, "application/octet-stream", b"mv"),
    (Response("gone", status=410), 410, "text/plain; charset=utf-8", b"gone"),
    (Response(None, status=304), 304, None, b""),
    (tarmac.html("<p>"), 200, "text/html; charset=utf-8", b"<p>"),
    (Response("x" * 300_000), 200, "text/plain; charset=utf-8", b"x" * 300_000),
]


@pytest.mark.parametrize("asynchronous", [False, True])
@on_every_loop
async def test_results_become_answers(asynchronous):
    app = App()

    @app.get("/sync/{number:int}")
    def plain(request, number):
        return RESULTS[number][0]

    @app.get("/async/{number:int}")
    async def waiting(request, number):
        return RESULTS[number][0]

    where = "async" if asynchronous else "sync"
    async with connected(app) as wire:
        for number, (_, status, content_type, body) in enumerate(RESULTS):
            answer = await wire.get(f"/{where}/{number}")
            assert (status, content_type, body) == (answer.status, answer.header("Content-Type"), answer.body)


@on_every_loop
async def test_every_answer_has_a_date_and_a_server_that_can_be_switched_off():
    app = App()
    app.get("/")(lambda request: "x")
    async with connected(app) as wire:
        answer = await wire.get("/")
        date = email.utils.parsedate_to_datetime(answer.header("Date") or "")
        assert abs(date.timestamp() - time.time()) < 3
        assert "tarmac" == answer.header("Server")
        assert ["text/plain; charset=utf-8"] == answer.all("Content-Type")
    async with connected(app, server_name=None, date=False) as wire:
        answer = await wire.get("/")
        assert (None, None) == (answer.header("Date"), answer.header("Server"))


@on_every_loop
async def test_headers_and_cookies_arrive_in_order():
    app = App()

    @app.get("/")
    def cookies(request):
        response = Response("x", headers=[("X-A", "1"), ("X-A", "2")])
        response.set_cookie("id", "7", http_only=True, same_site="strict")
        response.delete_cookie("old")
        response.set_header("X-B", "ü".encode().decode("latin-1"))
        return response

    async with connected(app) as wire:
        answer = await wire.get("/")
        assert ["1", "2"] == answer.all("X-A")
        first, second = answer.all("Set-Cookie")
        assert first.startswith("id=7; ") and "HttpOnly" in first and "SameSite=Strict" in first
        assert second.startswith("old=") and "max-age=0" in second.lower()


@pytest.mark.parametrize("wrong", [object(), 7, 1.5, ("x", "y"), {"a": object()}, {"a": float("nan")}])
@pytest.mark.parametrize("path", ["/sync", "/async"])
@on_every_loop
async def test_a_result_that_is_no_answer_is_a_500_and_the_connection_lives(wrong, path, caplog):
    app = App()
    app.get("/")(lambda request: "alive")

    @app.get("/sync")
    def plain(request):
        return wrong

    @app.get("/async")
    async def waiting(request):
        await asyncio.sleep(0)
        return wrong

    async with connected(app) as wire:
        assert (await wire.get(path)).status == 500
        assert b"alive" == (await wire.get("/")).body


@on_every_loop
async def test_head_and_304_have_no_body_and_the_next_answer_starts_where_it_should():
    app = App()
    app.get("/")(lambda request: "0123456789")
    app.get("/304")(lambda request: Response("never sent", status=304))
    async with connected(app) as wire:
        wire.send(request("/", method="HEAD") + request("/304") + request("/"))
        head = await wire.answer(head_only=True)
        assert (200, "10") == (head.status, head.header("Content-Length"))
        assert 304 == (await wire.answer()).status
        assert b"0123456789" == (await wire.answer()).body


@on_every_loop
async def test_keep_alive_of_both_versions():
    app = App()
    app.get("/")(lambda request: "x")
    for given, stays in [
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", True),
        (b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", False),
        (b"GET / HTTP/1.1\r\nHost: x\r\nConnection: x, Close\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", True),
    ]:
        async with connected(app) as wire:
            wire.send(given)
            assert b"x" == (await wire.answer()).body
            if stays:
                wire.send(given)
                assert b"x" == (await wire.answer()).body
            else:
                assert await wire.ended(), given


@on_every_loop
async def test_half_closing_clients_get_their_answers():
    app = App()

    @app.get("/")
    async def slow(request):
        await asyncio.sleep(0.02)
        return "late"

    async with connected(app) as wire:
        wire.send(request("/") * 3)
        wire.writer.write_eof()
        assert [b"late"] * 3 == [(await wire.answer()).body for _ in range(3)]
        assert await wire.ended()


@on_every_loop
async def test_every_status_from_200_to_599_and_a_long_header():
    app = App()

    @app.get("/{status:int}")
    def handler(request, status):
        return Response("x", status=status, headers={"X-Long": "y" * 20000})

    bodiless = {204, 304}
    async with connected(app) as wire:
        for status in range(200, 600):
            answer = await wire.get(f"/{status}")
            assert (status, "y" * 20000) == (answer.status, answer.header("x-long"))
            assert (b"" if status in {*bodiless, 205} else b"x") == answer.body
