"""Event loops by name, and a start-up coroutine that is followed by the loop until the process is ended."""

import asyncio
import sys
from collections.abc import Awaitable, Callable


def loop_factory(name: str) -> Callable[[], asyncio.AbstractEventLoop]:
    if name == "uvloop":
        import uvloop

        factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
        return factory
    return asyncio.new_event_loop


def run_for_ever(start: Callable[[], Awaitable[object]], loop: str) -> None:
    with asyncio.Runner(loop_factory=loop_factory(loop)) as runner:
        runner.run(_start_and_wait(start))


def argument(position: int, default: str) -> str:
    return sys.argv[position] if len(sys.argv) > position else default


async def _start_and_wait(start: Callable[[], Awaitable[object]]) -> None:
    kept = await start()
    await asyncio.Event().wait()
    del kept
