"""What an application does before its first request and after its last one."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

from tarmac.errors import ConfigurationError

__all__ = ["Lifespan"]

Hook = Callable[..., Any]

_log = logging.getLogger("tarmac.http")
# What did not end in its time is cancelled so often, and each time has so many seconds to obey.
_CANCELLATIONS = 4
_OBEDIENCE = 0.25


class Lifespan:
    """Start-up hooks, shutdown hooks and context managers; entered once however many servers share it."""

    def __init__(self) -> None:
        self._startup: list[Hook] = []
        self._shutdown: list[Hook] = []
        self._contexts: list[Callable[..., AbstractAsyncContextManager[Any]]] = []
        self._users = 0
        self.ending = False  # whoever balances load should look for somebody else
        self._stack: AsyncExitStack | None = None
        self._leaving: Hook | None = None

    def on_startup(self, hook: Hook) -> None:
        """Call *hook* (sync or async, with the application or with nothing) before the first request."""
        self._startup.append(_taking_app(hook))

    def on_shutdown(self, hook: Hook) -> None:
        """Call *hook* after the last request; the last one added goes first."""
        self._shutdown.append(_taking_app(hook))

    def around(self, context: Hook) -> None:
        """Enter ``context(app)`` before the first request and leave it after the last one."""
        if inspect.isasyncgenfunction(context):
            context = asynccontextmanager(context)
        self._contexts.append(_taking_app(context))

    @property
    def running(self) -> bool:
        """Whether a server has started up and none has shut down as the last one."""
        return self._users > 0

    async def enter(self, app: object) -> None:
        """Start up, unless another server of *app* has done it."""
        self._users += 1
        self.ending = False
        if self._users > 1:
            return
        stack = AsyncExitStack()
        try:
            for context in self._contexts:
                await stack.enter_async_context(context(app))
                stack.callback(self._begin_to_leave, context)
            for hook in self._startup:
                await _called(hook, app)
        except BaseException:
            self._users -= 1
            await stack.aclose()
            raise
        for hook in self._shutdown:
            stack.push_async_callback(_called, hook, app)
            stack.callback(self._begin_to_leave, hook)
        self._stack = stack

    async def leave(self, within: float | None = None) -> None:
        """Shut down, if this was the last server: within so many seconds, if that is said.

        What then has not ended is logged and cancelled; what comes after it is called all the same.
        """
        self._users -= 1
        if self._users == 0 and self._stack is not None:
            stack, self._stack = self._stack, None
            if within is None:
                await stack.aclose()
            else:
                await self._end(asyncio.ensure_future(stack.aclose()), within)

    def _begin_to_leave(self, hook: Hook) -> None:
        self._leaving = hook

    async def _end(self, closing: asyncio.Future[None], seconds: float) -> None:
        try:
            await asyncio.wait({closing}, timeout=seconds)
            for _ in range(_CANCELLATIONS):
                if closing.done():
                    break
                _log.error("%s did not end within %g s: it is cancelled", self._hook_that_ends, seconds)
                closing.cancel("the time for the shutdown is over")
                await asyncio.wait({closing}, timeout=_OBEDIENCE)
            else:
                _log.error("%s cannot be cancelled: it is left behind", self._hook_that_ends)
        finally:
            if not closing.done():
                closing.cancel()
        if closing.done() and not closing.cancelled():
            closing.result()

    @property
    def _hook_that_ends(self) -> str:
        return getattr(self._leaving, "__qualname__", repr(self._leaving))


async def _called(hook: Hook, app: object) -> None:
    result = hook(app)
    if isinstance(result, Awaitable):
        await result


def _taking_app(hook: Hook) -> Hook:
    """*hook* as something that takes the application, also where it was written without a parameter."""
    signature = inspect.signature(hook)
    for arguments in ((None,), ()):
        try:
            signature.bind(*arguments)
        except TypeError:
            continue
        return hook if arguments else functools.wraps(hook)(lambda _: hook())
    name = getattr(hook, "__name__", repr(hook))
    message = f"{name} is called with the application or with nothing"
    raise ConfigurationError(message)
