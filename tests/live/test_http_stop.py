"""Start and end of a server inside somebody's own loop."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

import pytest
import tarmac
from support.http import Wire, request, served
from support.loops import on_every_loop, until
from tarmac import App

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.live


def slow_site(seconds: float, events: list[str] | None = None) -> App:
    app = App()

    @app.get("/slow")
    async def slow(request):
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            if events is not None:
                events.append("cancelled")
            raise
        return "done"

    app.get("/")(lambda request: "x")
    return app


@on_every_loop
async def test_a_drain_answers_what_runs_and_takes_nothing_new():
    server = await tarmac.serve(slow_site(0.1), port=0)
    async with Wire(server.port) as busy, Wire(server.port) as idle:
        assert b"x" == (await idle.get("/")).body
        busy.send(request("/slow"))
        await until(lambda: server.requests_in_flight == 1)
        stopping = asyncio.create_task(server.stop(drain=5))
        assert await idle.ended(), "an idle connection is closed at once"
        with pytest.raises(OSError, match=r".+"):
            async with Wire(server.port):
                pass
        assert b"done" == (await busy.answer()).body
        assert await busy.ended()
        await stopping
    assert 0 == server.connections


@on_every_loop
async def test_what_outlives_the_drain_is_cancelled_and_answered_before_the_shutdown_hooks():
    events: list[str] = []
    app = slow_site(60, events)
    app.on_shutdown(lambda: events.append("shutdown"))
    server = await tarmac.serve(app, port=0)
    async with Wire(server.port) as wire:
        wire.send(request("/slow"))
        await until(lambda: server.requests_in_flight == 1)
        await server.stop(drain=0.05)
        answer = await wire.answer()
        assert (503, "close") == (answer.status, answer.header("Connection"))
        assert await wire.ended()
    assert ["cancelled", "shutdown"] == events


@on_every_loop
async def test_stop_twice_is_one_stop():
    notes: list[str] = []
    app = App()
    app.on_shutdown(lambda: notes.append("down"))
    server = await tarmac.serve(app, port=0)
    await asyncio.gather(server.stop(), server.stop())
    await server.stop()
    assert ["down"] == notes


@on_every_loop
async def test_a_handler_may_stop_the_server_and_is_answered():
    app = App()

    @app.get("/stop")
    async def stop(request):
        await server.stop(drain=5)
        return "stopped"

    server = await tarmac.serve(app, port=0)
    async with asyncio.timeout(3), Wire(server.port) as wire:
        assert b"stopped" == (await wire.get("/stop")).body
        assert await wire.ended()


@on_every_loop
async def test_a_plain_handler_may_abort_the_server():
    app = App()

    @app.get("/")
    def end(request):
        server.abort()
        return "nobody reads this"

    server = await tarmac.serve(app, port=0)
    async with Wire(server.port) as wire:
        wire.send(request("/") * 3)
        assert await wire.ended()
    await server.stop()


@on_every_loop
async def test_two_servers_and_two_applications_on_one_loop():
    one, two = App(), App()
    one.get("/")(lambda request: "one")
    two.get("/")(lambda request: "two")
    async with served(one) as first, served(two) as second, Wire(first.port) as a, Wire(second.port) as b:
        assert [b"one", b"two"] == [(await a.get("/")).body, (await b.get("/")).body]
        await first.stop()
        assert b"two" == (await b.get("/")).body


@on_every_loop
async def test_a_unix_socket_is_served_and_removed(tmp_path: Path):
    path = tmp_path / "x.sock"
    async with served(slow_site(0), uds=str(path)) as server:
        assert f"unix:{path}" == server.url
        async with Wire(uds=str(path)) as wire:
            assert b"x" == (await wire.get("/")).body
    assert not path.exists()


@on_every_loop
async def test_an_inherited_socket_is_served():
    with socket.create_server(("127.0.0.1", 0)) as given:
        port = given.getsockname()[1]
        server = await tarmac.serve(slow_site(0), fd=given.fileno())
        async with Wire(port) as wire:
            assert b"x" == (await wire.get("/")).body
        await server.stop()


@on_every_loop
async def test_localhost_is_served_on_every_address_it_has():
    async with served(slow_site(0), host="localhost") as server, Wire(server.port) as wire:
        assert b"x" == (await wire.get("/")).body


@on_every_loop
async def test_a_taken_port_is_told_and_no_hook_runs():
    notes: list[str] = []
    app = App()
    app.on_startup(lambda: notes.append("up"))
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1:{port}"):
            await tarmac.serve(app, port=port)
    assert not notes


@on_every_loop
async def test_a_startup_hook_that_fails_leaves_nobody_listening():
    app = App()

    @app.on_startup
    async def broken():
        raise KeyError

    with pytest.raises(KeyError):
        await tarmac.serve(app, port=0)
    app = slow_site(0)
    async with served(app) as server, Wire(server.port) as wire:
        assert b"x" == (await wire.get("/")).body


@on_every_loop
async def test_a_loop_that_ends_without_stop_leaves_no_warning_and_frees_the_port():
    await tarmac.serve(slow_site(0), port=0)


@on_every_loop
async def test_what_a_handler_does_after_its_answer_is_waited_for():
    app, done = App(), []

    @app.get("/")
    async def answer_early(request):
        request.respond("early")
        await asyncio.sleep(0.1)
        done.append("late")

    async with served(app) as server, Wire(server.port) as wire:
        assert b"early" == (await wire.get("/")).body
        wire.writer.close()
        await server.stop(drain=5.0)
        assert ["late"] == done


@on_every_loop
async def test_what_a_handler_does_after_its_answer_ends_with_the_drain():
    app, ended = App(), []

    @app.get("/")
    async def answer_early(request):
        request.respond("early")
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    async with served(app) as server, Wire(server.port) as wire:
        assert b"early" == (await wire.get("/")).body
        await server.stop(drain=0.05)
        assert ["cancelled"] == ended
