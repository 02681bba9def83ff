"""A progress bar and a table for the terminal."""

import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self

_WIDTH: Final = 30


def say(text: str) -> None:
    """One line for whoever started the command, at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class Bar:
    """One line that fills up; silent where nobody watches."""

    def __init__(self, what: str, total: int) -> None:
        self._what = what
        self._total = max(total, 1)
        self._watched = sys.stderr.isatty()

    def show(self, done: int) -> None:
        """`done` of the total are done."""
        if self._watched:
            filled = "█" * (_WIDTH * done // self._total)
            line = f"\r{filled:░<{_WIDTH}} {done}/{self._total} {self._what}"
            sys.stderr.write(line)
            sys.stderr.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        if self._watched:
            sys.stderr.write("\n")


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns as wide as their widest cell."""
    lines = [[str(cell) for cell in row] for row in (heads, *rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
