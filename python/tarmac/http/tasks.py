"""Asynchronous handlers as real tasks: how they are made, and what becomes of them when the server stops.

Plain: the native core has one ``asyncio.Task`` made for each request, starts it at once (3.12+) and
answers in the step in which the handler returns. Light: it takes the handler's first step itself, and
makes a task only if the handler waits or somebody looks at its task.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
import os
import sys
from asyncio import Task, get_running_loop
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from tarmac.errors import ConfigurationError

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from tarmac._native import Request

    Start = Callable[..., Task[Any]]

TasksWay = Literal["light", "plain"]
_DEFAULT: TasksWay = "light"

__all__ = ["RequestTasks", "TasksWay", "after", "in_thread", "later", "light_is_possible", "way_of_tasks"]

_log = logging.getLogger("tarmac.http")


class RequestTasks:
    """The handlers of one server that have not ended yet."""

    def __init__(self, loop: asyncio.AbstractEventLoop, way: TasksWay | None = None) -> None:
        self.light = way_of_tasks(way) == "light" and light_is_possible(loop)
        self.start, self.options = _starter(loop)
        self.running: set[Task[Any]] = set()  # the loop itself holds tasks weakly

    def cancel(self) -> None:
        """Cancel every handler that still runs, except the one that calls this."""
        for task in self.others():
            task.cancel("the server stops")

    def others(self) -> set[Task[Any]]:
        """What runs beside the caller."""
        return self.running - {asyncio.current_task()}


def way_of_tasks(way: str | None = None) -> str:
    """*way*, or what ``TARMAC_TASKS`` says, or the default. ``ConfigurationError`` for any other word."""
    way = way or os.environ.get("TARMAC_TASKS") or _DEFAULT
    if way not in {"light", "plain"}:
        message = f"tasks are light or plain, not {way!r}"
        raise ConfigurationError(message)
    return way


def light_is_possible(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether tasks of *loop* are those of CPython's C module, as known up to 3.13."""
    return (
        sys.implementation.name == "cpython"
        and sys.version_info < (3, 14)
        and Task.__module__ == "_asyncio"
        and asyncio.current_task.__module__ in {"_asyncio", "asyncio.tasks"}
        and loop.get_task_factory() is None
    )


def _starter(loop: asyncio.AbstractEventLoop) -> tuple[Start, dict[str, Any]]:
    """What makes a task for *loop*, and with which keywords."""
    if sys.version_info >= (3, 12) and loop.get_task_factory() is None:
        return Task, {"loop": loop, "eager_start": True}
    return loop.create_task, {}


_background: set[Task[Any]] = set()
# The loop and the task of the handler that runs in this thread.
_elsewhere: contextvars.ContextVar[tuple[asyncio.AbstractEventLoop, Task[Any] | None]] = contextvars.ContextVar(
    "tarmac.handler"
)


def after(request: Request, callback: Callable[[Request], Any]) -> None:
    """Call ``callback(request)`` (sync or async) once, when the handler that calls this has ended.

    However it ends: with an answer, with an exception, or cancelled. Call it in the handler itself, also
    in a ``blocking=True`` one, or in a middleware around it. An exception is logged.
    """
    later(partial(callback, request))


def later(function: Callable[[], Any]) -> None:
    """Run *function* once, after the answer of the handler that calls this has been handed over.

    Inside a task it starts when that task ends, however it ends; elsewhere in the loop's next pass.
    """
    if (handler := _elsewhere.get(None)) is not None:
        loop, task = handler
        loop.call_soon_threadsafe(_start_after, task, function)
    else:
        _start_after(asyncio.current_task(), function)


def _start_after(task: Task[Any] | None, function: Callable[[], Any]) -> None:
    def begin(_: object = None) -> None:
        try:
            result = function()
        except Exception as error:  # noqa: BLE001 - nobody waits for it; it is reported
            _report(error)
            return
        if inspect.isawaitable(result):
            task = asyncio.ensure_future(result)
            _background.add(task)
            task.add_done_callback(_ended)

    if task is None:
        get_running_loop().call_soon(begin)
    else:
        task.add_done_callback(begin)


def _ended(task: Task[Any]) -> None:
    _background.discard(task)
    if not task.cancelled() and (error := task.exception()) is not None:
        _report(error)


def _report(error: BaseException) -> None:
    _log.error("a background task failed", exc_info=error)


def in_thread(endpoint: Callable[..., Any], pool: Callable[[], Executor]) -> Callable[..., Any]:
    """*endpoint* as an asynchronous one that runs in a thread of *pool*, with the caller's context."""

    async def handle(request: Request, **parameters: Any) -> Any:
        loop = get_running_loop()
        context = contextvars.copy_context()
        context.run(_elsewhere.set, (loop, asyncio.current_task()))
        return await loop.run_in_executor(pool(), partial(context.run, endpoint, request, **parameters))

    return handle
