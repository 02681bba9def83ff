"""Every status from 100 to 599, as a whole answer and in pieces; what may not have a body has none."""

from __future__ import annotations

import asyncio
from http import HTTPStatus

import pytest
import tarmac
from support.http import connected, request
from support.loops import on_every_loop
from tarmac import App, Response

pytestmark = pytest.mark.live

BODILESS = {*range(100, 200), 204, 304}


def site() -> App:
    app = App()

    @app.get("/whole/{status:int}")
    def whole(request, status):
        return Response("body", status=status)

    @app.get("/pieces/{status:int}")
    async def pieces(request, status):
        return tarmac.stream(["bo", "dy"], status=status, length=4)

    @app.get("/after")
    def after(request):
        return "after"

    return app


@pytest.mark.parametrize("how", ["whole", "pieces"])
@on_every_loop
async def test_every_final_status_and_the_next_answer_behind_it(how):
    async with connected(site()) as wire:
        for status in range(200, 600):
            wire.send(request(f"/{how}/{status}") + request("/after"))
            answer, after = await wire.answer(), await wire.answer()
            empty = status in BODILESS or status == 205
            assert (status, b"" if empty else b"body") == (answer.status, answer.body)
            assert ({204: None, 205: "0", 304: None}.get(status, "4")) == answer.header("Content-Length")
            assert b"after" == after.body, status


@pytest.mark.parametrize("how", ["whole", "pieces"])
@on_every_loop
async def test_a_preliminary_status_as_the_answer_ends_the_connection(how):
    """Otherwise the client would take the answer to its next request for the answer to this one."""
    for status in (100, 101, 102, 103, 199):
        async with connected(site()) as wire:
            wire.send(request(f"/{how}/{status}") + request("/after"))
            head, _, rest = (await wire.rest()).partition(b"\r\n\r\n")
            assert head.startswith(f"HTTP/1.1 {status} ".encode())
            assert b"" == rest


@on_every_loop
async def test_every_status_with_a_name_says_it():
    async with connected(site()) as wire:
        for status in HTTPStatus:
            if status < 200:
                continue
            wire.send(request(f"/whole/{status}"))
            line = await asyncio.wait_for(wire.reader.readline(), 5)
            assert line.decode().split(" ", 2)[1] == str(int(status))
            assert line.split(b" ", 2)[2].strip(), status
            await wire.reader.readuntil(b"\r\n\r\n")
            await wire.reader.readexactly(0 if status in BODILESS or status == 205 else 4)


@pytest.mark.parametrize("status", [-1, 0, 99, 600, 1000])
def test_what_is_no_status_is_refused(status):
    with pytest.raises((ValueError, OverflowError)):
        Response("x", status=status)
