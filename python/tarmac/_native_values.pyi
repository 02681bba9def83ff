"""A part of the stub of ``tarmac._native``: values of the database. There is no module of this name."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final, final, overload

@final
class Format:
    """Names of the fields of rows, shared by all rows of a space."""

    def __new__(cls, names: tuple[str, ...]) -> Format: ...
    @property
    def names(self) -> tuple[str, ...]: ...

@final
class Row:
    """One tuple of a reply, decoded field by field when it is touched.

    ``row[1]``, ``row[-1]``, ``row[1:3]``, ``row["name"]``, ``row.name`` and ``dict(row)`` work; it equals a tuple of
    the same fields. A method wins over a field of the same name. A named field beyond the tuple's end is ``None``.
    """

    def __new__(cls, values: Iterable[Any], names: tuple[str, ...] | None = None, /) -> Row: ...
    def keys(self) -> tuple[str, ...]: ...
    def values(self) -> tuple[Any, ...]: ...
    def items(self) -> tuple[tuple[str, Any], ...]: ...
    def get(self, key: str, default: Any = None, /) -> Any: ...
    @overload
    def __getitem__(self, key: int | str, /) -> Any: ...
    @overload
    def __getitem__(self, key: slice, /) -> tuple[Any, ...]: ...
    def __getattr__(self, name: str, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Interval:
    """A span of calendar time; equal if every part is equal."""

    def __new__(
        cls,
        *,
        years: int = 0,
        months: int = 0,
        weeks: int = 0,
        days: int = 0,
        hours: int = 0,
        minutes: int = 0,
        seconds: int = 0,
        nanoseconds: int = 0,
        adjust: int = 1,
    ) -> Interval: ...
    years: Final[int]
    months: Final[int]
    weeks: Final[int]
    days: Final[int]
    hours: Final[int]
    minutes: Final[int]
    seconds: Final[int]
    nanoseconds: Final[int]
    adjust: Final[int]

@final
class Datetime:
    """A point in time that ``datetime.datetime`` cannot hold without loss."""

    def __new__(cls, seconds: int, nanoseconds: int = 0, tz_offset: int = 0, tz_index: int = 0) -> Datetime: ...
    seconds: Final[int]
    nanoseconds: Final[int]
    tz_offset: Final[int]
    tz_index: Final[int]
    def to_datetime(self) -> datetime:
        """The nearest one at or before it; ``OverflowError`` outside of its years."""

    def __lt__(self, other: Datetime, /) -> bool: ...
    def __le__(self, other: Datetime, /) -> bool: ...
    def __gt__(self, other: Datetime, /) -> bool: ...
    def __ge__(self, other: Datetime, /) -> bool: ...

@final
class ExtType:
    """A value of an extension type that is not known here. It goes back as it came."""

    def __new__(cls, code: int, data: bytes) -> ExtType: ...
    @property
    def code(self) -> int: ...
    @property
    def data(self) -> bytes: ...

@final
class BoxError:
    """An error of the server as a value, with what caused it."""

    @property
    def type(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def code(self) -> int: ...
    @property
    def errno(self) -> int: ...
    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def fields(self) -> dict[str, Any]: ...
    @property
    def cause(self) -> BoxError | None: ...
