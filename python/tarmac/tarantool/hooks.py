"""Lets a program see every query: metrics, OpenTelemetry, a log. Costs nothing when no hook is given."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from tarmac.tarantool.looking_up import OPERATIONS

if TYPE_CHECKING:
    from tarmac._native import Link

    OnQuery = Callable[[str, tuple[Any, ...]], None]
    OnReply = Callable[[str, float, BaseException | None], None]

__all__ = ["HookedLink"]


class HookedLink:
    """A link that calls ``on_query(operation, arguments)`` and ``on_reply(operation, seconds, error)``."""

    def __init__(self, link: Link, on_query: OnQuery | None, on_reply: OnReply | None) -> None:
        self._link = link
        self._on_query = on_query
        self._on_reply = on_reply

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._link, name)
        return partial(self._observed, name, found) if name in OPERATIONS else found

    def _observed(self, operation: str, method: Callable[..., Any], *arguments: Any) -> Any:
        if self._on_query is not None:
            self._on_query(operation, arguments)
        query = method(*arguments)
        if self._on_reply is not None:
            query.add_done_callback(partial(_replied, self._on_reply, operation, time.perf_counter()))
        return query


def _replied(on_reply: OnReply, operation: str, started: float, query: Any) -> None:
    error = None if query.cancelled() else query.exception()
    on_reply(operation, time.perf_counter() - started, error)
