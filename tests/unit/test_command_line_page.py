"""The reference of the command line is what the parser says."""

from __future__ import annotations

import command_line_page


def test_the_page_is_up_to_date():
    """If not: python scripts/command_line_page.py."""
    assert command_line_page.page() == command_line_page.PAGE.read_text()


def test_every_option_says_what_it_does():
    rows = [line for line in command_line_page.page().splitlines() if line.startswith("| `")]
    assert rows
    assert not [row for row in rows if row.endswith(("| None |", "|  |"))]
