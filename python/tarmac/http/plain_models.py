"""JSON as dataclasses, typed dictionaries and the types of the standard library, without any package.

Strict: a number is no text and a truth value no number; a ``ValueError`` of ``__post_init__`` is a problem.
Where ``text`` is true, as in a query, text is read as the number or truth value that it says.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import math
import types
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

__all__ = ["Mismatch", "convert"]


class Mismatch(NamedTuple):
    """One place that is wrong."""

    where: str
    problem: str


_MISSING: Any = object()
_NAMES = {str: "text", int: "a whole number", float: "a number", bool: "true or false", type(None): "null"}
_FROM_TEXT: dict[type, Callable[[str], Any]] = {
    datetime.datetime: datetime.datetime.fromisoformat,
    datetime.date: datetime.date.fromisoformat,
    datetime.time: datetime.time.fromisoformat,
    uuid.UUID: uuid.UUID,
    decimal.Decimal: decimal.Decimal,
}
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


def convert(value: Any, kind: Any, where: str, problems: list[Mismatch], *, text: bool) -> Any:
    """*value* as *kind*; what does not fit is added to *problems*."""
    origin = get_origin(kind)
    if kind is Any or kind is object:
        return value
    if origin in {Annotated, Required, NotRequired}:
        return convert(value, get_args(kind)[0], where, problems, text=text)
    if origin in {Union, types.UnionType}:
        return _one_of(value, get_args(kind), where, problems, text=text)
    if origin is Literal:
        return _allowed(value, get_args(kind), where, problems, text=text)
    if dataclasses.is_dataclass(kind) or is_typeddict(kind):
        return _object(value, kind, where, problems, text=text)
    if isinstance(origin or kind, type):
        return _of_class(value, origin or kind, get_args(kind), where, problems, text=text)
    message = f"{kind!r} is not a type that a request can be read as"
    raise TypeError(message)


def _of_class(
    value: Any, kind: type, inner: tuple[Any, ...], where: str, problems: list[Mismatch], *, text: bool
) -> Any:
    if kind in _NAMES:
        return _simple(value, kind, where, problems, text=text)
    if issubclass(kind, enum.Enum):
        known = {one.value: one for one in kind}
        chosen = _allowed(value, tuple(known), where, problems, text=text)
        return known.get(chosen)
    if kind in _FROM_TEXT:
        return _written(value, kind, where, problems)
    if issubclass(kind, Mapping):
        return _mapping(value, inner, where, problems, text=text)
    if issubclass(kind, (Sequence, set, frozenset)):
        return _items(value, kind, inner, where, problems, text=text)
    message = f"{kind.__name__} is not a type that a request can be read as"
    raise TypeError(message)


def _simple(value: Any, kind: type, where: str, problems: list[Mismatch], *, text: bool) -> Any:
    if text and isinstance(value, str) and kind is not str:
        value = _from_text(value, kind)
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is kind:
        return value
    problems.append(Mismatch(where, f"is not {_NAMES[kind]}"))
    return None


def _from_text(value: str, kind: type) -> Any:
    if kind is bool:
        return _TRUTH.get(value.lower(), value)
    try:
        number = kind(value) if kind in {int, float} and value == value.strip() and "_" not in value else value
    except ValueError:
        return value
    return number if not isinstance(number, float) or math.isfinite(number) else value


def _written(value: Any, kind: type, where: str, problems: list[Mismatch]) -> Any:
    if isinstance(value, str):
        try:
            return _FROM_TEXT[kind](value)
        except (ValueError, decimal.InvalidOperation):
            pass
    problems.append(Mismatch(where, f"is not a {kind.__name__} as text"))
    return None


def _allowed(value: Any, choices: tuple[Any, ...], where: str, problems: list[Mismatch], *, text: bool) -> Any:
    for choice in choices:
        if type(value) is type(choice) and value == choice:
            return choice
        if text and isinstance(value, str) and str(choice) == value:
            return choice
    problems.append(Mismatch(where, f"is none of {', '.join(map(repr, choices))}"))
    return None


def _one_of(value: Any, kinds: tuple[Any, ...], where: str, problems: list[Mismatch], *, text: bool) -> Any:
    """The first kind that fits; with one kind beside null, its own complaints."""
    if value is None and type(None) in kinds:
        return None
    others = [kind for kind in kinds if kind is not type(None)]
    for kind in others:
        complaints: list[Mismatch] = []
        made = convert(value, kind, where, complaints, text=text)
        if not complaints:
            return made
    problems.extend(complaints if len(others) == 1 else [Mismatch(where, "fits none of the kinds that it may be")])
    return None


def _object(value: Any, kind: Any, where: str, problems: list[Mismatch], *, text: bool) -> Any:
    if not isinstance(value, dict):
        problems.append(Mismatch(where, "is not an object"))
        return None
    before, made = len(problems), {}
    for name, (hint, needed) in _fields(kind).items():
        given = value.get(name, _MISSING)
        if given is not _MISSING:
            made[name] = convert(given, hint, f"{where}.{name}", problems, text=text)
        elif needed:
            problems.append(Mismatch(f"{where}.{name}", "is missing"))
    if len(problems) > before:
        return None
    try:
        return kind(**made)
    except ValueError as error:  # a check of the class's own
        problems.append(Mismatch(where, str(error) or "is not allowed"))
        return None


def _fields(kind: Any) -> dict[str, tuple[Any, bool]]:
    """Each field's type, and whether it has to be there."""
    hints = get_type_hints(kind, include_extras=True)
    if is_typeddict(kind):
        # With postponed annotations __required_keys__ has not seen NotRequired.
        return {
            name: (hint, name in kind.__required_keys__ and get_origin(hint) is not NotRequired)
            for name, hint in hints.items()
        }
    return {
        field.name: (
            hints[field.name],
            field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING,
        )
        for field in dataclasses.fields(kind)
        if field.init
    }


def _mapping(value: Any, inner: tuple[Any, ...], where: str, problems: list[Mismatch], *, text: bool) -> Any:
    if not isinstance(value, dict):
        problems.append(Mismatch(where, "is not an object"))
        return None
    of_values = inner[1] if inner else Any
    return {name: convert(one, of_values, f"{where}.{name}", problems, text=text) for name, one in value.items()}


def _items(value: Any, kind: type, inner: tuple[Any, ...], where: str, problems: list[Mismatch], *, text: bool) -> Any:
    if not isinstance(value, list):
        problems.append(Mismatch(where, "is not a list"))
        return None
    kinds = _of_items(kind, inner, len(value))
    if len(kinds) != len(value):
        problems.append(Mismatch(where, f"has {len(value)} items, not {len(kinds)}"))
        return None
    pairs = enumerate(zip(value, kinds, strict=True))
    before = len(problems)
    made = [convert(one, of, f"{where}[{number}]", problems, text=text) for number, (one, of) in pairs]
    if len(problems) > before:
        return None
    return kind(made) if kind in {list, tuple, set, frozenset} else made


def _of_items(kind: type, inner: tuple[Any, ...], count: int) -> list[Any]:
    if kind is tuple and inner and inner[-1] is not Ellipsis:
        return list(inner)
    return [inner[0] if inner else Any] * count
