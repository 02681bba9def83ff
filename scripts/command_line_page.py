"""Writes docs/reference/command-line.md from the parser itself; a test holds the page to it.

Run it after an option was added or changed: python scripts/command_line_page.py
"""

import argparse
import sys
from pathlib import Path

from tarmac.cli_options import EXAMPLES, Parser, add_run_options

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "command-line.md"


def page() -> str:
    """The whole page."""
    parser = Parser("tarmac run", add_help=False)
    add_run_options(parser)
    parts = [
        "# The command line",
        (
            "`tarmac run module:app` serves an application. `tarmac routes module:app` prints its routes, "
            "`tarmac check module:app` loads it and looks at every route. `--version` tells the version."
        ),
        "Exit status: 0 after a drain, 1 for a program or an address that cannot be served, 2 for a wrong command.",
        f"```text\n{EXAMPLES.strip()}\n```",
    ]
    for group in parser._action_groups:  # noqa: SLF001 - argparse has no other list of them
        rows = [row(action) for action in group._group_actions]  # noqa: SLF001 - as above
        if rows:
            title = {"positional arguments": "The program", "options": "In general"}.get(group.title or "", group.title)
            parts.append("\n".join([f"## {str(title).capitalize()}\n", "| option | what |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def row(action: argparse.Action) -> str:
    """One option, as the table has it."""
    names = [name for name in action.option_strings if not name.startswith("--no-")] or [str(action.metavar)]
    value = f" {action.metavar or '{' + ','.join(map(str, action.choices)) + '}'}" if takes_value(action) else ""
    shown = ", ".join(f"`{name}{value}`" for name in names)
    if isinstance(action, argparse.BooleanOptionalAction):
        shown += f", `--no-{names[0].removeprefix('--')}`"
    return f"| {shown} | {str(action.help).replace('|', chr(92) + '|')} |"


def takes_value(action: argparse.Action) -> bool:
    """Whether something follows the option."""
    return bool(action.option_strings) and action.nargs != 0 and (action.metavar or action.choices) is not None


if __name__ == "__main__":
    PAGE.write_text(page())
    sys.stdout.write(f"{PAGE}\n")
