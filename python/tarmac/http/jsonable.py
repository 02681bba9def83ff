"""What stands in JSON for values that it does not know: dates, numbers of other kinds, models."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import pathlib
import uuid
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["is_model", "jsonable"]

_PLAIN: tuple[tuple[tuple[type, ...], Callable[[Any], Any]], ...] = (
    ((enum.Enum,), lambda value: value.value),
    ((datetime.date, datetime.time), lambda value: value.isoformat()),
    ((uuid.UUID, decimal.Decimal, pathlib.PurePath), str),
    ((set, frozenset), list),
    ((Mapping,), dict),
)


def is_model(value: object) -> bool:
    """Whether *value* is a dataclass's instance or one of a msgspec or pydantic model."""
    kind = type(value)
    return any(hasattr(kind, mark) for mark in ("__dataclass_fields__", "__struct_fields__", "__pydantic_validator__"))


def jsonable(value: Any) -> Any:
    """One step towards JSON. Raises ``TypeError`` for what has no such form."""
    kind = type(value)
    if hasattr(kind, "__struct_fields__"):
        import msgspec  # noqa: PLC0415 - whoever has a Struct has it

        return msgspec.to_builtins(value)
    if hasattr(kind, "model_dump"):
        return value.model_dump(mode="json", by_alias=True)
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    for kinds, convert in _PLAIN:
        if isinstance(value, kinds):
            return convert(value)
    message = f"{kind.__name__} is not something that JSON can say"
    raise TypeError(message)
