"""Forms as clients that others wrote send them, and the reader against any form that can be written."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.http import served
from support.loops import on_every_loop
from tarmac import App, BadRequest
from tarmac._native import FormReader

pytestmark = pytest.mark.live

CONTENT = bytes(range(256)) * 300 + b"\r\n--\r\n--boundary"


def site(seen: list[Any]) -> App:
    app = App()

    @app.post("/", stream=True)
    async def handler(request):
        form = await request.form(spool_bytes=1000)
        for name, value in form.multi_items():
            file = None if isinstance(value, str) else (value.filename, value.content_type, await value.read())
            seen.append((name, file or value))
        return "ok"

    @app.error(500)
    def tell(request, error):
        return repr(error), 500

    return app


SENT = [("text", "a\r\nb ä"), ("f", ("small.txt", "text/plain", b"hello")), ("g", ("b.bin", "a/b", CONTENT))]


@on_every_loop
async def test_httpx():
    seen: list[Any] = []
    files = [(name, (value[0], value[2], value[1])) for name, value in SENT[1:]]
    async with served(site(seen)) as server, httpx.AsyncClient(trust_env=False) as client:
        answer = await client.post(server.url, data={"text": "a\r\nb ä"}, files=files)
    assert (200, SENT) == (answer.status_code, seen)


@on_every_loop
async def test_aiohttp():
    seen: list[Any] = []
    form = aiohttp.FormData()
    form.add_field("text", "a\r\nb ä")
    for name, (filename, kind, content) in SENT[1:]:
        form.add_field(name, content, filename=filename, content_type=kind)
    async with served(site(seen)) as server, aiohttp.ClientSession() as session:
        answer = await session.post(server.url, data=form)
        assert 200 == answer.status, await answer.text()
    assert SENT == seen


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl on PATH: apt-get install curl")
@on_every_loop
async def test_curl(tmp_path: Path):
    (tmp_path / "small.txt").write_bytes(b"hello")
    (tmp_path / 'b"\\ä.bin').write_bytes(CONTENT)
    seen: list[Any] = []
    async with served(site(seen)) as server:
        curl = await asyncio.create_subprocess_exec(
            "curl", "-sS", "-F", "text=a b ä", "-F", "f=@small.txt", "-F", 'g=@"b\\"\\\\ä.bin";type=a/b', server.url,
            cwd=tmp_path, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert b"ok" == (await curl.communicate())[0]
    # It escapes quotes as browsers do now, or with backslashes as it did before.
    name = seen[2][1][0].replace("%22", '"')
    assert [("text", "a b ä"), SENT[1]] == seen[:2]
    assert ('b"\\ä.bin', "a/b", CONTENT) == (name, *seen[2][1][1:])


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=8)
DATA = st.binary(max_size=40) | st.sampled_from([b"\r\n--boun", b"\r", b"\r\n", b"x--bound--"])
# No line of the data begins with the boundary: then it would be one (RFC 2046 section 5.1.1).
PARTS = st.lists(st.tuples(NAMES, NAMES | st.none(), DATA.filter(lambda data: b"\n--bound" not in b"\n" + data)))


def quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


@given(PARTS, st.integers(1, 50))
def test_every_form_that_can_be_written_is_read(parts, size):
    body = b""
    for name, filename, data in parts:
        head = f'--bound\r\nContent-Disposition: form-data; name="{quoted(name)}"'
        head += "" if filename is None else f'; filename="{quoted(filename)}"'
        body += head.encode() + b"\r\n\r\n" + data + b"\r\n"
    body += b"--bound--\r\n"
    reader, read = FormReader("multipart/form-data; boundary=bound"), []
    for start in range(0, len(body), size):
        for event in reader.feed(body[start : start + size]):
            if isinstance(event, tuple):
                read.append((event[0], event[1], b""))
            elif event is not None:
                read[-1] = (*read[-1][:2], read[-1][2] + event)
    reader.finish()
    assert parts == read


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader(body):
    reader = FormReader("multipart/form-data; boundary=b")
    with contextlib.suppress(BadRequest):
        reader.feed(b"--b" + body)
        reader.finish()
