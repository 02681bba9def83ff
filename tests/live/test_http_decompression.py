"""Bodies that come compressed are read as if they had come plain, up to a limit."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from support.http import Answer, connected
from support.loops import on_every_loop
from tarmac import App
from tarmac.middleware import Decompression

pytestmark = pytest.mark.live

PLAIN = b"the plain body " * 100


def site(**options: Any) -> App:
    """Answers with the body that the handler sees."""
    app = App()
    app.add_middleware(Decompression(**options))

    @app.post("/body")
    async def body(request):
        return await request.body()

    @app.post("/json")
    async def read_json(request):
        return {"read": await request.json()}

    @app.post("/form")
    async def form(request):
        return dict(await request.form())

    @app.post("/stream", stream=True)
    async def stream(request):
        return b"".join([piece async for piece in request.stream()])

    return app


async def post(path: str, body: bytes, coding: str | None, headers: str = "", **options: Any) -> Answer:
    if coding is not None:
        headers += f"Content-Encoding: {coding}\r\n"
    async with connected(site(**options)) as wire:
        return await wire.get(path, method="POST", headers=headers, body=body)


CODED: list[tuple[str | None, Callable[[bytes], bytes]]] = [
    ("gzip", gzip.compress),
    ("GZIP", gzip.compress),
    ("x-gzip", gzip.compress),
    ("identity, gzip", gzip.compress),
    ("gzip", lambda data: gzip.compress(data[:7]) + gzip.compress(b"") + gzip.compress(data[7:])),
    ("deflate", zlib.compress),
    ("identity", bytes),
    (None, bytes),
]


@pytest.mark.parametrize("case", range(len(CODED)))
@pytest.mark.parametrize("path", ["/body", "/stream"])
@on_every_loop
async def test_the_handler_reads_the_plain_body(path, case):
    coding, compress = CODED[case]
    answer = await post(path, compress(PLAIN), coding)
    assert (200, PLAIN) == (answer.status, answer.body)


@on_every_loop
async def test_an_empty_body_can_be_compressed():
    assert b"" == (await post("/body", gzip.compress(b""), "gzip")).body


@on_every_loop
async def test_json_and_forms_can_be_compressed():
    answer = await post("/json", gzip.compress(b'{"a": 1}'), "gzip")
    assert {"read": {"a": 1}} == json.loads(answer.body)
    urlencoded = "Content-Type: application/x-www-form-urlencoded\r\n"
    assert {"a": "1"} == json.loads((await post("/form", gzip.compress(b"a=1"), "gzip", urlencoded)).body)
    multipart = "Content-Type: multipart/form-data; boundary=b\r\n"
    parts = b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--b--\r\n'
    assert {"a": "1"} == json.loads((await post("/form", gzip.compress(parts), "gzip", multipart)).body)


@pytest.mark.parametrize("path", ["/body", "/stream"])
@pytest.mark.parametrize(("size", "status"), [(1000, 200), (1001, 413), (100_000_000, 413)])
@on_every_loop
async def test_the_plain_body_has_a_limit(path, size, status):
    """Also for a hundred thousand bytes that would become a hundred million."""
    answer = await post(path, gzip.compress(bytes(size)), "gzip", max_bytes=1000)
    assert status == answer.status


@on_every_loop
async def test_the_limit_is_sixteen_mebibytes_unless_told():
    limit = 16 * 1024 * 1024
    for size, status in ((limit, 200), (limit + 1, 413)):
        assert status == (await post("/body", gzip.compress(bytes(size), 1), "gzip")).status


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "deflate, gzip", "nonsense"])
@on_every_loop
async def test_other_codings_are_refused_with_those_that_are_read(coding):
    answer = await post("/body", b"x", coding)
    assert (415, "gzip, deflate") == (answer.status, answer.header("Accept-Encoding"))


BROKEN = [
    ("gzip", b""),
    ("gzip", b"plain"),
    ("gzip", gzip.compress(PLAIN)[:-1]),
    ("gzip", gzip.compress(PLAIN)[:5]),
    ("gzip", gzip.compress(PLAIN) + b"x"),
    ("gzip", gzip.compress(PLAIN)[:-8] + bytes(8)),
    ("gzip", zlib.compress(PLAIN)),
    ("deflate", gzip.compress(PLAIN)),
    ("deflate", zlib.compress(PLAIN)[:-1]),
    ("deflate", zlib.compress(PLAIN) + zlib.compress(PLAIN)),
]


@pytest.mark.parametrize(("coding", "body"), BROKEN)
@pytest.mark.parametrize("path", ["/body", "/stream"])
@on_every_loop
async def test_what_is_not_in_its_coding_is_refused(path, coding, body):
    answer = await post(path, body, coding)
    assert (400, f"The body is not in {coding}.") == (answer.status, answer.body.decode())
