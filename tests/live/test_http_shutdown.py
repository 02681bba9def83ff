"""The shutdown of an application has a time: what keeps to it, what does not, and what follows it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import sys
from typing import TYPE_CHECKING

import pytest
import tarmac
from support.loops import on_every_loop
from tarmac import App
from tarmac.errors import ConfigurationError
from tarmac.hosting import Hosted
from tarmac.http.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.live

LONG = 3600.0


def errors(caplog) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


@on_every_loop
async def test_hooks_that_keep_to_their_time_end_undisturbed(caplog):
    app, seen = App(), []

    @app.on_shutdown
    async def slow():
        await asyncio.sleep(0.05)
        seen.append("slow")

    @app.lifespan
    async def around(app):
        yield
        await asyncio.sleep(0.05)
        seen.append("around")

    server = await tarmac.serve(app, port=0, shutdown_timeout=LONG)
    await server.stop()
    assert ["slow", "around"] == seen
    assert not errors(caplog)


@on_every_loop
async def test_a_hook_that_does_not_end_is_named_and_cancelled_and_the_others_follow(caplog):
    app, seen = App(), []
    app.on_shutdown(lambda: seen.append("the first one added"))

    @app.on_shutdown
    async def endless(app):
        try:
            await asyncio.Event().wait()
        finally:
            seen.append("cancelled")

    app.on_shutdown(lambda: seen.append("the last one added"))
    server = await tarmac.serve(app, port=0, shutdown_timeout=0.05)
    await server.stop()
    assert ["the last one added", "cancelled", "the first one added"] == seen
    (error,) = errors(caplog)
    assert "endless did not end within 0.05 s" in error


@on_every_loop
async def test_a_context_that_does_not_end_is_named_too(caplog):
    app = App()

    @app.lifespan
    async def endless_context(app):
        yield
        await asyncio.Event().wait()

    server = await tarmac.serve(app, port=0, shutdown_timeout=0.05)
    await server.stop()
    assert "endless_context did not end" in errors(caplog)[0]


@on_every_loop
async def test_one_that_refuses_to_be_cancelled_is_left_behind(caplog):
    app, enough = App(), asyncio.Event()

    @app.on_shutdown
    async def stubborn():
        while not enough.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await enough.wait()

    server = await tarmac.serve(app, port=0, shutdown_timeout=0.0)
    await server.stop()
    assert "stubborn cannot be cancelled: it is left behind" in errors(caplog)[-1].rpartition(".")[2]
    enough.set()


@on_every_loop
async def test_what_a_hook_raises_is_raised_by_the_stop(caplog):
    app = App()

    @app.on_shutdown
    async def broken():
        message = "no way"
        raise ValueError(message)

    server = await tarmac.serve(app, port=0)
    with pytest.raises(ValueError, match="no way"):
        await server.stop()
    assert not errors(caplog)


def hosted(at_the_end: Callable[[], object]) -> Hosted:
    async def application(scope, receive, send):
        assert {"type": "lifespan.startup"} == await receive()
        await send({"type": "lifespan.startup.complete"})
        assert {"type": "lifespan.shutdown"} == await receive()
        await at_the_end()

    return Hosted(application, lifespan="on")


@on_every_loop
async def test_an_asgi_application_that_never_answers_its_shutdown_is_cancelled(caplog):
    seen = []

    async def silent():
        try:
            await asyncio.Event().wait()
        finally:
            seen.append("cancelled")

    server = await tarmac.serve(hosted(silent), port=0, shutdown_timeout=0.05)
    await server.stop()
    assert ["cancelled"] == seen
    assert "the application has not answered lifespan.shutdown" in errors(caplog)


@on_every_loop
async def test_nor_does_one_hold_the_stop_that_refuses_to_be_cancelled():
    enough = asyncio.Event()

    async def stubborn():
        while not enough.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await enough.wait()

    server = await tarmac.serve(hosted(stubborn), port=0, shutdown_timeout=0.0)
    await server.stop()
    enough.set()


def test_a_time_below_zero_is_refused():
    with pytest.raises(ConfigurationError, match="shutdown_timeout is at least 0"):
        Settings(shutdown_timeout=-1)
    assert 35.0 == Settings(drain=10, drain_delay=5, shutdown_timeout=20).time_to_end


PROGRAM = """
import asyncio
from tarmac import App

app = App()
app.get("/")(lambda request: "x")

@app.on_shutdown
async def endless():
    await asyncio.Event().wait()
"""


@pytest.mark.parametrize("workers", [(), ("--workers", "1")])
def test_the_command_line_sets_it(run_process, tmp_path, workers):
    (tmp_path / "site_to_stop.py").write_text(PROGRAM)
    command = (sys.executable, "-m", "tarmac", "run", "site_to_stop:app", "--port", "0", "--timeout-shutdown", "0.1")
    process = run_process(*command, *workers, cwd=tmp_path)
    process.wait_for_line("^listening on ")
    process.send(signal.SIGTERM)
    assert 0 == process.wait()
    assert "endless did not end within 0.1 s" in process.output
