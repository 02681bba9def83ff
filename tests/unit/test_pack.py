"""Python values as msgpack and back, as far as the server has them."""

import tomllib
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tarmac._native import BoxError, Datetime, ExtType, Interval, Row, _pack, _unpack

VECTORS = Path(__file__).parents[1] / "vectors" / "iproto" / "values.toml"
WORDS: dict[str, Any] = {
    "Decimal": Decimal,
    "UUID": UUID,
    "datetime": datetime,
    "timedelta": timedelta,
    "timezone": timezone,
    "Datetime": Datetime,
    "ExtType": ExtType,
    "Interval": Interval,
}


def vectors() -> list[tuple[bytes, str, bool]]:
    """Read the vectors that Rust runs too."""
    found = tomllib.loads(VECTORS.read_text("utf-8"))["vector"]
    return [(bytes.fromhex(one["packed"]), one["python"], one.get("read_only", False)) for one in found]


@pytest.mark.parametrize(("packed", "python", "read_only"), vectors())
def test_vectors(packed: bytes, python: str, read_only: bool) -> None:  # noqa: FBT001
    """Reading gives the value and its exact type; writing gives the shortest form back."""
    expected = eval(python, WORDS)  # noqa: S307
    actual = _unpack(packed)
    assert (repr(expected), type(expected)) == (repr(actual), type(actual))
    assert expected == actual
    assert (packed == _pack(expected)) is not read_only


class Colour(IntEnum):
    RED = 3


class Word(StrEnum):
    YES = "yes"


class Text(str):
    __slots__ = ()


Pair = namedtuple("Pair", "x y")  # noqa: PYI024


@pytest.mark.parametrize(
    ("value", "same_as"),
    [
        ((1, (2,)), [1, [2]]),
        (Pair(1, 2), [1, 2]),
        (Row((1, "a", [2]), ("id",)), [1, "a", [2]]),
        (OrderedDict(a=1), {"a": 1}),
        (Colour.RED, 3),
        (Word.YES, "yes"),
        (Text("é"), "é"),
        (bytearray(b"\x00x"), b"\x00x"),
        (memoryview(b"abc")[1:], b"bc"),
        (memoryview(b"abcd")[::2], b"ac"),
        (datetime(2024, 2, 29, tzinfo=timezone(timedelta(0))), datetime(2024, 2, 29, tzinfo=UTC)),
    ],
)
def test_relatives_are_packed_as_what_they_are(value: object, same_as: object) -> None:
    """Subclasses and kindred types have the form of the type they stand for."""
    assert _pack(same_as) == _pack(value)


@pytest.mark.parametrize("value", [object(), 1j, {1}, date(2024, 1, 1), timedelta(1), range(3), int, _pack])
def test_other_types_are_refused_by_name(value: object) -> None:
    """A type without a form is a TypeError that names it."""
    with pytest.raises(TypeError, match=f"type {type(value).__name__} has no msgpack form"):
        _pack([value])


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, 10**30])
def test_integers_beyond_64_bits_are_refused(value: int) -> None:
    """The server's integers end at -2**63 and 2**64 - 1."""
    with pytest.raises(OverflowError, match=r"between -2\*\*63 and 2\*\*64 - 1"):
        _pack(value)


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1" * 39])
def test_decimals_that_the_server_has_not_are_refused(value: str) -> None:
    """The server's decimals are finite and have at most 38 digits."""
    with pytest.raises(ValueError, match="at most 38 digits"):
        _pack(Decimal(value))


class NoOffset(tzinfo):
    def utcoffset(self, when: datetime | None, /) -> timedelta | None:
        return None


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (datetime(2024, 1, 1), "give it a tzinfo"),  # noqa: DTZ001
        (datetime(2024, 1, 1, tzinfo=NoOffset()), "utcoffset"),
        (datetime(2024, 1, 1, tzinfo=timezone(timedelta(seconds=30))), "whole minutes"),
    ],
)
def test_datetimes_that_are_no_point_in_time_are_refused(value: datetime, reason: str) -> None:
    """A datetime must be aware, its offset whole minutes."""
    with pytest.raises(ValueError, match=reason):
        _pack(value)


def nested(depth: int, make: Callable[[Any], Any]) -> Any:
    value: Any = None
    for _ in range(depth):
        value = make(value)
    return value


@pytest.mark.parametrize("make", [lambda inner: [inner], lambda inner: (inner,), lambda inner: {1: inner}])
def test_depth_ends_at_128(make: Callable[[Any], Any]) -> None:
    """128 levels pack; one more is a ValueError, and so is a list in itself."""
    assert _pack(nested(128, make))
    with pytest.raises(ValueError, match="deeper than 128 levels"):
        _pack(nested(129, make))
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ValueError, match="or in itself"):
        _pack(loop)


def test_depth_ends_at_128_when_reading_too() -> None:
    """What the server nests deeper is refused, not followed."""
    assert nested(128, lambda inner: [inner]) == _unpack(b"\x91" * 128 + b"\xc0")
    for deep in (129, 1_000_000):
        with pytest.raises(ValueError, match="deeper than 128 levels"):
            _unpack(b"\x91" * deep + b"\xc0")


@pytest.mark.parametrize(
    ("packed", "reason"),
    [
        (b"", "truncated: expected a msgpack value at byte 0"),
        (b"\xc1", "bad msgpack marker: expected a msgpack value at byte 0"),
        (b"\x92\x01", "truncated: expected a msgpack value at byte 2"),
        (b"\xdd\xff\xff\xff\xff", "truncated"),
        (b"\xdf\xff\xff\xff\xff", "truncated"),
        (b"\xa5Ann", "truncated: expected the rest of a value"),
        (b"\x01\x02", "bytes"),
        (b"\xd5\x01\x00\xff", "bad extension: expected a digit of a decimal"),
        (b"\xd4\x02\x00", "bad extension: expected 16 bytes of a UUID"),
    ],
)
def test_malformed_input_says_what_was_expected_where(packed: bytes, reason: str) -> None:
    """Faults are a ValueError with the kind, the expectation and the place."""
    with pytest.raises(ValueError, match=reason):
        _unpack(packed)


def test_arrays_as_keys_become_tuples() -> None:
    """A list cannot be a key; a map as a key is a TypeError."""
    assert {(1, 2): 3} == _unpack(b"\x81\x92\x01\x02\x03")
    with pytest.raises(TypeError, match="unhashable"):
        _unpack(b"\x81\x80\x03")


def test_a_list_that_changes_while_it_is_packed_is_refused() -> None:
    """Packing may run Python; a promise of three values is not kept with two."""
    items: list[Any] = []

    class Shrinking(tzinfo):
        def utcoffset(self, when: datetime | None, /) -> timedelta:
            items.pop()
            return timedelta(0)

    items.extend([datetime(2024, 1, 1, tzinfo=Shrinking()), 2, 3])
    with pytest.raises(RuntimeError, match="changed while it was packed"):
        _pack(items)


def test_errors_as_values_have_their_causes() -> None:
    """Tarantool's error extension: the error, its fields, and what caused it."""
    packed = bytes.fromhex(
        "c758038100928700ab437573746f6d4572726f72020101a46576616c03a3776879040005030681ab637573746f6d5f74797065a7"
        "4d794572726f728600ab436c69656e744572726f72020101a46576616c03a4646565700400052a"
    )
    error = _unpack(packed)
    assert isinstance(error, BoxError)
    assert ("CustomError", "why", 3, {"custom_type": "MyError"}) == (
        error.type,
        error.message,
        error.code,
        error.fields,
    )
    assert error.cause is not None
    assert ("deep", 42, "eval", 1, None) == (
        error.cause.message,
        error.cause.code,
        error.cause.file,
        error.cause.line,
        error.cause.cause,
    )
    assert packed == _pack(error)


def test_datetimes_keep_their_nanoseconds() -> None:
    """A moment that datetime would round is a Datetime, which knows the nearest datetime."""
    moment = Datetime(1_700_000_000, 1_999)
    assert moment == _unpack(_pack(moment))
    assert datetime(2023, 11, 14, 22, 13, 20, 1, tzinfo=UTC) == moment.to_datetime()
    with pytest.raises(OverflowError):
        Datetime(2**62).to_datetime()


ATOMS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.uuids()
    | st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**20), max_value=10**20)
    | st.datetimes(timezones=st.just(UTC), allow_imaginary=False).map(lambda when: when.replace(fold=0))
    | st.builds(ExtType, st.integers(64, 127), st.binary(max_size=70))
)
VALUES = st.recursive(ATOMS, lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(0, 9), inner))


@given(VALUES)
def test_every_value_comes_back(value: object) -> None:
    """What is packed is read as what it was, type by type."""
    again = _unpack(_pack(value))
    assert (value, repr(value)) == (again, repr(again))


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(packed: bytes) -> None:
    """No input does more than raise: what can be read can be packed and read again."""
    try:
        value = _unpack(packed)
    except (ValueError, TypeError):
        return
    if value == value:  # noqa: PLR0124 - not a number is not itself
        assert value == _unpack(_pack(value))


@given(st.datetimes(), st.integers(-1439, 1439))
def test_every_datetime_comes_back(naive: datetime, minutes: int) -> None:
    """The calendar agrees with datetime's own, in every zone of whole minutes."""
    value = naive.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    again = _unpack(_pack(value))
    assert (value, value.utcoffset()) == (again, again.utcoffset())
