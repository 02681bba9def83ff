"""What the front pages point at exists: links, files that prose and drawings name; every page of docs/ is listed."""

from __future__ import annotations

import re

import pytest
from support.sources import ROOT

PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"(?<![\w/])((?:crates|python|stickers|races|tests|scripts|docs|benchmarks|fuzz)/[\w./-]*\w)")


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    local = [path for path in LINK.findall((ROOT / page).read_text()) if "://" not in path]
    assert [] == [path for path in local if not (ROOT / path).exists()]


@pytest.mark.parametrize("page", PAGES)
def test_files_that_are_named_exist(page):
    """A page that names a file that moved is out of date."""
    assert [] == [path for path in NAMED.findall((ROOT / page).read_text()) if not (ROOT / path).exists()]


def test_every_page_stands_in_one_table_of_contents():
    """Sphinx tells of a page in none; a page in two has two places in the way through the documentation.

    What a program writes says that it is an orphan: it may be there before anybody lists it.
    """
    docs = ROOT / "docs"
    every = [page for page in sorted(docs.rglob("*.md")) if not page.read_text().startswith("---\norphan: true")]
    listed = [
        path
        for page in every
        for tree in TOCTREE.findall(page.read_text())
        for line in tree.splitlines()
        if line and not line.startswith(":")
        for path in page.parent.glob(f"{line}.md")
    ]
    assert [page for page in every if page != docs / "index.md"] == sorted(path for path in listed if path in every)
