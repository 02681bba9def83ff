"""What a handler sees of a request."""

from __future__ import annotations

import asyncio
import json

import pytest
from support.http import connected, request
from support.loops import on_every_loop
from tarmac import App, Request

pytestmark = pytest.mark.live


async def seen(wire_bytes: bytes, look) -> object:
    """Give what *look* sees of the request that is sent."""
    found: list[object] = []
    app = App()

    async def handler(request: Request, rest: str):
        value = look(request)
        found.append(await value if hasattr(value, "__await__") else value)
        return "ok"

    app.add_route("/{rest:path}", handler, methods=("GET", "POST", "PUT"))
    async with connected(app) as wire:
        wire.send(wire_bytes)
        answer = await wire.answer()
    assert answer.status == 200, answer
    return found[0]


HEADERS = "X-One: a\r\nx-one: b\r\nUser-Agent: t\xe9st\r\n"
COOKIES = 'Cookie: a=1; b="two"; c=x=y; broken\r\n'
FORM = "Content-Type: application/x-www-form-urlencoded\r\n"


SEEN = [
    (request("/x"), lambda r: r.method, "GET"),
    (request("/x", method="PUT"), lambda r: r.method, "PUT"),
    (request("/a%20b/c?x=1"), lambda r: r.path, "/a b/c"),
    (request("/a%20b/c?x=1"), lambda r: r.raw_path, b"/a%20b/c"),
    (request("/x?a=1&b=%C3%A4+x"), lambda r: r.query_string, b"a=1&b=%C3%A4+x"),
    (request("/x"), lambda r: r.query_string, b""),
    (request("/x?a=1&b=%C3%A4+x&a=2"), lambda r: r.query, {"a": "2", "b": "ä x"}),
    (request("/x?a=1&b&a=2"), lambda r: r.query_pairs, [("a", "1"), ("b", ""), ("a", "2")]),
    (request("/x", headers=HEADERS), lambda r: r.headers["X-ONE"], "a"),
    (request("/x", headers=HEADERS), lambda r: r.headers.get_all("x-One"), ["a", "b"]),
    (request("/x", headers=HEADERS), lambda r: "x-one" in r.headers, True),
    (request("/x", headers=HEADERS), lambda r: r.headers.get("none"), None),
    (request("/x", headers="A: 1\r\nB: 2\r\n"), lambda r: len(r.headers), 3),
    (request("/x", headers="A: 1\r\n"), lambda r: [(k.lower(), v) for k, v in r.headers.multi_items()],
     [("host", "test"), ("a", "1")]),
    (request("/x", headers="A: 1\r\n"), lambda r: [r.header("a"), r.header("b"), r.header("b", "z")],
     ["1", None, "z"]),
    (request("/x", headers=COOKIES), lambda r: {k: r.cookies[k] for k in "abc"},
     {"a": "1", "b": "two", "c": "x=y"}),
    (request("/x"), lambda r: r.cookies, {}),
    (request("/x"), lambda r: r.version, "1.1"),
    (b"GET /x HTTP/1.0\r\n\r\n", lambda r: (r.version, r.keep_alive), ("1.0", False)),
    (request("/x"), lambda r: r.keep_alive, True),
    (request("/x", headers="Connection: close\r\n"), lambda r: r.keep_alive, False),
    (request("/x"), lambda r: r.scheme, "http"),
    (request("/x"), lambda r: r.host, "test"),
    (request("/x"), lambda r: r.client[0], "127.0.0.1"),
    (request("/x/y"), lambda r: r.path_params, {"rest": "x/y"}),
    (request("/x"), lambda r: r.content, b""),
    (request("/x", method="POST", body=b"abc"), lambda r: r.content, b"abc"),
    (request("/x", method="POST", body=b"abc"), lambda r: r.body(), b"abc"),
    (request("/x", method="POST", body="ä".encode()), lambda r: r.text(), "ä"),
    (request("/x", method="POST", body=b'{"a": [1, 2.5, null]}'), lambda r: r.json(), {"a": [1, 2.5, None]}),
    (request("/x", method="POST", headers=FORM, body=b"a=1&b=x+y%21&a=2"), lambda r: r.form(),
     {"a": "2", "b": "x y!"}),
    (request("/x"), lambda r: r.disconnected, False),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(SEEN)))
@on_every_loop
async def test_a_request_is_seen_as_it_was_sent(case):
    given, look, expected = SEEN[case]
    assert expected == await seen(given, look)


@on_every_loop
async def test_a_chunked_body_is_read_whole():
    body = b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nX-Trailer: t\r\n\r\n"
    head = b"POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert b"hello world" == await seen(head + body, lambda r: r.content)


@on_every_loop
async def test_a_body_may_come_in_pieces_and_after_100_continue():
    app = App()

    @app.post("/")
    async def echo(request):
        return await request.body()

    async with connected(app) as wire:
        wire.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\nExpect: 100-continue\r\n\r\n")
        assert (await wire.answer()).status == 100
        for piece in (b"ab", b"c", b"def"):
            wire.send(piece)
            await wire.writer.drain()
        assert b"abcdef" == (await wire.answer()).body


@on_every_loop
async def test_a_missing_header_is_a_key_error():
    def look(request):
        with pytest.raises(KeyError):
            request.headers["nothing"]
        return True

    assert await seen(request("/x"), look)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"nope", b'{"a": }'])
@on_every_loop
async def test_a_body_that_is_not_json_is_a_bad_request(body):
    app = App()

    @app.post("/")
    async def handler(request):
        return await request.json()

    async with connected(app) as wire:
        assert (await wire.get("/", method="POST", body=body)).status == 400


@on_every_loop
async def test_state_is_the_requests_own_and_app_is_the_application():
    app = App()
    app.state.name = "shared"

    @app.get("/")
    async def handler(request):
        assert not hasattr(request.state, "touched")
        request.state.touched = True
        return json.dumps([request.state.touched, request.app.state.name, request.app is app])

    async with connected(app) as wire:
        for _ in range(3):
            assert b'[true, "shared", true]' == (await wire.get("/")).body


@on_every_loop
async def test_a_request_outlives_its_connection():
    kept: list[Request] = []
    app = App()

    @app.get("/{name}")
    def keep(request, name):
        kept.append(request)
        return "ok"

    async with connected(app) as wire:
        for number in range(50):
            await wire.get(f"/{number}?q={number}", headers=f"X-N: {number}\r\n")
    for number, one in enumerate(kept):
        assert (f"/{number}", str(number), str(number)) == (one.path, one.query["q"], one.headers["x-n"])


@on_every_loop
async def test_a_handler_may_answer_early_but_only_once(caplog):
    app = App()
    failures: list[BaseException] = []

    def twice(request):
        request.respond("first")
        with pytest.raises(RuntimeError) as caught:
            request.respond("second")
        failures.append(caught.value)

    app.get("/sync")(twice)

    @app.get("/eager")
    async def eager(request):
        twice(request)

    @app.get("/late")
    async def late(request):
        await asyncio.sleep(0)
        twice(request)

    async with connected(app) as wire:
        for path in ("/sync", "/eager", "/late"):
            assert b"first" == (await wire.get(path)).body
        assert len(failures) == 3
    assert not caplog.records
