"""A board in shared memory: one row for each worker, which all processes of a server can read.

A row holds a sign of life and the worker's counters. What a worker counted stays on the board when it
has gone: its row is added to the first one.
"""

from __future__ import annotations

import mmap
import time
from collections.abc import Iterator, Sequence

__all__ = ["COLUMNS", "Board", "Row"]

# What a row has room for, in numbers of 64 bits.
COLUMNS = 256
_PROCESS, _BEAT, _FIRST = 0, 1, 2


class Row:
    """One worker's part of the board."""

    def __init__(self, cells: memoryview) -> None:
        self._cells = cells

    def take(self, process: int) -> None:
        """The row is that process's now."""
        self._cells[_PROCESS] = process

    def beat(self) -> None:
        """The loop of the worker turns."""
        self._cells[_BEAT] = time.monotonic_ns()

    @property
    def process(self) -> int:
        """Whose row it is; 0 for nobody's."""
        return int(self._cells[_PROCESS])

    def silence(self) -> float:
        """Seconds since the last beat; 0 before the first one."""
        beat = self._cells[_BEAT]
        return (time.monotonic_ns() - beat) / 1e9 if beat else 0.0

    def write(self, numbers: Sequence[int]) -> None:
        """Show these counters."""
        for place, number in enumerate(numbers, _FIRST):
            self._cells[place] = number

    def read(self, count: int) -> list[int]:
        """The first *count* counters."""
        return self._cells[_FIRST : _FIRST + count].tolist()

    def clear(self) -> None:
        """Nobody's row, with nothing in it."""
        for place in range(COLUMNS):
            self._cells[place] = 0


class Board:
    """Rows in memory that is shared by a fork."""

    def __init__(self, rows: int) -> None:
        size = rows * COLUMNS * 8
        self._cells = memoryview(mmap.mmap(-1, size)).cast("Q")
        all_rows = [Row(self._cells[at : at + COLUMNS]) for at in range(0, rows * COLUMNS, COLUMNS)]
        self.gone, *self.rows = all_rows

    def free(self) -> Row | None:
        """A row that is nobody's, if there is one."""
        return next((row for row in self.rows if row.process == 0), None)

    def bury(self, row: Row, totals: Sequence[int]) -> None:
        """Keep the counters of a worker that has gone; *totals* tells which places are sums over time."""
        mine = row.read(COLUMNS - _FIRST)
        kept = self.gone.read(COLUMNS - _FIRST)
        for place in totals:
            kept[place] += mine[place]
        self.gone.write(kept)
        row.clear()

    def taken(self) -> Iterator[Row]:
        """The rows of workers that live."""
        return (row for row in self.rows if row.process)
