"""docs/rows.md keeps its own rules: every row is there once, and every proof exists."""

from __future__ import annotations

import re

from support.sources import ROOT

PAGE = ROOT / "docs/rows.md"
COUNTS = {"R": 43, "T": 23, "J": 25, "W": 14, "P": 12}
ROW = re.compile(
    r"^\| (?P<name>[RTJWP]\d\d) \| .* \| (?P<state>done|part|open) \| ?(?P<proof>[^|]*?) ?\|$", re.MULTILINE
)
LINK = re.compile(r"\]\((?P<path>[^)#]+)(?:#[^)]*)?\)")


def rows() -> list[re.Match[str]]:
    return list(ROW.finditer(PAGE.read_text()))


def test_all_rows_are_there_once_and_in_order():
    expected = [f"{letter}{number:02}" for letter, count in COUNTS.items() for number in range(1, count + 1)]
    assert expected == [row["name"] for row in rows()]


def test_a_closed_row_links_to_a_proof_that_exists():
    closed = {row["name"]: links(row["proof"]) for row in rows() if row["state"] != "open"}
    assert [] == [name for name, paths in closed.items() if not paths]
    assert [] == [(name, path) for name, paths in closed.items() for path in paths if not (PAGE.parent / path).exists()]


def links(text: str) -> list[str]:
    return [found["path"] for found in LINK.finditer(text)]
