"""Three ways to give the reactor a turn: an asyncio loop (uvloop too), gevent, and blocking code.

The reactor is one descriptor. Whoever waits for it calls ``turn()`` when it is readable; nothing else
is needed, whatever the loop::

    asyncio, uvloop   loop.add_reader(reactor.fileno(), reactor.turn)
    gevent            hub.loop.io(reactor.fileno(), 1).start(reactor.turn)
    blocking          reactor.turn(timeout)

There is one reactor for each loop and each process: a child of fork() never touches its parent's.
"""

from __future__ import annotations

import contextlib
import os
import sys
import weakref
from typing import TYPE_CHECKING, Any

from tarmac._native import Reactor
from tarmac.errors import ConfigurationError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncGenerator, Callable

__all__ = ["forget", "reactor_for", "reactor_for_gevent", "reactor_for_thread", "when_closed"]


class _Seat:
    """One reactor, and what has to know when it closes."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.reactor = Reactor()
        self.leaving: dict[object, Callable[[], None]] = {}
        self.keeper: Any = None  # whatever makes the loop call turn(), or tells of its end

    def close(self) -> None:
        for callback in list(self.leaving.values()):
            callback()
        self.leaving.clear()
        self.reactor.set_scheduler(None)
        self.reactor.close()
        self.keeper = None


_seats: weakref.WeakKeyDictionary[Any, _Seat] = weakref.WeakKeyDictionary()
# A reactor of the parent process is kept for ever in the child: dropping it could close what the parent uses.
_parents: list[object] = []


def reactor_for(loop: asyncio.AbstractEventLoop) -> Reactor:
    """The reactor that turns on *loop*; made at the first call, closed with the loop."""
    seat = _seats.get(loop)
    if seat is not None and seat.process == os.getpid():
        return seat.reactor
    _sweep()
    return _sit_down(loop).reactor


def when_closed(loop: object, callback: Callable[[], None]) -> Callable[[], None]:
    """Call *callback* when the reactor of *loop* closes, before its connections are dropped.

    What is returned takes that back.
    """
    leaving = _seats[loop].leaving
    key = object()
    leaving[key] = callback

    def forget_it() -> None:
        leaving.pop(key, None)

    return forget_it


def forget(loop: object) -> None:
    """Close the reactor of *loop*, if it has one. Idempotent."""
    seat = _seats.pop(loop, None)
    if seat is None or seat.process != os.getpid():
        return
    if hasattr(loop, "remove_reader") and not loop.is_closed():  # type: ignore[attr-defined]
        loop.remove_reader(seat.reactor.fileno())
    seat.close()


def reactor_for_gevent() -> Reactor:
    """The reactor that turns on the gevent hub of this thread."""
    import gevent  # noqa: PLC0415 - an optional extra

    hub = gevent.get_hub()
    seat = _seats.get(hub)
    if seat is not None and seat.process == os.getpid():
        return seat.reactor
    seat = _seats[hub] = _Seat()
    watcher = hub.loop.io(seat.reactor.fileno(), 1)
    watcher.start(seat.reactor.turn)
    seat.keeper = watcher
    seat.reactor.set_scheduler(hub.loop.run_callback)
    return seat.reactor


def reactor_for_thread() -> Reactor:
    """A reactor of the caller's own: whoever waits calls ``reactor.turn(timeout)``."""
    return Reactor()


def _sit_down(loop: asyncio.AbstractEventLoop) -> _Seat:
    seat = _Seat()
    try:
        loop.add_reader(seat.reactor.fileno(), seat.reactor.turn)
    except NotImplementedError:
        seat.close()
        message = f"{type(loop).__name__} cannot watch a descriptor; use a selector loop or uvloop"
        raise ConfigurationError(message) from None
    seat.reactor.set_scheduler(_scheduler(loop))
    seat.keeper = _end_with(loop)
    _seats[loop] = seat
    return seat


def _scheduler(loop: asyncio.AbstractEventLoop) -> Callable[[Callable[[], None]], object]:
    """``loop.call_soon`` that does not keep the loop alive: the seat must die with its key."""
    reference = weakref.ref(loop)

    def schedule(callback: Callable[[], None]) -> None:
        alive = reference()
        if alive is not None and not alive.is_closed():
            alive.call_soon(callback)

    return schedule


def _end_with(loop: asyncio.AbstractEventLoop) -> AsyncGenerator[None] | None:
    """Close the reactor in ``loop.shutdown_asyncgens()``, the last thing a loop does before it is closed.

    A suspended asynchronous generator is the one thing every loop finalises by itself. Outside a
    running loop nobody would: then the reactor goes when the loop is collected or the next one starts.
    """
    if sys.get_asyncgen_hooks().firstiter is None:
        return None
    reference = weakref.ref(loop)

    async def watch() -> AsyncGenerator[None]:
        try:
            yield
        finally:
            ended = reference()
            if ended is not None:
                forget(ended)

    generator = watch()
    with contextlib.suppress(StopIteration):
        generator.__anext__().send(None)
    return generator


def _sweep() -> None:
    """Close what belongs to loops that were closed without a word."""
    for loop in [loop for loop in _seats if getattr(loop, "is_closed", bool)()]:
        forget(loop)


def _after_fork() -> None:
    _parents.extend(_seats.values())
    _seats.clear()


os.register_at_fork(after_in_child=_after_fork)
