"""Every type that a field can hold, there and back."""

from __future__ import annotations

import datetime
import decimal
import math
import uuid

import pytest
from support.loops import on_every_loop
from support.spaces import opened, people
from tarmac import tarantool as tnt

pytestmark = pytest.mark.live

VALUES = [
    None,
    True,
    False,
    0,
    1,
    127,
    128,
    -1,
    -32,
    -33,
    -129,
    2**31,
    2**32,
    2**63 - 1,
    2**63,
    2**64 - 1,
    -(2**63),
    0.5,
    -1e300,
    "",
    "a",
    "ä€😀",
    "x" * 31,
    "x" * 32,
    "x" * 255,
    "x" * 65536,
    [],
    [1, [2, [3]]],
    {"a": 1},
    {"a": {"b": [None, True]}},
    {1: "one", -2: "two"},
    list(range(20)),
    {str(number): number for number in range(20)},
    decimal.Decimal("1234567890.123456789"),
    decimal.Decimal("-0.001"),
    uuid.UUID("64d22e4d-ac92-4a23-899a-e59f34af5479"),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:30])
@on_every_loop
async def test_values_come_back_as_they_were_sent(tarantool, value):
    async with opened(tarantool) as db:
        back = await db.eval("return ...", value)
        assert value == back
        assert type(value) is type(back)


@pytest.mark.parametrize("value", [(1, 2), frozenset(), object(), 2**64, datetime.date(2026, 1, 1)], ids=repr)
@on_every_loop
async def test_a_value_that_cannot_be_sent_harms_nobody(tarantool, value):
    async with opened(tarantool) as db:
        if isinstance(value, tuple):
            assert [1, 2] == await db.eval("return ...", value)
            return
        with pytest.raises((TypeError, OverflowError, ValueError)):
            await db.eval("return ...", value)
        assert 1 == await db.eval("return ...", 1)


@on_every_loop
async def test_bytes_stay_bytes_where_they_are_stored(tarantool):
    async with people(tarantool) as (_, space):
        for number, value in enumerate([b"", b"\x00\xff", b"x" * 300, bytearray(b"ba"), memoryview(b"mv")]):
            await space.insert((number, "x", number, value))
            back = (await space.get(number)).extra
            assert (bytes, bytes(value)) == (type(back), back)


@on_every_loop
async def test_strings_that_are_not_utf8_survive(tarantool):
    async with opened(tarantool) as db:
        # Lua has one type for text and bytes; it comes back as text.
        text = await db.eval("return '\\255\\0'")
        assert b"\xff\x00" == text.encode("utf-8", "surrogateescape")
        assert 2 == await db.eval("return #...", text)


@on_every_loop
async def test_floats_that_are_no_numbers(tarantool):
    async with opened(tarantool) as db:
        assert math.isnan(await db.eval("return 0/0"))
        assert math.inf == await db.eval("return 1/0")
        assert math.isnan(await db.eval("return ...", math.nan))


@on_every_loop
async def test_big_results_in_both_directions(tarantool):
    async with opened(tarantool) as db:
        big = "x" * 5_000_000
        assert big == await db.eval("return ...", big)
        assert 200_000 == len(await db.eval("local t = {} for i = 1, 200000 do t[i] = i end return t"))


@on_every_loop
async def test_deep_nesting(tarantool):
    async with opened(tarantool) as db:
        value: list = []
        for _ in range(60):
            value = [value]
        assert value == await db.eval("return ...", value)


@on_every_loop
async def test_a_value_that_contains_itself_is_refused(tarantool):
    async with opened(tarantool) as db:
        endless: list = []
        endless.append(endless)
        with pytest.raises((ValueError, RecursionError, tnt.UsageError)):
            await db.eval("return ...", endless)
        assert await db.ping() is None
