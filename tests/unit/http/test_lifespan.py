"""What runs before the first request and after the last one."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from tarmac import ConfigurationError
from tarmac.http.lifespan import Lifespan


def noting(notes: list[str], what: str):
    async def hook(app):
        notes.append(f"{what} {app}")

    return hook


def test_contexts_enclose_hooks_and_shutdown_goes_backwards():
    notes: list[str] = []
    life = Lifespan()

    async def context(app):
        notes.append("enter")
        yield
        notes.append("leave")

    life.on_startup(noting(notes, "up 1"))
    life.on_startup(lambda: notes.append("up 2"))
    life.on_shutdown(noting(notes, "down 1"))
    life.on_shutdown(lambda app: notes.append("down 2"))
    life.around(context)

    async def main():
        await life.enter("app")
        await life.leave()

    asyncio.run(main())
    assert ["enter", "up 1 app", "up 2", "down 2", "down 1 app", "leave"] == notes


def test_two_servers_of_one_application_start_it_once():
    notes: list[str] = []
    life = Lifespan()
    life.on_startup(noting(notes, "up"))
    life.on_shutdown(noting(notes, "down"))

    async def main():
        await life.enter("a")
        await life.enter("a")
        await life.leave()
        assert notes == ["up a"]
        await life.leave()

    asyncio.run(main())
    assert ["up a", "down a"] == notes


def test_a_failing_hook_leaves_the_contexts_that_were_entered():
    notes: list[str] = []
    life = Lifespan()

    @contextlib.asynccontextmanager
    async def context(app):
        try:
            yield
        finally:
            notes.append("left")

    def broken():
        raise OSError("broken")

    life.around(context)
    life.on_startup(broken)
    life.on_shutdown(noting(notes, "down"))
    with pytest.raises(OSError, match="broken"):
        asyncio.run(life.enter("a"))
    assert notes == ["left"]


def test_a_hook_takes_the_application_or_nothing():
    with pytest.raises(ConfigurationError, match="two"):
        Lifespan().on_startup(_two)


def _two(one, two):
    """Take too much."""
