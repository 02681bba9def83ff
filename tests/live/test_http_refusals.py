"""Every vector of the wire, over a socket: what two readers could understand in two ways is refused."""

from __future__ import annotations

import asyncio
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from support.http import Wire, connected, request, served
from support.loops import on_every_loop
from tarmac import App, Limits

pytestmark = pytest.mark.live

VECTORS = Path(__file__).parent.parent / "vectors" / "http1"


def vectors(kind: str) -> list[dict[str, Any]]:
    """Give every vector of a folder; a file that is empty or gone would be a test that cannot fail."""
    files = sorted((VECTORS / kind).glob("*.toml"))
    assert len(files) >= 3
    found = [{**vector, "file": file.name} for file in files for vector in tomllib.loads(file.read_text())["vector"]]
    assert len(found) >= 20
    return found


def raw(vector: dict[str, Any]) -> bytes:
    text: str = vector["input"]
    return text.encode("latin-1")


def site(called: list[bytes]) -> App:
    app = App()

    async def handler(request, rest=""):
        called.append(request.raw_path)
        return "called"

    methods = ("GET", "POST", "PUT", "PATCH", "DELETE")
    app.add_route("/", handler, methods=methods)
    app.add_route("/{rest:path}", handler, methods=methods)
    return app


@pytest.mark.parametrize("pieces", ["whole", "bytes"])
@on_every_loop
async def test_every_refused_vector_is_refused_and_its_connection_closed(pieces):
    called: list[bytes] = []
    async with served(site(called)) as server:
        for vector in vectors("refuse"):
            if "limits" in vector:
                continue
            what = f"{vector['file']}: {vector['name']}"
            async with Wire(server.port) as wire:
                if pieces == "whole":
                    # What follows a refused request belongs to nobody: it must never be run.
                    wire.send(raw(vector) + request("/smuggled"))
                else:
                    for byte in raw(vector):
                        wire.send(bytes([byte]))
                        await asyncio.sleep(0)
                rest = await wire.rest()
            assert rest.startswith(b"HTTP/1.1 "), f"{what}: {rest!r}"
            status = int(rest.split(b" ")[1])
            assert status == vector.get("status", 400), f"{what}: {rest!r}"
            assert b"connection: close" in rest.lower(), what
            assert 1 == len(re.findall(rb"HTTP/1\.1 \d\d\d ", rest)), what
            assert not called, what


@on_every_loop
async def test_a_pipeline_ends_at_a_refusal_inside_a_body():
    called: list[bytes] = []
    chunked = b"POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n"
    async with connected(site(called)) as wire:
        wire.send(request("/a") + chunked + request("/c"))
        assert [200, 400] == [(await wire.answer()).status for _ in range(2)]
        assert await wire.ended()
    assert [b"/a"] == called


BIG = [
    (Limits(request_line=100), request("/" + "x" * 200), 414),
    (Limits(header_count=5), request("/", headers="A: 1\r\n" * 6), 431),
    (Limits(header_bytes=500), request("/", headers=f"A: {'x' * 600}\r\n"), 431),
    (Limits(body_bytes=10), request("/", method="POST", body=b"x" * 11), 413),
    (
        Limits(body_bytes=10),
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n6\r\nabcdef\r\n0\r\n\r\n",
        413,
    ),
]


@pytest.mark.parametrize(("limits", "given", "status"), BIG, ids=["line", "count", "head", "length", "chunked"])
@on_every_loop
async def test_limits_have_statuses(limits, given, status):
    called: list[bytes] = []
    async with connected(site(called), limits=limits) as wire:
        wire.send(given)
        assert status == (await wire.answer()).status
        assert await wire.ended()
    assert not called


@on_every_loop
async def test_what_just_fits_is_answered():
    async with connected(site([]), limits=Limits(body_bytes=10, header_count=5)) as wire:
        answer = await wire.get("/", method="POST", body=b"x" * 10, headers="A: 1\r\n" * 3)
        assert 200 == answer.status


async def turned_away(wire: Wire) -> bool:
    """Tell whether a request is left unanswered for now, refused with 503, or its connection closed."""
    try:
        async with asyncio.timeout(0.2):
            return (await wire.answer()).status == 503
    except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
        return True


@on_every_loop
async def test_connections_beyond_the_cap_wait_or_are_refused_and_come_in_later():
    async with served(site([]), limits=Limits(connections=2)) as server:
        async with Wire(server.port) as first, Wire(server.port) as second:
            assert 200 == (await first.get("/")).status == (await second.get("/")).status
            async with Wire(server.port) as third:
                third.send(request("/"))
                assert await turned_away(third)
        async with asyncio.timeout(5):
            while True:
                async with Wire(server.port) as fourth:
                    try:
                        if (await fourth.get("/")).status == 200:
                            break
                    except (asyncio.IncompleteReadError, ConnectionError):
                        continue
