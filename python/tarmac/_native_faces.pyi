"""A part of the stub of ``tarmac._native``: what the asynchronous face inherits. There is no module of this name."""

from typing import Any, Self

from typing_extensions import disjoint_base

from tarmac._native import Link, Query
from tarmac._native_values import Row

@disjoint_base
class ConnectionBase:
    """What a connection inherits. Where no link is in use its ``link()`` is asked at each query."""

    def __new__(cls, *_arguments: Any, **_options: Any) -> Self: ...
    def _use(self, link: Link | None) -> None:
        """Send queries there from now on; ``None``: ask ``link()`` at each query."""

    def ping(self, *, timeout: float | None = None) -> Query[None]:
        """One round trip."""

    def call(self, function: str, *arguments: Any, timeout: float | None = None) -> Query[Any]:
        """Call a stored function: the value if it returned one, a tuple if several, None if none."""

    def eval(self, expression: str, *arguments: Any, timeout: float | None = None) -> Query[Any]:
        """Run Lua; *arguments* arrive as ``...``. The result is shaped as that of ``call``."""

@disjoint_base
class SpaceBase:
    """What a space inherits: the operations on its rows."""

    def __new__(cls, connection: Any, name: str | int) -> Self: ...
    @property
    def _connection(self) -> Any: ...
    @property
    def name(self) -> str | int: ...
    def get(self, key: Any, *, index: str | int = 0, timeout: float | None = None) -> Query[Row | None]:
        """The row with that key in a unique index, or None."""

    def select(
        self,
        key: Any = (),
        *,
        index: str | int = 0,
        iterator: str | int | None = None,
        offset: int = 0,
        limit: int = 4294967295,
        timeout: float | None = None,
    ) -> Query[list[Row]]:
        """Rows in the order of *index*.

        *iterator*: EQ (the default), REQ, ALL (the default without a key), LT, LE, GE, GT, BITS_ALL_SET,
        BITS_ANY_SET, BITS_ALL_NOT_SET, OVERLAPS, NEIGHBOR; in any case of letters.
        """

    def insert(self, row: Any, *, timeout: float | None = None) -> Query[Row]:
        """Add a row; ``TupleFound`` when its key is taken. The result is the row as it is stored."""

    def replace(self, row: Any, *, timeout: float | None = None) -> Query[Row]:
        """Add a row, or put it in the place of the one with its key."""

    def update(
        self, key: Any, *operations: Any, index: str | int = 0, timeout: float | None = None
    ) -> Query[Row | None]:
        """Change fields: ``update(1, tnt.add("visits", 1))``. The new row, or None where there is none."""

    def upsert(self, row: Any, *operations: Any, timeout: float | None = None) -> Query[None]:
        """Add *row*, or apply *operations* to the one that has its key."""

    def delete(self, key: Any, *, index: str | int = 0, timeout: float | None = None) -> Query[Row | None]:
        """Remove a row; the row that was there, or None."""
