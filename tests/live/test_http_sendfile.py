"""Files leave by themselves: in order, in every framing, to slow clients, and never falsely framed."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
import tarmac
from support.http import Wire, connected, request, served
from support.loops import on_every_loop
from tarmac import App, Limits

pytestmark = pytest.mark.live

LENGTH = 3_000_000
CONTENT = bytes(range(251)) * (LENGTH // 251) + b"e" * (LENGTH % 251)


@pytest.fixture
def path(tmp_path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    return path


def site(path: Path, *, framed: bool = True, parts: tuple[tuple[int, int], ...] = ((0, LENGTH),)) -> App:
    """Sends parts of a file with a word before, between and after."""
    app = App()
    app.state.failures = []
    length = 1 + sum(count + 1 for _, count in parts) if framed else None

    @app.get("/")
    async def send(request):
        writer = request.start(200, content_type="text/plain", length=length)
        with path.open("rb") as file:
            await writer.write("<")
            for offset, count in parts:
                try:
                    await writer.send_file(file.fileno(), offset, count)
                except Exception as error:
                    app.state.failures.append(error)
                    raise
                await writer.write("|")
        writer.end()

    @app.get("/slow")
    async def slow(request):
        await asyncio.sleep(0.1)
        return "slow"

    app.get("/quick")(lambda request: "quick")
    return app


def chunked(pieces: list[bytes]) -> bytes:
    """These pieces as a body in chunks."""
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


WHOLE = b"<" + CONTENT + b"|"


@on_every_loop
async def test_a_file_comes_whole_and_the_connection_goes_on(path):
    async with connected(site(path)) as wire:
        for _ in range(3):
            answer = await wire.get("/")
            assert str(LENGTH + 2) == answer.header("Content-Length")
            assert answer.body == WHOLE
        assert b"quick" == (await wire.get("/quick")).body


@on_every_loop
async def test_parts_of_a_file_come_in_chunks(path):
    parts = ((5, 3), (0, 0), (10, 20), (LENGTH - 1, 1))
    async with connected(site(path, framed=False, parts=parts)) as wire:
        wire.send(request("/"))
        head = await wire.reader.readuntil(b"\r\n\r\n")
        assert b"Transfer-Encoding: chunked" in head
        body = await wire.reader.readuntil(b"0\r\n\r\n")
        pieces = [b"<", CONTENT[5:8], b"|", b"|", CONTENT[10:30], b"|", CONTENT[-1:], b"|"]
        assert body == chunked(pieces)
        assert b"quick" == (await wire.get("/quick")).body


@on_every_loop
async def test_the_answer_to_head_has_no_file(path):
    async with connected(site(path)) as wire:
        assert str(LENGTH + 2) == (await wire.get("/", method="HEAD")).header("Content-Length")
        assert b"quick" == (await wire.get("/quick")).body


@on_every_loop
async def test_an_old_client_gets_the_file_until_the_end(path):
    async with connected(site(path, framed=False)) as wire:
        wire.send("GET / HTTP/1.0\r\n\r\n")
        _, _, body = (await wire.rest()).partition(b"\r\n\r\n")
        assert body == WHOLE


@on_every_loop
async def test_a_file_waits_for_the_answers_before_it(path):
    """Several files and other answers on one connection, each behind a slow one."""
    for framed in (True, False):
        async with connected(site(path, framed=framed, parts=((0, 100_000), (7, 5)))) as wire:
            wire.send(request("/slow") + request("/") + request("/quick") + request("/"))
            pieces = [b"<", CONTENT[:100_000], b"|", CONTENT[7:12], b"|"]
            assert b"slow" == (await wire.answer()).body
            for last in (False, True):
                if framed:
                    assert (await wire.answer()).body == b"".join(pieces)
                else:
                    await wire.reader.readuntil(b"\r\n\r\n")
                    assert await wire.reader.readexactly(len(chunked(pieces))) == chunked(pieces)
                if not last:
                    assert b"quick" == (await wire.answer()).body


@on_every_loop
async def test_others_are_served_while_a_slow_client_takes_its_file(path):
    async with served(site(path)) as server, Wire(server.port) as slow, Wire(server.port) as quick:
        slow.send(request("/"))
        await slow.reader.readuntil(b"\r\n\r\n")
        got = b""
        while len(got) < len(WHOLE):
            got += await slow.reader.read(100_000)
            assert b"quick" == (await quick.get("/quick")).body
        assert got == WHOLE


@on_every_loop
async def test_a_client_that_takes_nothing_is_dropped(path):
    app = site(path, parts=((0, LENGTH),) * 10)
    async with served(app, limits=Limits(write_timeout=0.2)) as server, Wire(server.port) as wire:
        wire.send(request("/"))
        while not app.state.failures:  # noqa: ASYNC110 - the handler tells nobody else
            await asyncio.sleep(0.01)
        assert isinstance(app.state.failures[0], tarmac.Disconnected)
        assert 0 == server.connections


@on_every_loop
async def test_a_file_that_has_become_too_short_breaks_the_connection_off(path):
    async with connected(site(path, parts=((0, LENGTH), (0, LENGTH)))) as wire:
        wire.send(request("/"))
        await wire.reader.readexactly(1000)
        os.truncate(path, 1000)
        rest = await wire.rest()
        assert 1000 < len(rest) < 2 * LENGTH


@on_every_loop
async def test_a_wrong_descriptor_and_a_wrong_length_are_errors_of_the_handler(path):
    app = App()
    seen = []

    @app.get("/")
    async def send(request):
        writer = request.start(200, length=4)
        closed = os.open(path, os.O_RDONLY)
        os.close(closed)
        for descriptor in (-1, closed):
            with pytest.raises(OSError, match="Bad file descriptor"):
                writer.send_file(descriptor, 0, 4)
        with path.open("rb") as file:
            with pytest.raises(ValueError, match="more bytes were written than announced"):
                writer.send_file(file.fileno(), 0, 5)
            await writer.send_file(file.fileno(), 0, 4)
        writer.end()
        with path.open("rb") as file, pytest.raises(RuntimeError, match="this answer has ended"):
            writer.send_file(file.fileno(), 0, 1)
        seen.append("all")

    async with connected(app) as wire:
        assert CONTENT[:4] == (await wire.get("/")).body
    assert ["all"] == seen
