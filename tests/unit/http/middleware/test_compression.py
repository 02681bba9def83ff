"""Compression: what is compressed, how, for whom, and what the answer says then."""

from __future__ import annotations

import asyncio
import gzip
import sys
import zlib
from collections.abc import AsyncIterator
from typing import Any

import brotli
import pytest
import tarmac
import zstandard
from tarmac import App, ConfigurationError, Response
from tarmac.middleware import Compression, codings
from tarmac.testing import AsyncClient, Client

TEXT = "compress me, compress me again. " * 100
LARGE = TEXT * 200

UNPACK = {
    "gzip": gzip.decompress,
    "br": brotli.decompress,
    "zstd": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
}


def site(**options: Any) -> App:
    app = App()
    app.add_middleware(Compression(**options))
    app.get("/")(lambda request: TEXT)
    app.get("/large")(lambda request: LARGE)
    app.get("/json")(lambda request: {"text": TEXT})
    app.get("/bytes")(lambda request: TEXT.encode())
    app.get("/none")(lambda request: None)
    app.get("/stream")(lambda request: tarmac.stream([TEXT, "", b"end"], content_type="text/csv"))

    @app.get("/as/{size:int}")
    def sized(request, size):
        return "x" * size

    @app.get("/with")
    def special(request):
        return Response(
            TEXT,
            status=int(request.query.get("status", 200)),
            content_type=request.query.get("type"),
            headers=[(name, value) for name, value in request.query_pairs if name[0].isupper()],
        )

    return app


@pytest.fixture(scope="module")
def client():
    with Client(site()) as client:
        yield client


@pytest.mark.parametrize("name", UNPACK)
@pytest.mark.parametrize("path", ["/", "/large", "/json", "/stream"])
def test_the_client_gets_what_it_accepts(client, name, path):
    plain = client.get(path)
    answer = client.get(path, headers={"Accept-Encoding": name})
    assert (name, "Accept-Encoding") == (answer.headers["content-encoding"], answer.headers["vary"])
    assert plain.body == UNPACK[name](answer.body)
    assert len(answer.body) < len(plain.body) / 4
    assert plain.headers["content-type"] == answer.headers["content-type"]
    assert ("content-encoding" in plain.headers, plain.headers["vary"]) == (False, "Accept-Encoding")


@pytest.mark.parametrize(
    ("accepted", "chosen"),
    [
        ("gzip, br, zstd", "zstd"),
        ("gzip, br", "br"),
        ("gzip", "gzip"),
        ("x-gzip", "gzip"),
        ("gzip;q=0.9, br;q=0.8", "gzip"),
        ("br;q=0, gzip;q=0.1", "gzip"),
        ("*", "zstd"),
        ("*;q=0.5, br", "br"),
        ("zstd;q=0, *", "br"),
        ("GZIP", "gzip"),
        ("identity", None),
        ("identity, gzip;q=0.5", None),
        ("identity;q=0.5, gzip", "gzip"),
        ("gzip;q=0", None),
        ("gzip;q=x", None),
        ("gzip;q=2", None),
        ("deflate", None),
        ("", None),
        (", ,", None),
    ],
)
def test_negotiation(client, accepted, chosen):
    answer = client.get("/", headers={"Accept-Encoding": accepted})
    assert chosen == answer.headers.get("content-encoding")
    assert TEXT.encode() == (UNPACK[chosen](answer.body) if chosen else answer.body)


def test_the_server_chooses_in_its_order_among_equals():
    with Client(site(encodings=["gzip", "br"])) as client:
        assert "gzip" == client.get("/", headers={"Accept-Encoding": "br, gzip, zstd"}).headers["content-encoding"]


@pytest.mark.parametrize(
    ("params", "compressed", "varies"),
    [
        ({"type": "text/html"}, True, True),
        ({"type": "application/problem+json"}, True, True),
        ({"type": "image/svg+xml"}, True, True),
        ({"type": "image/png"}, False, False),
        ({"type": "application/zip"}, False, False),
        ({"Content-Encoding": "gzip"}, False, False),
        ({"Content-Range": "bytes 0-1/2"}, False, False),
        ({"status": "206"}, False, False),
        ({"Cache-Control": "private, No-Transform"}, False, False),
        ({"Cache-Control": "no-cache"}, True, True),
        ({"status": "404"}, True, True),
    ],
)
def test_what_is_compressed(client, params, compressed, varies):
    answer = client.get("/with", params=params, headers={"Accept-Encoding": "gzip"})
    assert (compressed, varies) == (
        params.get("Content-Encoding") is None and "content-encoding" in answer.headers,
        "vary" in answer.headers,
    )


def test_the_least_size_counts(client):
    for size, compressed in [(499, False), (500, True)]:
        answer = client.get(f"/as/{size}", headers={"Accept-Encoding": "gzip"})
        assert (compressed, "Accept-Encoding") == ("content-encoding" in answer.headers, answer.headers["vary"])


def test_what_does_not_shrink_stays():
    with Client(site(minimum=0)) as client:
        assert "content-encoding" not in client.get("/as/3", headers={"Accept-Encoding": "gzip"}).headers


def test_answers_without_content_stay(client):
    answer = client.get("/none", headers={"Accept-Encoding": "gzip"})
    assert (204, False) == (answer.status, "content-encoding" in answer.headers)


@pytest.mark.parametrize("path", ["/", "/stream"])
def test_head_says_what_get_would(client, path):
    head, get = (getattr(client, method)(path, headers={"Accept-Encoding": "gzip"}) for method in ("head", "get"))
    for name in ("content-encoding", "vary", "content-length", "transfer-encoding", "content-type"):
        assert get.headers.get(name) == head.headers.get(name), name


@pytest.mark.parametrize(("tag", "sent"), [('"abc"', 'W/"abc"'), ('W/"abc"', 'W/"abc"')])
def test_a_tag_becomes_weak(client, tag, sent):
    answer = client.get("/with", params={"ETag": tag}, headers={"Accept-Encoding": "gzip"})
    assert sent == answer.headers["etag"]
    assert tag == client.get("/with", params={"ETag": tag}).headers["etag"]


def test_vary_is_added_to_what_is_there(client):
    def vary(value):
        return client.get("/with", params={"Vary": value}, headers={"Accept-Encoding": "gzip"}).headers["vary"]

    assert ("Cookie, Accept-Encoding", "accept-encoding", "*") == (vary("Cookie"), vary("accept-encoding"), vary("*"))


PIECE = {
    "gzip": lambda: zlib.decompressobj(31).decompress,
    "br": lambda: brotli.Decompressor().process,
    "zstd": lambda: zstandard.ZstdDecompressor().decompressobj().decompress,
}


@pytest.mark.parametrize("name", PIECE)
def test_each_piece_of_a_stream_can_be_read_when_it_comes(name):
    app, go = App(), asyncio.Event()
    app.add_middleware(Compression())

    async def pieces() -> AsyncIterator[str]:
        yield "first"
        await go.wait()
        yield "second"

    @app.get("/")
    async def events(request):
        return tarmac.stream(pieces(), content_type="text/event-stream")

    async def main() -> None:
        async with AsyncClient(app) as client, client.stream("GET", "/", headers={"Accept-Encoding": name}) as stream:
            unpack, came = PIECE[name](), b""
            async for piece in stream:
                came += unpack(piece)
                if came == b"first":
                    go.set()
            assert b"firstsecond" == came

    asyncio.run(main())


def test_files_are_compressed_and_their_parts_are_not(tmp_path):
    (tmp_path / "small.txt").write_text(TEXT)
    (tmp_path / "large.txt").write_text(LARGE)
    app = App()
    app.add_middleware(Compression())
    app.get("/{name}")(lambda request, name: tarmac.file(tmp_path / name))
    with Client(app) as client:
        for name, text in (("small.txt", TEXT), ("large.txt", LARGE)):
            answer = client.get(f"/{name}", headers={"Accept-Encoding": "gzip"})
            assert ("gzip", text.encode()) == (answer.headers["content-encoding"], gzip.decompress(answer.body))
            assert "accept-ranges" not in answer.headers
            tag = answer.headers["etag"]
            assert tag.startswith('W/"')
            again = client.get(f"/{name}", headers={"Accept-Encoding": "gzip", "If-None-Match": tag})
            assert (304, b"") == (again.status, again.body)
            part = client.get(f"/{name}", headers={"Accept-Encoding": "gzip", "Range": "bytes=0-7"})
            assert (206, b"compress", False) == (part.status, part.body, "content-encoding" in part.headers)
            plain = client.get(f"/{name}")
            assert (text.encode(), "bytes") == (plain.body, plain.headers["accept-ranges"])


def test_what_is_not_installed_is_told(monkeypatch):
    def find(name, package=None):
        return None if name in {"brotli", "zstandard", "compression"} else object()

    monkeypatch.setattr(codings, "find_spec", find)
    assert ["gzip"] == codings.available()
    monkeypatch.setitem(sys.modules, "brotli", None)
    with pytest.raises(ConfigurationError, match=r"tarmac\[compress\]"):
        Compression(encodings=["br"])
    with Client(site()) as client:
        answer = client.get("/", headers={"Accept-Encoding": "br, zstd, gzip;q=0.1"})
        assert "gzip" == answer.headers["content-encoding"]


def test_an_unknown_encoding_is_refused():
    for options in ({"encodings": ["lzma"]}, {"levels": {"lzma": 1}}):
        with pytest.raises(ConfigurationError, match="lzma"):
            Compression(**options)


def test_levels_are_heeded():
    sizes = []
    for level in (1, 9):
        with Client(site(levels={"gzip": level})) as client:
            sizes.append(len(client.get("/large", headers={"Accept-Encoding": "gzip"}).body))
    assert sizes[0] > sizes[1]
