"""For generated types and values: what the schema of a type lets through, the reader of requests takes, and no more."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Literal

from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tarmac.http.plain_models import Mismatch, convert
from tarmac.openapi.schemas import Schemas

NAMES = st.sampled_from(["a", "b", "c"])
# 1.0 is an integer to JSON Schema and a number with a point to us: generated numbers are not whole.
NUMBERS = st.integers(-5, 5).map(lambda number: number + 0.5)
SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | NUMBERS | st.sampled_from(["", "a", "b", "7"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
SIMPLE: st.SearchStrategy[Any] = st.sampled_from([int, str, bool, float, type(None), Any, Literal["a", 1], list, dict])


def composed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    fields = st.dictionaries(NAMES, st.tuples(inner, st.booleans()), min_size=1)
    return st.one_of(
        inner.map(lambda kind: list[kind]),
        inner.map(lambda kind: dict[str, kind]),
        inner.map(lambda kind: kind | None if kind is not Any else kind),
        st.tuples(inner, inner).map(lambda kinds: tuple[kinds]),
        fields.map(dataclass_of),
    )


def dataclass_of(fields: dict[str, tuple[Any, bool]]) -> type:
    """A dataclass whose fields have to be there, or are None without."""
    needed = [(name, kind) for name, (kind, must) in fields.items() if must]
    other = [(name, kind, dataclasses.field(default=None)) for name, (kind, must) in fields.items() if not must]
    return dataclasses.make_dataclass("Made", [*needed, *other])


KINDS = st.recursive(SIMPLE, composed, max_leaves=4)


def fitting(kind: Any) -> st.SearchStrategy[Any]:
    """Values that are likely to fit, among others."""
    if dataclasses.is_dataclass(kind):
        return st.fixed_dictionaries({field.name: fitting(field.type) for field in dataclasses.fields(kind)})
    return {int: st.integers(-5, 5), str: st.just("a"), bool: st.booleans(), float: NUMBERS}.get(kind, VALUES)


@given(data=st.data(), kind=KINDS)
def test_the_schema_and_the_reader_agree(data, kind):
    value = data.draw(VALUES | fitting(kind))
    agree(kind, value)


def agree(kind: Any, value: Any) -> None:
    schemas = Schemas()
    schema = {**schemas.of(kind), "components": {"schemas": schemas.components}}
    Draft202012Validator.check_schema(schema)
    json.dumps(schema)
    problems: list[Mismatch] = []
    convert(value, kind, "$", problems, text=False)
    assert Draft202012Validator(schema).is_valid(value) == (not problems), (schema, problems)


@given(value=VALUES)
@example(value={"a": 1, "b": [{"a": 1, "b": []}]})
def test_they_agree_about_models_that_contain_themselves(value):
    agree(Tree, value)


@dataclasses.dataclass
class Tree:
    a: int
    b: list[Tree] | None = None
