"""ASGI 3 applications on tarmac's server: the lifespan protocol, and older forms made new.

Requests never come here: the native core makes the ``scope``, ``receive`` and ``send`` of each.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any, Literal

from tarmac.errors import ConfigurationError

__all__ = ["ASGIApplication", "LifespanMode", "LifespanProtocol", "StartupFailed", "as_coroutine", "from_asgi_2"]

Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
ASGIApplication = Callable[[Event, Receive, Send], Awaitable[None]]
LifespanMode = Literal["auto", "on", "off"]

_log = logging.getLogger("tarmac.asgi")
_ENDINGS = {
    "lifespan.startup.complete": "startup",
    "lifespan.startup.failed": "startup",
    "lifespan.shutdown.complete": "shutdown",
    "lifespan.shutdown.failed": "shutdown",
}


class StartupFailed(ConfigurationError):
    """The application said that it cannot start, or ended before it had said anything."""


class LifespanProtocol:
    """The lifespan of one ASGI application: its hooks run in one task, from start-up to shutdown.

    ``auto`` takes an exception before start-up for "I know no lifespan", as the specification asks for;
    ``on`` takes it for a failure; ``off`` does not ask.
    """

    def __init__(self, app: ASGIApplication, mode: LifespanMode = "auto") -> None:
        self.state: dict[str, Any] = {}
        self._app = app
        self._mode = mode
        self._phase = "startup"
        self._task: asyncio.Task[None] | None = None

    @contextlib.asynccontextmanager
    async def around(self) -> AsyncIterator[None]:
        """Start up, then shut down. Raises ``StartupFailed``."""
        if self._mode == "off":
            yield
            return
        self.state.clear()
        self._phase = "startup"
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._said: asyncio.Queue[Event] = asyncio.Queue()
        self._task = asyncio.create_task(self._run(), name="lifespan of the ASGI application")
        try:
            supported = await self._start_up()
            yield
            if supported:
                await self._shut_down()
        finally:
            await self._end()

    async def _run(self) -> None:
        scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": self.state}
        await self._app(scope, self._events.get, self._hear)

    async def _hear(self, event: Event) -> None:
        kind = event.get("type")
        if _ENDINGS.get(str(kind)) != self._phase:
            message = f"{kind!r} is not what a lifespan says during {self._phase}"
            raise RuntimeError(message)
        self._phase = "service" if self._phase == "startup" else "end"
        self._said.put_nowait(event)

    async def _start_up(self) -> bool:
        """Whether the application knows the protocol."""
        said = await self._ask("lifespan.startup")
        if said is not None:
            if said["type"] == "lifespan.startup.failed":
                raise StartupFailed(said.get("message") or "the application said lifespan.startup.failed")
            return True
        error = self._error()
        if self._mode == "on":
            message = "the application ended in its start-up, without lifespan.startup.complete"
            raise StartupFailed(message) from error
        _log.debug("the application knows no lifespan", exc_info=error)
        return False

    async def _shut_down(self) -> None:
        self._phase = "shutdown"
        try:
            said = await self._ask("lifespan.shutdown")
        except asyncio.CancelledError:
            _log.error("the application has not answered lifespan.shutdown")
            raise
        if said is None:
            if error := self._error():
                _log.error("the application failed in its shutdown", exc_info=error)
        elif said["type"] == "lifespan.shutdown.failed":
            _log.error("the application failed in its shutdown: %s", said.get("message", ""))

    async def _ask(self, what: str) -> Event | None:
        """What the application says to an event; ``None`` when it ends without a word."""
        assert self._task is not None  # noqa: S101 - for the checker: asked only while it runs
        self._events.put_nowait({"type": what})
        hearing = asyncio.ensure_future(self._said.get())
        try:
            await asyncio.wait({hearing, self._task}, return_when=asyncio.FIRST_COMPLETED)
            return hearing.result() if hearing.done() else None
        finally:
            hearing.cancel()

    def _error(self) -> BaseException | None:
        task = self._task
        return task.exception() if task is not None and task.done() and not task.cancelled() else None

    async def _end(self) -> None:
        """Wait for the task: what follows shutdown.complete in it is still the application's."""
        task, self._task = self._task, None
        if task is None:
            return
        if self._phase != "end":
            task.cancel()
        await asyncio.wait({task})
        if not task.cancelled():
            task.exception()  # it has been told; asyncio need not tell it again


async def as_coroutine(awaitable: Awaitable[Any]) -> Any:
    """A coroutine around any other awaitable, for whoever makes tasks."""
    return await awaitable


def from_asgi_2(app: Callable[[Event], Callable[[Receive, Send], Awaitable[None]]]) -> ASGIApplication:
    """An ASGI 2 application, called in two steps, as one of version 3."""

    async def call(scope: Event, receive: Receive, send: Send) -> None:
        await app(scope)(receive, send)

    return call
