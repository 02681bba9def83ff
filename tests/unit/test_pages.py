"""What the front pages point at exists: links, and the files that prose and drawings name."""

from __future__ import annotations

import re

import pytest
from support.sources import ROOT

PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
NAMED = re.compile(r"(?<![\w/])((?:crates|python|stickers|races|tests|scripts|docs|benchmarks|fuzz)/[\w./-]*\w)")


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    local = [path for path in LINK.findall((ROOT / page).read_text()) if "://" not in path]
    assert [] == [path for path in local if not (ROOT / path).exists()]


@pytest.mark.parametrize("page", PAGES)
def test_files_that_are_named_exist(page):
    """A page that names a file that moved is out of date."""
    assert [] == [path for path in NAMED.findall((ROOT / page).read_text()) if not (ROOT / path).exists()]
