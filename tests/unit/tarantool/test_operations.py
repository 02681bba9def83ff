"""Update operations are what the protocol calls them."""

from __future__ import annotations

import pytest
from tarmac import tarantool as tnt
from tarmac.tarantool.operations import flatten


def test_each_helper_is_one_operation():
    assert [
        ("=", "a", 1),
        ("+", "a", 1),
        ("-", "a", 1),
        ("&", "a", 1),
        ("|", "a", 1),
        ("^", "a", 1),
        (":", "a", 0, 2, "xy"),
        ("!", 2, "x"),
        ("#", 2, 1),
    ] == [
        tnt.set("a", 1),
        tnt.add("a", 1),
        tnt.subtract("a", 1),
        tnt.band("a", 1),
        tnt.bor("a", 1),
        tnt.bxor("a", 1),
        tnt.splice("a", 0, 2, "xy"),
        tnt.insert_field(2, "x"),
        tnt.delete_field(2),
    ]


def test_operations_come_one_by_one_or_in_lists():
    raw = [["+", 2, 1], ["=", 3, "x"]]
    assert [tnt.add("a", 1), *raw, ["-", 1, 1]] == flatten((tnt.add("a", 1), raw, ["-", 1, 1]))


@pytest.mark.parametrize("wrong", ["+", 7, (), {"a": 1}])
def test_anything_else_is_refused(wrong):
    with pytest.raises(tnt.UsageError, match="update operation"):
        flatten([wrong])
