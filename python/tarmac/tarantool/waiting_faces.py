"""What the blocking and the gevent face share: the names of the asynchronous one, without ``await``.

Only how to wait differs. Every thread has a connection of its own, made at its first query: a socket
that two threads read would give one thread's answer to the other.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from tarmac.tarantool.connection import sql_parameters
from tarmac.tarantool.errors import NetworkError
from tarmac.tarantool.links import look_up_now, make_link
from tarmac.tarantool.operations import flatten
from tarmac.tarantool.space import ALL, by_default, key_of

if TYPE_CHECKING:
    from tarmac._native import Link, Query, Reactor, Row
    from tarmac.tarantool.address import Options, Target

__all__ = ["Connection", "Space", "Waiter"]

_T = TypeVar("_T")


class Waiter(Protocol):
    """How a face gives the reactor its turns."""

    def reactor(self) -> Reactor:
        """The reactor of this thread."""

    def wait(self, reactor: Reactor, query: Query[_T]) -> _T:
        """Return when *query* is done, with its result."""

    def leave(self, reactor: Reactor) -> None:
        """The reactor is needed no longer by the caller."""


class _Seat:
    """The link of one thread in one process."""

    def __init__(self, waiter: Waiter, target: Target, options: Options) -> None:
        self.process = os.getpid()
        self.reactor = waiter.reactor()
        self.link: Link = make_link(self.reactor, look_up_now(target), target, options, None)


class Connection:
    """A database; every method waits for its result. Threads may share it."""

    def __init__(self, target: Target, options: Options, waiter: Waiter) -> None:
        self.target = target
        self.options = options
        self._waiter = waiter
        self._local = threading.local()
        self._closed = False

    def space(self, name: str | int) -> Space:
        """A space by name or number."""
        return Space(self, name)

    def call(self, function: str, *arguments: Any, timeout: float | None = None) -> Any:
        """Call a stored function: the value if it returned one, a tuple if several, None if none."""
        return self.wait(self.link().call(function, arguments, timeout))

    def eval(self, expression: str, *arguments: Any, timeout: float | None = None) -> Any:
        """Run Lua; *arguments* arrive as ``...``."""
        return self.wait(self.link().eval(expression, arguments, timeout))

    def sql(self, statement: str, *positional: Any, timeout: float | None = None, **named: Any) -> Any:
        """Run SQL with ``?`` or ``:name`` parameters."""
        return self.wait(self.link().execute(statement, sql_parameters(positional, named), timeout))

    def ping(self, *, timeout: float | None = None) -> None:
        """One round trip."""
        self.wait(self.link().ping(timeout))

    @property
    def state(self) -> str:
        """The state of this thread's connection."""
        seat = self._seat()
        return "closed" if self._closed else seat.link.state if seat is not None else "idle"

    @property
    def server_version(self) -> str | None:
        """What the server said it is, once this thread has reached it."""
        seat = self._seat()
        return seat.link.server_version if seat is not None else None

    @property
    def schema(self) -> dict[str, dict[str, Any]]:
        """Spaces by name; empty before the connection was open."""
        seat = self._seat()
        return seat.link.schema() if seat is not None else {}

    def open(self) -> Self:
        """Connect now; raises what stands in the way."""
        link = self.link()
        try:
            self.wait(link.connect())
        except BaseException:
            self._let_go()
            raise
        return self

    def close(self) -> None:
        """Close this thread's connection, and open no other one. Idempotent."""
        self._closed = True
        self._let_go()

    def _let_go(self) -> None:
        seat = self._seat()
        if seat is not None:
            self._local.seat = None
            seat.link.close()
            self._waiter.leave(seat.reactor)

    def link(self) -> Link:
        """The native link of this thread."""
        if self._closed:
            message = f"the connection to {self.target} is closed"
            raise NetworkError(message)
        seat = self._seat()
        if seat is None:
            seat = self._local.seat = _Seat(self._waiter, self.target, self.options)
        return seat.link

    def wait(self, query: Query[_T]) -> _T:
        """The result of a query of this thread."""
        return self._waiter.wait(self._local.seat.reactor, query)

    def _seat(self) -> _Seat | None:
        seat: _Seat | None = getattr(self._local, "seat", None)
        # A child of fork() leaves its parent's connection alone.
        return seat if seat is not None and seat.process == os.getpid() else None

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Connection {self.target} {self.state}>"


class Space:
    """A cheap handle; the arguments are those of ``tarmac.tarantool.Space``."""

    __slots__ = ("_connection", "name")

    def __init__(self, connection: Connection, name: str | int) -> None:
        self._connection = connection
        self.name = name

    def get(self, key: Any, *, index: str | int = 0, timeout: float | None = None) -> Row | None:
        """The row with that key in a unique index, or None."""
        return self._wait(self._link.get(self.name, key, index, timeout))

    def select(
        self,
        key: Any = (),
        *,
        index: str | int = 0,
        iterator: str | int | None = None,
        offset: int = 0,
        limit: int = ALL,
        timeout: float | None = None,
    ) -> list[Row]:
        """Rows in the order of *index*."""
        chosen = by_default(iterator, key)
        return self._wait(self._link.select(self.name, key, index, chosen, offset, limit, timeout))

    def scan(self, *, batch: int = 1000, index: str | int = 0, timeout: float | None = None) -> Iterator[Row]:
        """Every row in the order of a unique index, *batch* at a time."""
        rows = self._wait(self._link.select(self.name, (), index, "ALL", 0, batch, timeout))
        while rows:
            yield from rows
            if len(rows) < batch:
                return
            key = key_of(rows[-1], self._connection.schema, self.name, index)
            rows = self._wait(self._link.select(self.name, key, index, "GT", 0, batch, timeout))

    def insert(self, row: Any, *, timeout: float | None = None) -> Row:
        """Add a row."""
        return self._wait(self._link.insert(self.name, row, timeout))

    def replace(self, row: Any, *, timeout: float | None = None) -> Row:
        """Add a row, or put it in the place of the one with its key."""
        return self._wait(self._link.replace(self.name, row, timeout))

    def update(self, key: Any, *operations: Any, index: str | int = 0, timeout: float | None = None) -> Row | None:
        """Change fields of one row."""
        return self._wait(self._link.update(self.name, key, flatten(operations), index, timeout))

    def upsert(self, row: Any, *operations: Any, timeout: float | None = None) -> None:
        """Add *row*, or apply *operations* to the one that has its key."""
        self._wait(self._link.upsert(self.name, row, flatten(operations), timeout))

    def delete(self, key: Any, *, index: str | int = 0, timeout: float | None = None) -> Row | None:
        """Remove a row."""
        return self._wait(self._link.delete(self.name, key, index, timeout))

    def insert_many(
        self, rows: Iterable[Any], *, return_exceptions: bool = False, timeout: float | None = None
    ) -> list[Any]:
        """Insert rows, all under way at once; see the asynchronous face."""
        link = self._link
        results: list[Any] = []
        failed: Exception | None = None
        for query in [link.insert(self.name, row, timeout) for row in rows]:
            try:
                results.append(self._wait(query))
            except Exception as error:  # noqa: BLE001 - handed on, in its row's place or at the end
                failed = failed or error
                results.append(error)
        if failed is not None and not return_exceptions:
            raise failed
        return results

    @property
    def _link(self) -> Link:
        return self._connection.link()

    def _wait(self, query: Query[_T]) -> _T:
        return self._connection.wait(query)

    def __repr__(self) -> str:
        return f"<Space {self.name!r} of {self._connection.target}>"
