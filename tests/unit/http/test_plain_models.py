"""Values from a client become what the types of a program say, or every wrong place is named."""

from __future__ import annotations

import datetime
import decimal
import enum
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from tarmac.http.plain_models import Mismatch, convert


class Color(enum.Enum):
    RED = "red"
    SEVEN = 7


@dataclass
class Point:
    x: int
    y: float = 0.0


@dataclass
class Shape:
    name: str
    points: list[Point]
    color: Color = Color.RED
    tags: set[str] = field(default_factory=set)
    area: int = field(init=False, default=0)


class Options(TypedDict):
    a: int
    b: NotRequired[str]


def made(value: Any, kind: Any, *, text: bool = False) -> Any:
    problems: list[Mismatch] = []
    result = convert(value, kind, "$", problems, text=text)
    assert [] == problems
    return result


def wrong(value: Any, kind: Any, *, text: bool = False) -> dict[str, str]:
    problems: list[Mismatch] = []
    convert(value, kind, "$", problems, text=text)
    return dict(problems)


MOMENT = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
NUMBER = uuid.UUID("0188f3c2-1234-7abc-8def-0123456789ab")
GOOD = [
    (7, int, 7),
    (7, float, 7.0),
    (True, bool, True),
    (None, None.__class__, None),
    ("x", int | str, "x"),
    ([1], list[int] | None, [1]),
    ([1, "a"], tuple[int, str], (1, "a")),
    ([1, 2], tuple[int, ...], (1, 2)),
    ([1, 1], set[int], {1}),
    ([1], Sequence[int], [1]),
    ([1, "a"], list, [1, "a"]),
    ({"a": 1}, dict[str, int], {"a": 1}),
    ({"a": 1}, dict, {"a": 1}),
    ("a", Literal["a", "b"], "a"),
    ("red", Color, Color.RED),
    (7, Color, Color.SEVEN),
    (7, Annotated[int, "positive"], 7),
    ({"any": [1]}, Any, {"any": [1]}),
    ("2026-01-02T03:04:05+00:00", datetime.datetime, MOMENT),
    ("2026-01-02", datetime.date, MOMENT.date()),
    ("03:04:05", datetime.time, MOMENT.time()),
    (str(NUMBER), uuid.UUID, NUMBER),
    ("1.10", decimal.Decimal, decimal.Decimal("1.10")),
    ({"x": 1}, Point, Point(1)),
    ({"x": 1, "y": 2, "z": 3}, Point, Point(1, 2.0)),
    ({"name": "n", "points": [{"x": 1}], "color": "red", "area": 9}, Shape, Shape("n", [Point(1)])),
    ({"a": 1}, Options, {"a": 1}),
    ({"a": 1, "b": "x", "c": 0}, Options, {"a": 1, "b": "x"}),
]


@pytest.mark.parametrize(("value", "kind", "expected"), GOOD, ids=lambda value: repr(value)[:30])
def test_what_fits(value, kind, expected):
    result = made(value, kind)
    assert (expected, type(expected)) == (result, type(result))


BAD = [
    ("7", int, {"$": "is not a whole number"}),
    (True, int, {"$": "is not a whole number"}),
    (7.0, int, {"$": "is not a whole number"}),
    (True, float, {"$": "is not a number"}),
    (1, bool, {"$": "is not true or false"}),
    (1, str, {"$": "is not text"}),
    (0, type(None), {"$": "is not null"}),
    (None, int, {"$": "is not a whole number"}),
    ("x", int | None, {"$": "is not a whole number"}),
    ([], int | str, {"$": "fits none of the kinds that it may be"}),
    ("c", Literal["a", "b"], {"$": "is none of 'a', 'b'"}),
    (True, Literal[1], {"$": "is none of 1"}),
    ("blue", Color, {"$": "is none of 'red', 7"}),
    ({}, list[int], {"$": "is not a list"}),
    ([], dict[str, int], {"$": "is not an object"}),
    ([1], tuple[int, int], {"$": "has 1 items, not 2"}),
    ([1, "a", None], list[int], {"$[1]": "is not a whole number", "$[2]": "is not a whole number"}),
    ({"a": "x"}, dict[str, int], {"$.a": "is not a whole number"}),
    ("2026-13-01", datetime.date, {"$": "is not a date as text"}),
    (7, datetime.date, {"$": "is not a date as text"}),
    ("x", decimal.Decimal, {"$": "is not a Decimal as text"}),
    ([], Point, {"$": "is not an object"}),
    ({"y": "a"}, Point, {"$.x": "is missing", "$.y": "is not a number"}),
    ({"name": 1, "points": [{}, {"x": 1}]}, Shape, {"$.name": "is not text", "$.points[0].x": "is missing"}),
    ({"b": 1}, Options, {"$.a": "is missing", "$.b": "is not text"}),
]


@pytest.mark.parametrize(("value", "kind", "problems"), BAD, ids=lambda value: repr(value)[:30])
def test_every_place_that_does_not_fit_is_named(value, kind, problems):
    assert problems == wrong(value, kind)


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ("7", int, 7),
        ("-7", int, -7),
        ("7", float, 7.0),
        ("7.5", float | None, 7.5),
        ("true", bool, True),
        ("0", bool, False),
        ("FALSE", bool, False),
        ("7", Color, Color.SEVEN),
        ("1", Literal[1, 2], 1),
        (["1", "2"], list[int], [1, 2]),
        ("7", str, "7"),
        ("7", int | str, 7),
    ],
)
def test_text_says_what_it_is(value, kind, expected):
    assert expected == made(value, kind, text=True)


@pytest.mark.parametrize(
    ("value", "kind"),
    [("x", int), ("1_000", int), (" 7", int), ("", int), ("7.5", int), ("inf", float), ("nan", float), ("yes", bool)],
)
def test_text_that_says_something_else(value, kind):
    assert ["$"] == list(wrong(value, kind, text=True))


@dataclass
class Range:
    low: int
    high: int

    def __post_init__(self) -> None:
        """Check what belongs together."""
        if self.low > self.high:
            message = "low is above high"
            raise ValueError(message)


def test_a_class_may_check_itself():
    assert Range(1, 2) == made({"low": 1, "high": 2}, Range)
    assert {"$[1]": "low is above high"} == wrong([{"low": 1, "high": 2}, {"low": 3, "high": 2}], list[Range])
    assert {"$.low": "is missing"} == wrong({"high": 2}, Range)


@pytest.mark.parametrize("kind", [object(), bytes.maketrans, complex])
def test_a_type_that_nothing_can_be_read_as_is_a_mistake_of_the_program(kind):
    with pytest.raises(TypeError, match="not a type that a request can be read as"):
        made("x", kind)
