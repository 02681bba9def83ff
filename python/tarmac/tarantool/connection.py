"""One shared connection to a Tarantool: everybody's queries travel on it together.

It opens at the first query and comes back by itself. The native link does the work; here stand the
names, and what has to happen before there is a link: the host's name is looked up once.
"""

from __future__ import annotations

import asyncio
import os
import socket
import weakref
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Self, cast

from tarmac._native import ConnectionBase, Link
from tarmac.tarantool.address import Options, Target, parse
from tarmac.tarantool.errors import NetworkError, NotSupported, UsageError
from tarmac.tarantool.hooks import HookedLink
from tarmac.tarantool.links import Address, fixed_address, looked_up, make_link, not_found
from tarmac.tarantool.looking_up import LateLink
from tarmac.tarantool.space import Space
from tarmac.waiting import reactor_for, when_closed

if TYPE_CHECKING:
    from tarmac._native import Query
    from tarmac.tarantool.hooks import OnQuery, OnReply

__all__ = ["Connection", "connect"]

_GLANCE = 0.002  # how often close() looks whether the last query has been answered


def connect(
    url: str = "tarantool://127.0.0.1:3301",
    *,
    on_query: OnQuery | None = None,
    on_reply: OnReply | None = None,
    **options: Any,
) -> Connection:
    """A connection to the server at *url*; no socket is opened before it is needed.

    ``async with connect(url) as db`` opens it and closes it; ``db = await connect(url)`` opens it; a plain
    ``db = connect(url)`` opens with the first query, also at module level, before there is a loop.

    Options, also as parameters of the URL: user, password, timeout, connect_timeout, in_flight,
    reconnect_min, reconnect_max, fail_fast, max_packet; see ``Options``.
    """
    target, chosen = parse(url, options)
    return Connection(target, chosen, on_query=on_query, on_reply=on_reply)


class Connection(ConnectionBase):
    """A database. Methods return an awaitable at once: no coroutine for each query.

    ``ping``, ``call`` and ``eval`` are native.
    """

    def __init__(
        self,
        target: Target,
        options: Options,
        *,
        on_query: OnQuery | None = None,
        on_reply: OnReply | None = None,
    ) -> None:
        self.target = target
        self.options = options
        self._on_query = on_query
        self._on_reply = on_reply
        self._link: Link | None = None
        self._closed = False
        self._stay: Callable[[], None] = _nothing  # takes back that the end of the loop is to be told
        _alive.add(self)

    def space(self, name: str | int) -> Space:
        """A space by name or number; nothing is asked before its first query."""
        return Space(self, name)

    def sql(self, statement: str, *positional: Any, timeout: float | None = None, **named: Any) -> Query[Any]:
        """Run SQL with ``?`` or ``:name`` parameters.

        Rows for a query; ``{"row_count": ..., "autoincrement_ids": [...]}`` for anything else.
        """
        return self.link().execute(statement, sql_parameters(positional, named), timeout)

    def transaction(self, **_: Any) -> Any:
        """Interactive transactions need streams, which Tarantool has from 2.10 on.

        An older server accepts them and commits every statement by itself, so this release refuses.
        """
        message = "interactive transactions need Tarantool 2.10 or newer and a later release of tarmac"
        raise NotSupported(message)

    def watch(self, key: str) -> Any:
        """Watchers need Tarantool 2.10."""
        message = f"watching {key!r} needs Tarantool 2.10 or newer and a later release of tarmac"
        raise NotSupported(message)

    @property
    def state(self) -> str:
        """``idle``, ``connecting``, ``ready``, ``waiting`` (to reconnect) or ``closed``."""
        if self._closed:
            return "closed"
        return self._link.state if self._link is not None else "idle"

    @property
    def server_version(self) -> str | None:
        """What the server said it is, once it was reached."""
        return self._link.server_version if self._link is not None else None

    @property
    def schema(self) -> dict[str, dict[str, Any]]:
        """Spaces by name with id, fields and indexes; empty before the connection was open."""
        return self._link.schema() if self._link is not None else {}

    @property
    def in_flight(self) -> int:
        """Queries sent and not answered."""
        return self._link.in_flight if self._link is not None else 0

    @property
    def waiting(self) -> int:
        """Queries that wait for a connection or for room."""
        return self._link.waiting if self._link is not None else 0

    async def open(self) -> Self:
        """Connect now; raises what stands in the way instead of trying again for ever."""
        link = self.link()
        try:
            await link.connect()
        except BaseException:
            if not link.waiting and self.detach() is link:
                link.close()  # or it would go on trying for nobody
            raise
        return self

    async def close(self, *, drain: float = 5.0) -> None:
        """Wait up to *drain* seconds for queries that are under way, then close. Idempotent.

        Servers before 2.10 drop queued requests of a client that closes.
        """
        self._closed = True
        self._use(None)  # nothing new: link() refuses
        link = self._link
        if link is None:
            return
        loop = asyncio.get_running_loop()
        deadline = loop.time() + drain
        while (link.in_flight or link.waiting) and loop.time() < deadline:  # noqa: ASYNC110 - replies tell only their query
            await asyncio.sleep(_GLANCE)
        self.detach()
        link.close()

    def link(self) -> Link:
        """The native link of the running loop; made at the first query."""
        if self._link is not None and not self._closed:
            return self._link
        if self._closed:
            message = f"the connection to {self.target} is closed"
            raise NetworkError(message)
        link = self._hooked(self._make_link())
        self._settle(link)
        return link

    def _settle(self, link: Link | None) -> None:
        """Queries go to *link* from now on, and straight there if it is native."""
        self._link = link
        self._use(link if isinstance(link, Link) else None)

    def _make_link(self) -> Link:
        loop = asyncio.get_running_loop()
        reactor = reactor_for(loop)
        self._stay = when_closed(loop, _detaching(self))

        def make(addresses: list[Address]) -> Link:
            return make_link(reactor, addresses, self.target, self.options, loop)

        fixed = fixed_address(self.target)
        if fixed is not None:
            return make(fixed)
        # Not a Link, but it quacks like one until the name is known.
        return cast("Link", LateLink(loop, self._look_up(), make, self._become, timeout=self.options.timeout))

    async def _look_up(self) -> list[Address]:
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(self.target.host, self.target.port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise not_found(self.target, error) from error
        return looked_up(found)

    def _become(self, link: Link | None) -> None:
        """The host's name is known: queries go straight to the native link from now on."""
        if not self._closed:
            self._settle(self._hooked(link) if link is not None else None)
        if link is None:
            self._stay()

    def _hooked(self, link: Link) -> Link:
        if self._on_query is None and self._on_reply is None:
            return link
        return cast("Link", HookedLink(link, self._on_query, self._on_reply))

    def detach(self) -> Link | None:
        """Forget the link, whose loop or process has ended: the next query makes another one."""
        link = self._link
        self._settle(None)
        self._stay()
        return link

    def __await__(self) -> Generator[Any, Any, Self]:
        return self.open().__await__()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<Connection {self.target} {self.state}>"


def sql_parameters(positional: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Parameters of SQL as the protocol wants them; raises ``UsageError`` for both kinds at once."""
    if positional and named:
        message = "parameters are positional or named, not both"
        raise UsageError(message)
    return positional or [{f":{name}": value} for name, value in named.items()]


def _nothing() -> None:
    """There is nothing to take back yet."""


def _detaching(connection: Connection) -> Callable[[], None]:
    """Detach *connection* without keeping it alive until then."""
    reference = weakref.ref(connection)

    def detach() -> None:
        alive = reference()
        if alive is not None:
            alive.detach()

    return detach


_alive: weakref.WeakSet[Connection] = weakref.WeakSet()
_parents: list[Link | None] = []  # links of the parent process, kept unused in a child: their sockets are not ours


def _after_fork() -> None:
    _parents.extend(connection.detach() for connection in _alive)


os.register_at_fork(after_in_child=_after_fork)
