"""Stands in for the native link while the host's name is being looked up.

Queries that come meanwhile are kept in order and sent in one go when the address is known.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from tarmac.tarantool.errors import QueryTimeout

if TYPE_CHECKING:
    from tarmac._native import Link, Query

    Addresses = list[tuple[str, int] | str]
    Kept = tuple[asyncio.Future[Query[Any]], Callable[[Link], Query[Any]]]

__all__ = ["OPERATIONS", "LateLink"]

# Every method of a link that makes a query.
OPERATIONS = frozenset({
    "call", "connect", "delete", "eval", "execute", "get",
    "insert", "ping", "replace", "select", "update", "upsert",
})  # fmt: skip


class LateLink:
    """Has the methods of ``Link``; each makes a task that waits for the address."""

    state = "connecting"
    server_version = None
    in_flight = 0

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        addresses: Awaitable[Addresses],
        make: Callable[[Addresses], Link],
        become: Callable[[Link | None], None],
        *,
        timeout: float | None,
    ) -> None:
        self._loop = loop
        self._make = make
        self._become = become
        self._timeout = timeout
        self._kept: list[Kept] = []
        self._looking = loop.create_task(self._look(addresses))

    def __getattr__(self, operation: str) -> Callable[..., asyncio.Task[Any]]:
        if operation not in OPERATIONS:
            raise AttributeError(operation)
        return partial(self._keep, operation)

    @property
    def waiting(self) -> int:
        """Queries that are kept."""
        return len(self._kept)

    def schema(self) -> dict[str, dict[str, Any]]:
        """Nothing is known yet."""
        return {}

    def close(self) -> None:
        """Give up; what is kept is cancelled."""
        self._looking.cancel()
        for future, _ in self._kept:
            future.cancel()
        self._kept.clear()

    def _keep(self, operation: str, *arguments: Any) -> asyncio.Task[Any]:
        sent: asyncio.Future[Query[Any]] = self._loop.create_future()

        def send(link: Link) -> Query[Any]:
            query: Query[Any] = getattr(link, operation)(*arguments)
            return query

        self._kept.append((sent, send))
        timeout = _timeout_among(operation, arguments)
        return self._loop.create_task(_answered(sent, self._timeout if timeout is None else timeout))

    async def _look(self, addresses: Awaitable[Addresses]) -> None:
        link = None
        try:
            link = self._make(await addresses)
        except Exception as error:  # noqa: BLE001 - handed to everybody who waits
            for sent, _ in self._waiting():
                sent.set_exception(error)
        else:
            for sent, send in self._waiting():
                _hand_over(sent, send, link)
        self._become(link)

    def _waiting(self) -> list[Kept]:
        """What is kept and not cancelled; it is the caller's from now on."""
        kept, self._kept = self._kept, []
        return [one for one in kept if not one[0].done()]


def _hand_over(sent: asyncio.Future[Query[Any]], send: Callable[[Link], Query[Any]], link: Link) -> None:
    try:
        sent.set_result(send(link))
    except Exception as error:  # noqa: BLE001 - a wrong argument is its caller's business
        sent.set_exception(error)


async def _answered(sent: asyncio.Future[Query[Any]], timeout: float | None) -> Any:  # noqa: ASYNC109 - the query's own
    try:
        async with asyncio.timeout(timeout):
            query = await sent
    except TimeoutError:
        message = f"the host's name was not found within {timeout} s"
        raise QueryTimeout(message) from None
    return await query


def _timeout_among(operation: str, arguments: tuple[Any, ...]) -> float | None:
    """The timeout stands last, except that ``connect`` has none."""
    return arguments[-1] if arguments and operation != "connect" else None
