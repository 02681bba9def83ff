"""Runs a start-up coroutine and then the loop named by the second argument, until the process is ended."""

import asyncio
import sys
from collections.abc import Awaitable, Callable


def run_for_ever(start: Callable[[], Awaitable[None]]) -> None:
    with asyncio.Runner(loop_factory=loop_factory(sys.argv[2] if len(sys.argv) > 2 else "asyncio")) as runner:
        runner.run(_start_and_wait(start))


def loop_factory(name: str) -> Callable[[], asyncio.AbstractEventLoop]:
    if name == "uvloop":
        import uvloop

        factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
        return factory
    return asyncio.new_event_loop


async def _start_and_wait(start: Callable[[], Awaitable[None]]) -> None:
    await start()
    await asyncio.Event().wait()
