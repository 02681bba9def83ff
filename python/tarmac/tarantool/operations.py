"""The operations of an update: ``users.update(1, tnt.add("visits", 1), tnt.set("name", "Bob"))``.

A field is a name, or a number counted from 0. A raw list such as ``["+", "visits", 1]`` does as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tarmac.tarantool.errors import UsageError

__all__ = ["add", "band", "bor", "bxor", "delete_field", "insert_field", "set", "splice", "subtract"]

Field = str | int
Operation = Sequence[Any]


def set(field: Field, value: Any) -> Operation:  # noqa: A001 - read as tnt.set
    """Assign *value*; one past the last field appends."""
    return ("=", field, value)


def add(field: Field, number: Any) -> Operation:
    """Add a number (int, float or Decimal)."""
    return ("+", field, number)


def subtract(field: Field, number: Any) -> Operation:
    """Subtract a number."""
    return ("-", field, number)


def band(field: Field, bits: int) -> Operation:
    """Bitwise and; the field is an unsigned integer."""
    return ("&", field, bits)


def bor(field: Field, bits: int) -> Operation:
    """Bitwise or."""
    return ("|", field, bits)


def bxor(field: Field, bits: int) -> Operation:
    """Bitwise exclusive or."""
    return ("^", field, bits)


def splice(field: Field, start: int, length: int, text: str) -> Operation:
    """Replace *length* bytes of a string from *start* by *text*."""
    return (":", field, start, length, text)


def insert_field(field: Field, value: Any) -> Operation:
    """Put a new field before *field*."""
    return ("!", field, value)


def delete_field(field: Field, count: int = 1) -> Operation:
    """Remove *count* fields from *field* on."""
    return ("#", field, count)


def flatten(operations: Iterable[Any]) -> list[Operation]:
    """Operations given one by one or as lists of operations, as one list."""
    flat: list[Operation] = []
    for operation in operations:
        if not isinstance(operation, (list, tuple)) or not operation:
            message = f"an update operation looks like tnt.add('visits', 1), not {operation!r}"
            raise UsageError(message)
        if isinstance(operation[0], (list, tuple)):
            flat.extend(flatten(operation))
        else:
            flat.append(operation)
    return flat
