"""The blocking face: the names of ``tarmac.tarantool``, without ``await``.

::

    from tarmac.tarantool import blocking as tnt

    with tnt.connect("tarantool://app:secret@127.0.0.1:3301") as db:
        print(db.space("users").get(1))

Every thread has a connection of its own behind the one object. The GIL is released while it waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from tarmac.tarantool.address import parse
from tarmac.tarantool.operations import add, band, bor, bxor, delete_field, insert_field, set, splice, subtract
from tarmac.tarantool.waiting_faces import Connection, Space
from tarmac.waiting import reactor_for_thread

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
    return Connection(*parse(url, options), _Turning())


class _Turning:
    """Waits by turning the reactor."""

    def reactor(self) -> Reactor:
        return reactor_for_thread()

    def wait(self, reactor: Reactor, query: Query[_T]) -> _T:
        try:
            while not query.done():
                reactor.turn(None)
        except BaseException:
            query.cancel()
            raise
        return query.result()

    def leave(self, reactor: Reactor) -> None:
        reactor.close()
