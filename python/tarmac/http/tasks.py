"""Asynchronous handlers as real tasks, the plain way: one ``asyncio.Task`` for each request.

The native core has the task made, starts it at once (3.12+) and answers in the step in which the
handler returns. Here is how tasks are made, and what becomes of them when the server stops.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import sys
from asyncio import Task, get_running_loop
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from tarmac._native import Request

    Start = Callable[..., Task[Any]]

__all__ = ["RequestTasks", "in_background", "in_thread"]


class RequestTasks:
    """The handlers of one server that have not ended yet."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.start, self.options = _starter(loop)
        self.running: set[Task[Any]] = set()  # the loop itself holds tasks weakly

    def cancel(self) -> None:
        """Cancel every handler that still runs, except the one that calls this."""
        for task in self.others():
            task.cancel("the server stops")

    def others(self) -> set[Task[Any]]:
        """What runs beside the caller."""
        return self.running - {asyncio.current_task()}


def _starter(loop: asyncio.AbstractEventLoop) -> tuple[Start, dict[str, Any]]:
    """What makes a task for *loop*, and with which keywords."""
    if sys.version_info >= (3, 12):
        return Task, {"loop": loop, "eager_start": True}
    return loop.create_task, {}


_background: set[Task[Any]] = set()


def in_background(on_failure: Callable[[BaseException], None], function: Callable[[], Any]) -> None:
    """Run *function* once, after the answer of the handler that calls this has been handed over.

    Inside a task it starts when that task ends, however it ends; elsewhere in the loop's next pass.
    """

    def begin(_: object = None) -> None:
        try:
            result = function()
        except Exception as error:  # noqa: BLE001 - nobody waits for it; it is reported
            on_failure(error)
            return
        if inspect.isawaitable(result):
            task = asyncio.ensure_future(result)
            _background.add(task)
            task.add_done_callback(ended)

    def ended(task: Task[Any]) -> None:
        _background.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            on_failure(error)

    current = asyncio.current_task()
    if current is None:
        get_running_loop().call_soon(begin)
    else:
        current.add_done_callback(begin)


def in_thread(endpoint: Callable[..., Any], pool: Callable[[], Executor]) -> Callable[..., Any]:
    """*endpoint* as an asynchronous one that runs in a thread of *pool*, with the caller's context."""

    async def handle(request: Request, **parameters: Any) -> Any:
        call = partial(contextvars.copy_context().run, endpoint, request, **parameters)
        return await get_running_loop().run_in_executor(pool(), call)

    return handle
