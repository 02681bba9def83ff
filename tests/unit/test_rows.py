"""docs/rows.md keeps its own rules: every row is there once, and every proof exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
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


@pytest.mark.parametrize("row", [row for row in rows() if row["state"] != "open"], ids=lambda row: row["name"])
def test_a_closed_row_links_to_a_proof_that_exists(row):
    links = [found["path"] for found in LINK.finditer(row["proof"])]
    assert links, "a closed row needs a link"
    assert [] == [link for link in links if not (PAGE.parent / link).exists()]


@pytest.mark.parametrize("page", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_links_of_the_front_pages_lead_somewhere(page):
    paths = {found["path"] for found in LINK.finditer((ROOT / page).read_text())}
    local = {path for path in paths if "://" not in path and path}
    assert [] == [path for path in sorted(local) if not Path(ROOT, path).exists()]
