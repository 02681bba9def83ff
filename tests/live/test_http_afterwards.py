"""What a handler leaves to be done runs once, after the answer, however the handler ended."""

from __future__ import annotations

import asyncio
import threading

import pytest
import tarmac
from support.http import connected, request
from support.loops import on_every_loop, until
from tarmac import App, Response

pytestmark = pytest.mark.live


@pytest.mark.parametrize("kind", ["plain", "asynchronous", "suspended", "thread", "raising", "early", "expected"])
@on_every_loop
async def test_callbacks_run_once(kind, caplog):  # noqa: C901 - seven handlers, one line each
    app = App()
    seen: list[str] = []
    where: list[threading.Thread] = []

    def done(request):
        seen.append(request.path)
        where.append(threading.current_thread())

    async def done_too(request):
        await asyncio.sleep(0)
        seen.append("too")

    def ask(request):
        assert [] == seen
        tarmac.after(request, done)
        tarmac.after(request, done_too)

    @app.get("/plain")
    def plain(request):
        ask(request)
        return "x"

    @app.get("/asynchronous")
    async def asynchronous(request):
        ask(request)
        return "x"

    @app.get("/suspended")
    async def suspended(request):
        ask(request)
        await asyncio.sleep(0.01)
        assert [] == seen
        return "x"

    @app.get("/thread", blocking=True)
    def thread(request):
        ask(request)
        return "x"

    @app.get("/raising")
    async def raising(request):
        ask(request)
        message = "on purpose"
        raise ValueError(message)

    @app.get("/early")
    async def early(request):
        ask(request)
        request.respond("x")
        await asyncio.sleep(0.01)
        assert [] == seen

    @app.get("/expected")
    async def expected(request):
        ask(request)
        raise tarmac.NotFound

    async with connected(app) as wire:
        assert {"raising": 500, "expected": 404}.get(kind, 200) == (await wire.get(f"/{kind}")).status
        await until(lambda: len(seen) == 2)
    assert [f"/{kind}", "too"] == seen
    assert [threading.main_thread()] == where


@on_every_loop
async def test_a_cancelled_handler_is_over_too():
    app = App()
    seen: list[str] = []

    @app.get("/")
    async def slow(request):
        tarmac.after(request, lambda request: seen.append("over"))
        await asyncio.Event().wait()

    async with connected(app) as wire:
        wire.send(request("/"))
        await until(lambda: asyncio.all_tasks() - {asyncio.current_task()})
    assert ["over"] == seen


@pytest.mark.parametrize("path", ["/plain", "/asynchronous", "/helper"])
@on_every_loop
async def test_an_answer_may_bring_work_with_it(path):
    app = App()
    seen: list[str] = []

    async def work() -> None:
        await asyncio.sleep(0)
        seen.append("done")

    app.get("/plain")(lambda request: Response("x", background=work))
    app.get("/helper")(lambda request: (tarmac.json({}, background=work), 201))

    @app.get("/asynchronous")
    async def asynchronous(request):
        return tarmac.text("x", background=lambda: seen.append("done"))

    async with connected(app) as wire:
        await wire.get(path)
        await until(lambda: seen)
        await wire.get(path)
        await until(lambda: len(seen) == 2)
    assert ["done", "done"] == seen


@pytest.mark.parametrize("leaves", [False, True])
@on_every_loop
async def test_so_may_one_in_pieces(leaves):
    app = App()
    seen: list[str] = []

    async def pieces():
        try:
            for _ in range(1000 if leaves else 2):
                yield b"x" * 65536 if leaves else b"x"
        finally:
            seen.append("last piece")

    app.get("/")(lambda request: tarmac.stream(pieces(), background=lambda: seen.append("done")))
    async with connected(app) as wire:
        if leaves:
            wire.send(request("/"))
            await wire.reader.readexactly(1)
            wire.reset()
        else:
            assert b"xx" == (await wire.get("/")).body
        await until(lambda: "done" in seen)
    assert ["last piece", "done"] == seen


@on_every_loop
async def test_what_fails_afterwards_is_logged(caplog):
    app = App()

    def broken() -> None:
        message = "too late"
        raise ValueError(message)

    app.get("/")(lambda request: Response("x", background=broken))
    async with connected(app) as wire:
        assert b"x" == (await wire.get("/")).body
        await until(lambda: "too late" in caplog.text)
