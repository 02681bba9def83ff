"""Generated requests against a server that tells what it saw: every part arrives as it was meant.

Methods, paths, queries, headers and bodies of 0 to 8 KiB and more, with a length or in chunks with extensions and
trailers, several on one connection, cut anywhere.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

import pytest
import tarmac
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support.http import Wire

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.live

TOKEN = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
# What decides on the connection or the body is the test's own to write.
OWN = {"host", "connection", "content-length", "transfer-encoding", "expect", "upgrade", "te", "trailer", "keep-alive"}
TRAILERS = {"content-type", "content-encoding", "authorization", "set-cookie", "cookie", "range", "date", "age"}


@dataclass(frozen=True)
class Chunked:
    """How a body is cut into chunks, and what stands around them."""

    sizes: tuple[int, ...]
    extension: str
    trailers: tuple[tuple[str, str], ...]
    upper: bool


@dataclass(frozen=True)
class Asked:
    """One request, before it is written."""

    method: str
    segments: tuple[str, ...]
    query: tuple[tuple[str, str], ...]
    headers: tuple[tuple[str, str], ...]
    body: bytes
    chunked: Chunked | None
    plus: bool  # how a space of the query is written

    @property
    def path(self) -> str:
        return "/" + "/".join(quote(segment, safe="") for segment in self.segments)

    def written(self) -> bytes:
        encode = quote_plus if self.plus else in_small_letters
        query = "&".join(f"{encode(name)}={encode(value)}" for name, value in self.query)
        target = self.path + (f"?{query}" if query else "")
        head = f"{self.method} {target} HTTP/1.1\r\nHost: generated\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in self.headers)
        if self.chunked is None:
            length = f"Content-Length: {len(self.body)}\r\n" if self.body or self.method in {"POST", "PUT"} else ""
            return f"{head}{length}\r\n".encode("latin-1") + self.body
        return f"{head}Transfer-Encoding: chunked\r\n\r\n".encode("latin-1") + in_chunks(self.body, self.chunked)

    def expected(self) -> dict[str, Any]:
        headers = [(name.lower(), value.strip(" \t")) for name, value in self.headers]
        return {
            "method": self.method,
            "raw_path": self.path,
            "path": "/" + "/".join(self.segments),
            "query": [list(pair) for pair in self.query],
            "headers": sorted([["host", "generated"], *map(list, headers)]),
            "body": base64.b64encode(self.body).decode(),
        }


def in_small_letters(text: str) -> str:
    """Percent-encoded with %c3 where others write %C3."""
    return re.sub("%[0-9A-F]{2}", lambda escape: escape[0].lower(), quote(text, safe=""))


def in_chunks(body: bytes, how: Chunked) -> bytes:
    """*body* in chunks of the sizes that were drawn, and one for what is left."""
    out, place = bytearray(), 0
    for size in [*how.sizes, len(body)]:
        piece = body[place : place + size]
        place += len(piece)
        if piece:
            number = f"{len(piece):X}" if how.upper else f"{len(piece):x}"
            out += f"{number}{how.extension}\r\n".encode() + piece + b"\r\n"
    trailers = "".join(f"{name}: {value}\r\n" for name, value in how.trailers)
    return bytes(out) + f"0{how.extension}\r\n{trailers}\r\n".encode("latin-1")


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SEGMENTS = st.lists(TEXT, min_size=1, max_size=4).map(tuple)
NAMES = st.text(TOKEN, min_size=1, max_size=12)
VISIBLE = st.characters(min_codepoint=0x20, max_codepoint=0xFF, exclude_characters="\x7f")
VALUES = st.text(VISIBLE | st.just("\t"), max_size=40)
FIELDS = st.lists(st.tuples(NAMES.filter(lambda name: name.lower() not in OWN), VALUES), max_size=6).map(tuple)
BODIES = st.binary(max_size=64) | st.tuples(st.integers(0, 8192), st.binary(min_size=1, max_size=7)).map(
    lambda drawn: (drawn[1] * (drawn[0] // len(drawn[1]) + 1))[: drawn[0]]
)
EXTENSIONS = st.sampled_from(["", ";a", ";a=b", ';a="b;\\"c"', "; a = b ;c", ";x=y;z"])
CHUNKED = st.builds(
    Chunked,
    sizes=st.lists(st.integers(1, 4000), max_size=6).map(tuple),
    extension=EXTENSIONS,
    trailers=st.lists(st.tuples(NAMES.filter(lambda name: name.lower() not in OWN | TRAILERS), VALUES), max_size=2).map(
        tuple
    ),
    upper=st.booleans(),
)
METHODS = st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"]) | st.text(
    TOKEN, min_size=1, max_size=10
).filter(lambda name: name not in {"HEAD", "CONNECT", "PRI"})
ASKED = st.builds(
    Asked,
    method=METHODS,
    segments=SEGMENTS,
    query=st.lists(st.tuples(TEXT, TEXT), max_size=4).map(tuple),
    headers=FIELDS,
    body=BODIES,
    chunked=st.none() | CHUNKED,
    plus=st.booleans(),
)


def dump_server() -> tarmac.App:
    """Answers everything with what it saw."""
    app = tarmac.App()

    @app.error(404)
    async def dump(request, error):
        body = await request.body()
        return {
            "method": request.method,
            "raw_path": request.raw_path.decode("latin-1"),
            "path": request.path,
            "query": request.query_pairs,
            "headers": sorted(
                [name, value]
                for name, value in request.headers.multi_items()
                if name not in {"content-length", "transfer-encoding"}
            ),
            "body": base64.b64encode(body).decode(),
        }

    return app


@pytest.fixture(scope="module")
def exchange() -> Iterator[Any]:
    """Give `exchange(pieces, count)`: the decoded answers to what is sent on one connection."""
    with asyncio.Runner() as runner:
        server = runner.run(tarmac.serve(dump_server(), port=0))

        async def talk(pieces: list[bytes], count: int) -> list[Any]:
            async with Wire(server.port) as wire:
                for piece in pieces:
                    wire.send(piece)
                    await wire.writer.drain()
                    await asyncio.sleep(0)
                answers = [await wire.answer() for _ in range(count)]
            assert all(answer.status == 200 for answer in answers), answers
            return [json.loads(answer.body) for answer in answers]

        yield lambda pieces, count: runner.run(talk(pieces, count))
        runner.run(server.stop())


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """*data* in pieces, cut at places that are taken modulo its length."""
    ends = sorted({place % (len(data) + 1) for place in places} | {len(data)})
    return [data[start:end] for start, end in zip([0, *ends], ends, strict=False) if end > start]


OPTIONS = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@OPTIONS
@given(asked=ASKED)
@example(Asked("GET", ("",), (), (), b"", None, plus=False))
@example(
    Asked("GET", ("..", "a/b", "%2F", "?", "#", "+"), (("a&b", "c=d+e %26"), ("a&b", "")), (), b"", None, plus=True)
)
@example(Asked("POST", ("x",), (), (("X", ""), ("x", " \t "), ("X", "\xff\t\xa0")), b"\r\n0\r\n\r\n", None, plus=False))
@example(
    Asked("POST", ("x",), (), (), b"0\r\n\r\nGET / ", Chunked((1, 1), ";a", (("T", "v"),), upper=True), plus=False)
)
def test_every_part_of_a_request_arrives_as_it_was_meant(exchange, asked):
    assert [asked.expected()] == exchange([asked.written()], 1)


@OPTIONS
@given(pipeline=st.lists(ASKED, min_size=1, max_size=8), places=st.lists(st.integers(0, 2**20), max_size=8))
def test_pipelines_cut_anywhere_are_answered_in_order(exchange, pipeline, places):
    data = b"".join(asked.written() for asked in pipeline)
    assert [asked.expected() for asked in pipeline] == exchange(cut(data, places), len(pipeline))


@settings(OPTIONS, max_examples=15)
@given(
    size=st.integers(8193, 300_000),
    chunked=st.none() | CHUNKED,
    places=st.lists(st.integers(0, 2**20), max_size=20),
    after=ASKED,
)
def test_large_bodies_and_what_follows_them(exchange, size, chunked, places, after):
    body = (bytes(range(256)) * (size // 256 + 1))[:size]
    large = Asked("PUT", ("large",), (), (), body, chunked, plus=False)
    data = large.written() + after.written()
    assert [large.expected(), after.expected()] == exchange(cut(data, places), 2)
