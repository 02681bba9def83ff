"""Which bytes a Range field asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tarmac.http.ranges import MultiRange, content_range, parse_range


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("bytes=0-0", [(0, 1)]),
        ("bytes=0-9", [(0, 10)]),
        ("bytes=9-9", [(9, 10)]),
        ("bytes=0-99", [(0, 10)]),
        ("bytes=5-", [(5, 10)]),
        ("bytes=-3", [(7, 10)]),
        ("bytes=-10", [(0, 10)]),
        ("bytes=-99", [(0, 10)]),
        ("Bytes = 1-2 ", [(1, 3)]),
        ("bytes=0-1,3-4", [(0, 2), (3, 5)]),
        ("bytes=0-1 ,\t, 3-4,", [(0, 2), (3, 5)]),
        ("bytes=3-4,0-1", [(3, 5), (0, 2)]),
        ("bytes=0-1,20-30", [(0, 2)]),
        ("bytes=0-1,-0", [(0, 2)]),
        ("bytes=10-", []),
        ("bytes=10-20", []),
        ("bytes=-0", []),
        ("bytes=20-30,40-", []),
        ("bytes=0-9999999999999999999", [(0, 10)]),
        ("bytes=0-4,5-9", [(0, 5), (5, 10)]),
    ],
)
def test_ranges_are_read(value, found):
    assert found == parse_range(value, 10, most=3)


@pytest.mark.parametrize(
    "value",
    ["", "bytes", "bytes=", "bytes=,", "bytes=-", "bytes=2-1", "bytes=a-b", "bytes=1", "bytes=1-2-3", "bytes=--1",
     "bytes=+1-2", "bytes=1.0-2", "bytes=1 -2", "items=0-1", "bytes=0-1;2-3", "bytes=0-1,x", "bytes=\u0661-2",
     "bytes=0-99999999999999999999", "bytes:0-1"],
)  # fmt: skip
def test_what_is_no_range_is_ignored(value):
    assert parse_range(value, 10, most=3) is None


def test_so_many_ranges_and_no_more():
    assert parse_range("bytes=0-0,1-1,2-2", 10, most=3) == [(0, 1), (1, 2), (2, 3)]
    assert parse_range("bytes=0-0,1-1,2-2,3-3", 10, most=3) is None


def test_ranges_that_are_more_than_the_whole_are_ignored():
    assert parse_range("bytes=0-4,5-9", 10, most=3) is not None
    assert parse_range("bytes=0-5,5-9", 10, most=3) is None


@pytest.mark.parametrize("value", ["bytes=0-", "bytes=-5", "bytes=0-0,1-1"])
def test_an_empty_file_is_whole_without_ranges(value):
    assert parse_range(value, 0, most=3) is None


@given(st.text(alphabet="bytes=0123456789-, ", max_size=30).map(lambda text: "bytes=" + text), st.integers(0, 2000))
def test_ranges_never_leave_the_file(value, size):
    for start, stop in parse_range(value, size, most=8) or []:
        assert 0 <= start < stop <= size


def test_several_ranges_are_as_long_as_announced():
    several = MultiRange.of([(0, 2), (5, 9)], 10, "text/plain")
    body = several.heads[0] + b"xx" + several.heads[1] + b"yyyy" + several.end
    assert len(body) == several.length
    assert several.boundary in several.content_type
    assert 3 == body.count(several.boundary.encode())


def test_content_range_names_first_last_and_size():
    assert ("bytes 0-9/10", "bytes */10") == (content_range((0, 10), 10), content_range(None, 10))
