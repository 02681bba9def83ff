"""From what a client sent to what a handler wants: JSON and queries as dataclasses or models.

::

    dataclass, TypedDict, list[int] ...  ->  plain_models.py, with the standard library alone
    msgspec.Struct, or a type with one   ->  msgspec
    pydantic.BaseModel, or a type with one  ->  pydantic

What does not fit is ``InvalidInput``, answered with 422 and every place that is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from tarmac.errors import BadRequest, InvalidInput
from tarmac.http.plain_models import Mismatch, convert

if TYPE_CHECKING:
    from tarmac._native import Request

__all__ = ["library", "read_json", "read_query"]


async def read_json(request: Request, model: Any) -> Any:
    """The body as *model*. Raises ``BadRequest`` for what is no JSON, ``InvalidInput`` for what does not fit."""
    body = await request.body()
    return _FROM_JSON[library(model)](body, model)


def read_query(request: Request, model: Any) -> Any:
    """The query as *model*: text becomes numbers and truth values; a field that is a list takes every value."""
    fields = query_fields(model)
    values: dict[str, Any] = {}
    for name, value in request.query_pairs:
        if fields.get(name):
            values.setdefault(name, []).append(value)
        else:
            values[name] = value
    return _FROM_TEXT[library(model)](values, model)


@cache
def library(model: Any) -> str:
    """Who converts to *model*: ``pydantic``, ``msgspec`` or ``plain``."""
    mentioned = set(_mentioned(model))
    if any(hasattr(kind, "__pydantic_validator__") for kind in mentioned):
        return "pydantic"
    return "msgspec" if any(hasattr(kind, "__struct_fields__") for kind in mentioned) else "plain"


@cache
def query_fields(model: Any) -> dict[str, bool]:
    """The fields of a query's model, and which of them take several values."""
    return {name: _takes_several(kind) for name, kind in get_type_hints(model).items()}


def _takes_several(kind: Any) -> bool:
    origin = get_origin(kind) or kind
    if origin in {Union, UnionType}:
        return any(_takes_several(one) for one in get_args(kind))
    return isinstance(origin, type) and issubclass(origin, (Sequence, set, frozenset)) and origin not in {str, bytes}


def _mentioned(kind: Any) -> Iterator[Any]:
    yield kind
    for inner in get_args(kind):
        yield from _mentioned(inner)


def _plain_json(body: bytes, model: Any) -> Any:
    try:
        value = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise _no_json(error) from None
    return _plainly(value, model, text=False)


def _refuse_constant(name: str) -> Any:
    """Python reads NaN and the infinities; JSON has none, and no answer could carry them on."""
    message = f"{name} is no number"
    raise ValueError(message)


def _plainly(value: Any, model: Any, *, text: bool = True) -> Any:
    problems: list[Mismatch] = []
    try:
        made = convert(value, model, "$", problems, text=text)
    except RecursionError:
        raise _invalid([("$", "is too deep")]) from None
    if problems:
        raise _invalid((problem.where, problem.problem) for problem in problems)
    return made


def _msgspec_json(body: bytes, model: Any) -> Any:
    import msgspec  # noqa: PLC0415 - an optional package

    try:
        return msgspec.json.decode(body, type=model)
    except msgspec.ValidationError as error:
        raise _of_msgspec(error) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _no_json(error) from None


def _msgspec_text(values: dict[str, Any], model: Any) -> Any:
    import msgspec  # noqa: PLC0415 - an optional package

    try:
        return msgspec.convert(values, model, strict=False)
    except msgspec.ValidationError as error:
        raise _of_msgspec(error) from None


def _of_msgspec(error: Exception) -> InvalidInput:
    problem, _, where = str(error).partition(" - at ")
    return _invalid([(where.strip("`") or "$", problem)])


def _pydantic_json(body: bytes, model: Any) -> Any:
    import pydantic  # noqa: PLC0415 - an optional package

    try:
        return _adapter(model).validate_json(body)
    except pydantic.ValidationError as error:
        raise _of_pydantic(error) from None


def _pydantic_text(values: dict[str, Any], model: Any) -> Any:
    import pydantic  # noqa: PLC0415 - an optional package

    try:
        return _adapter(model).validate_python(values)
    except pydantic.ValidationError as error:
        raise _of_pydantic(error) from None


@cache
def _adapter(model: Any) -> Any:
    import pydantic  # noqa: PLC0415 - an optional package

    return pydantic.TypeAdapter(model)


def _of_pydantic(error: Any) -> BadRequest | InvalidInput:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    if found[0]["type"] == "json_invalid":
        return _no_json(found[0]["msg"])
    return _invalid((_path(one["loc"]), one["msg"]) for one in found)


def _path(places: Iterable[str | int]) -> str:
    return "$" + "".join(f"[{place}]" if isinstance(place, int) else f".{place}" for place in places)


def _no_json(why: object) -> BadRequest:
    return BadRequest(f"the body is not JSON: {why}")


def _invalid(problems: Iterable[tuple[str, str]]) -> InvalidInput:
    return InvalidInput([{"where": where, "problem": problem} for where, problem in problems])


_Reader = Callable[[Any, Any], Any]
_FROM_JSON: dict[str, _Reader] = {"plain": _plain_json, "msgspec": _msgspec_json, "pydantic": _pydantic_json}
_FROM_TEXT: dict[str, _Reader] = {"plain": _plainly, "msgspec": _msgspec_text, "pydantic": _pydantic_text}
