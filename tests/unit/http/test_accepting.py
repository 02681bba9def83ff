"""What a client accepts."""

from __future__ import annotations

import pytest
from tarmac.http.accepting import accepted_codings


@pytest.mark.parametrize(
    ("value", "accepted"),
    [
        ("", []),
        ("gzip", ["gzip"]),
        ("GZIP", ["gzip"]),
        ("x-gzip", ["gzip"]),
        ("gzip, deflate, br, zstd", ["br", "zstd", "gzip"]),
        ("gzip;q=1.0, br;q=0.5", ["gzip", "br"]),
        ("gzip ; q=0.2,br ;q=0", ["gzip"]),
        ("*", ["br", "zstd", "gzip"]),
        ("*;q=0.1, gzip", ["gzip", "br", "zstd"]),
        ("*, br;q=0", ["zstd", "gzip"]),
        ("identity", []),
        ("gzip;q=0", []),
        ("gzip;q=x", []),
        ("gzip;q=2", []),
        ("gzip;q=-1", []),
        (";q=1,,", []),
    ],
)
def test_the_dearest_comes_first(value, accepted):
    assert accepted == accepted_codings([value], ("br", "zstd", "gzip"))


def test_several_lines_are_one_list():
    assert ["gzip", "br"] == accepted_codings(["gzip", "br;q=0.5"], ("br", "zstd", "gzip"))
    assert [] == accepted_codings([], ("br",))
