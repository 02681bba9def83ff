"""Runs an asynchronous test on every event loop that tarmac supports."""

from __future__ import annotations

import asyncio
import functools
import inspect
from typing import TYPE_CHECKING, Any

import pytest
import uvloop

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}


def on_every_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Make a test out of a coroutine function, once for asyncio and once for uvloop."""

    @functools.wraps(test)
    def run(*, loop_name: str, **fixtures: Any) -> None:
        with asyncio.Runner(loop_factory=LOOPS[loop_name]) as runner:
            runner.run(test(**fixtures))

    given = inspect.signature(test)
    extra = inspect.Parameter("loop_name", inspect.Parameter.KEYWORD_ONLY)
    run.__signature__ = given.replace(parameters=[*given.parameters.values(), extra])  # type: ignore[attr-defined]
    return pytest.mark.parametrize("loop_name", LOOPS)(run)


async def settled(value: Callable[[], object]) -> None:
    """Let the loop turn until *value()* has not changed for a while."""
    before: object = object()
    while before != (before := value()):  # noqa: ASYNC110 - that nothing happens is what is waited for
        await asyncio.sleep(0.05)


async def until(condition: Callable[[], object], *, timeout: float = 5.0, what: str = "the condition") -> None:  # noqa: ASYNC109
    """Let the loop turn until the condition holds; raise TimeoutError naming what was waited for."""
    deadline = asyncio.get_running_loop().time() + timeout
    while not condition():
        if asyncio.get_running_loop().time() > deadline:
            message = f"waited {timeout:g} s in vain for {what}"
            raise TimeoutError(message)
        await asyncio.sleep(0.002)
