"""The gevent face: the names of ``tarmac.tarantool``, without ``await``; only the calling greenlet waits.

::

    from tarmac.tarantool import gevent as tnt

    db = tnt.connect("tarantool://app:secret@127.0.0.1:3301")
    gevent.joinall([gevent.spawn(db.call, "work", number) for number in range(100)])

All greenlets of a thread share one connection, and what they ask together leaves in one write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from gevent.event import Event

from tarmac.tarantool.address import parse
from tarmac.tarantool.operations import add, band, bor, bxor, delete_field, insert_field, set, splice, subtract
from tarmac.tarantool.waiting_faces import Connection, Space
from tarmac.waiting import reactor_for_gevent

if TYPE_CHECKING:
    from tarmac._native import Query, Reactor

__all__ = [
    "Connection",
    "Space",
    "add",
    "band",
    "bor",
    "bxor",
    "connect",
    "delete_field",
    "insert_field",
    "set",
    "splice",
    "subtract",
]

_T = TypeVar("_T")


def connect(url: str = "tarantool://127.0.0.1:3301", **options: Any) -> Connection:
    """A connection to the server at *url*; options as for ``tarmac.tarantool.connect``, without hooks."""
    return Connection(*parse(url, options), _Switching())


class _Switching:
    """Waits by letting other greenlets run; the hub turns the reactor."""

    def reactor(self) -> Reactor:
        return reactor_for_gevent()

    def wait(self, _: Reactor, query: Query[_T]) -> _T:
        if not query.done():
            done = Event()
            query.add_done_callback(lambda _: done.set())
            try:
                done.wait()
            except BaseException:
                query.cancel()  # the greenlet was killed
                raise
        return query.result()

    def leave(self, _: Reactor) -> None:
        """The hub keeps its reactor: other connections live on it."""
