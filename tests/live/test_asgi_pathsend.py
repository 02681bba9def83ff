"""``http.response.pathsend``: files as answers of hosted applications."""

from __future__ import annotations

import os

import pytest
from starlette.applications import Starlette
from starlette.responses import FileResponse
from starlette.routing import Route
from support.asgi_records import until
from support.http import Wire, request, served
from support.loops import on_every_loop
from tarmac.hosting import Hosted

pytestmark = pytest.mark.live

CONTENT = os.urandom(3_000_000)


@pytest.fixture
def folder(tmp_path):
    """Give a folder with files of several kinds."""
    (tmp_path / "big").write_bytes(CONTENT)
    (tmp_path / "empty").write_bytes(b"")
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


def sends(folder, *, length: int | None = None) -> Hosted:
    """An application that sends the file that a path names, and notes what it is told."""

    async def app(scope, receive, send):
        assert scope["extensions"] == {"http.response.pathsend": {}}
        headers = [] if length is None else [(b"content-length", str(length).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.pathsend", "path": str(folder) + scope["path"]})

    return Hosted(app, lifespan="off")


@on_every_loop
async def test_a_file_is_the_whole_answer(folder):
    async with served(sends(folder)) as server, Wire(server.port) as wire:
        wire.send(request("/big") + request("/empty") + request("/big"))
        big, empty, again = [await wire.answer() for _ in range(3)]
        assert (CONTENT, str(len(CONTENT))) == (big.body, big.header("Content-Length"))
        assert (200, b"") == (empty.status, empty.body)
        assert CONTENT == again.body
        head = await wire.get("/big", method="HEAD")
        assert str(len(CONTENT)) == head.header("Content-Length")
        assert 200 == (await wire.get("/empty")).status


@on_every_loop
async def test_what_cannot_be_sent_is_an_error_before_anything_is_sent(folder):
    async with served(sends(folder)) as server, Wire(server.port) as wire:
        for path in ("/nothing", "/pipe", "/"):
            assert 500 == (await wire.get(path)).status
    async with served(sends(folder, length=7)) as server, Wire(server.port) as wire:
        assert 500 == (await wire.get("/big")).status


@on_every_loop
async def test_a_client_that_leaves_is_no_error(folder):
    async with served(sends(folder)) as server:
        async with Wire(server.port) as wire:
            wire.send(request("/big"))
            await wire.reader.readexactly(1000)
            wire.reset()
        await until(lambda: server.connections == 0)


@on_every_loop
async def test_starlette_sends_its_files_so(folder):
    async def file(request):
        return FileResponse(folder / "big", filename="big.bin")

    starlette, kinds = Starlette(routes=[Route("/file", file)]), []

    async def spied(scope, receive, send):
        async def note(event):
            kinds.append(event["type"])
            await send(event)

        await starlette(scope, receive, note)

    async with served(Hosted(spied, lifespan="off")) as server, Wire(server.port) as wire:
        answer = await wire.get("/file")
        assert CONTENT == answer.body
        assert ["http.response.start", "http.response.pathsend"] == kinds
        assert 'attachment; filename="big.bin"' == answer.header("Content-Disposition")
        part = await wire.get("/file", headers="Range: bytes=10-19\r\n")
        assert (206, CONTENT[10:20]) == (part.status, part.body)
