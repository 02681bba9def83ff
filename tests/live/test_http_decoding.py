"""How paths, queries and forms are decoded: once, at the time somebody looks, and the same everywhere."""

from __future__ import annotations

import json

import pytest
from support.http import connected
from support.loops import on_every_loop
from tarmac import App
from tarmac.compat.japronto import Application

pytestmark = pytest.mark.live

FORM = "Content-Type: application/x-www-form-urlencoded\r\n"

# what is sent, what it means as pairs, in order
PAIRS = [
    ("a=%C3%A9&b=%c3%a9", [("a", "é"), ("b", "é")]),
    ("a=x+y&b=x%20y&c=x%2By", [("a", "x y"), ("b", "x y"), ("c", "x+y")]),
    ("a=1%262&b%3Dc=d%3de", [("a", "1&2"), ("b=c", "d=e")]),
    ("a=b=c", [("a", "b=c")]),
    ("a=1&a=2&b=3&a=", [("a", "1"), ("a", "2"), ("b", "3"), ("a", "")]),
    ("a=&b&=c&=", [("a", ""), ("b", ""), ("", "c"), ("", "")]),
    ("&&a=1&", [("a", "1")]),
    ("a=%&b=%4&c=%zz&d=%2", [("a", "%"), ("b", "%4"), ("c", "%zz"), ("d", "%2")]),
    ("a=%2525", [("a", "%25")]),
    ("a=1;b=2", [("a", "1;b=2")]),
    ("a=%ff", [("a", "\udcff")]),
    ("%61%5B%5d=1", [("a[]", "1")]),
    ("a=%00%0a", [("a", "\0\n")]),
]


@pytest.mark.parametrize(("sent", "meant"), PAIRS)
@on_every_loop
async def test_queries_and_forms(sent, meant):
    seen: dict[str, object] = {}
    app = App()

    @app.post("/")
    async def look(request):
        seen.update(query=request.query_pairs, last=request.query, form=dict((await request.form()).items()))
        return "seen"

    async with connected(app) as wire:
        answer = await wire.get(f"/?{sent}", method="POST", headers=FORM, body=sent.encode())
    assert b"seen" == answer.body
    assert {"query": meant, "last": dict(meant), "form": dict(meant)} == seen


# what is sent, the decoded path, the parameters of "/{a}/{b}"
PATHS = [
    ("/x/%C3%A9", "/x/é", ("x", "é")),
    ("/x/%c3%a9", "/x/é", ("x", "é")),
    ("/x+y/%2B", "/x+y/+", ("x+y", "+")),
    ("/a%2Fb/c%2fd", "/a/b/c/d", ("a/b", "c/d")),
    ("/%26/%3f", "/&/?", ("&", "?")),
    ("/%2525/%", "/%25/%", ("%25", "%")),
    ("/a/..", "/a/..", ("a", "..")),
    ("/a;b=1/%00", "/a;b=1/\0", ("a;b=1", "\0")),
]


@pytest.mark.parametrize(("sent", "path", "parameters"), PATHS)
@on_every_loop
async def test_paths(sent, path, parameters):
    app = App()

    @app.get("/{a}/{b}")
    def look(request, a, b):
        return [request.path, request.raw_path.decode(), a, b]

    async with connected(app) as wire:
        assert [path, sent, *parameters] == json.loads((await wire.get(f"{sent}?a=1")).body)


SPOILT = "Cookie: \xff=;;=\r\nContent-Type: application/json; charset=nowhere\r\n"


@on_every_loop
async def test_what_nobody_looks_at_is_not_decoded():
    """A request whose every part is spoilt is no trouble for a handler that looks at none of them."""
    app = App()
    app.post("/{rest:path}")(lambda request, rest: request.method)
    old = Application()
    old.router.add_route("/x", lambda request: request.Response(text=request.method))
    for service in (app, old.service()):
        async with connected(service) as wire:
            head = f"POST /x?%ff=%zz HTTP/1.1\r\nHost: x\r\n{SPOILT}Content-Length: 2\r\n\r\n".encode("latin-1")
            wire.send(head + b"\xff{")
            assert b"POST" == (await wire.answer()).body


@on_every_loop
async def test_japrontos_attributes_are_read_once():
    app = Application()

    def look(request):
        same = [
            getattr(request, name) is getattr(request, name)
            for name in ("headers", "query", "cookies", "json", "extra")
        ]
        return request.Response(json=same)

    app.router.add_route("/", look)
    async with connected(app.service()) as wire:
        answer = await wire.get("/?a=1", method="POST", headers="Cookie: a=1\r\n", body=b"[]")
        assert [True] * 5 == json.loads(answer.body)
