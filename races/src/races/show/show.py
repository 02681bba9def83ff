"""What a race tells while it runs, and how its numbers are worded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from races.analysis import CPU, RATE, Cell, CourseTable, Metric
from races.heat import Heat
from races.plan import Slot
from races.result import Result
from races.statistics import Estimate


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the race is; `seconds_left` is nan before the first heat."""

    round: int
    rounds: int
    heats_done: int
    heats: int
    seconds_left: float


class Show(Protocol):
    """Listens to a race."""

    def begin(self) -> None:
        """Before anything."""

    def stage(self, text: str) -> None:
        """What is being prepared."""

    def left_out(self, what: str, why: str) -> None:
        """Something will not race."""

    def heat_begins(self, slot: Slot, progress: Progress) -> None:
        """A heat starts."""

    def heat_ends(self, heat: Heat, result: Result) -> None:
        """A heat is over and kept."""

    def end(self) -> None:
        """The race is over, however it ended; the terminal is handed back."""

    def verdict(self, result: Result, tables: dict[str, CourseTable], report: Path) -> None:
        """The result and where its report is."""


def duration(seconds: float) -> str:
    """`1:05`, or `?` when nobody knows yet."""
    if math.isnan(seconds):
        return "?"
    whole = round(seconds)
    return f"{whole // 60}:{whole % 60:02}"


def number(value: float) -> str:
    """Three telling digits, thousands apart: 12,300 / 431 / 8.27."""
    if value >= 1000:  # noqa: PLR2004
        digits = 3 - len(str(int(value)))
        return f"{round(value, digits):,.0f}"
    if value >= 100:  # noqa: PLR2004
        return f"{value:.0f}"
    return f"{value:.3g}"


def times(factor: float) -> str:
    """A factor in a sentence: 0.55, 3.26, 21.3."""
    return f"{factor:.2f}" if factor < 10 else number(factor)  # noqa: PLR2004


def floor_words(floor: float) -> str:
    """The noise floor, a log ratio, as a person reads it: ±2.1%, or a factor when it is wide."""
    factor = math.exp(floor)
    return f"±{factor - 1:.1%}" if factor < 1.25 else f"a factor of {factor:.2f}"  # noqa: PLR2004


def ratio(estimate: Estimate | None) -> str:
    """`0.31 (0.30-0.33)`."""
    if estimate is None:
        return "-"
    low, high = estimate.ratio_low, estimate.ratio_high
    return f"{estimate.ratio:.2f} ({low:.2f}-{high:.2f})"


def rank(cell: Cell, metric: Metric) -> str:
    """The place, or a dash for what is not ranked."""
    place = cell.rank.get(metric.name)
    return "-" if place is None else str(place)


def headline(result: Result, table: CourseTable) -> list[str]:
    """The course in sentences: the reference against every other entrant."""
    return [sentence(result, table, cell) for cell in rivals(result, table)]


def rivals(result: Result, table: CourseTable) -> list[Cell]:
    """Everyone but the reference and its twin, the fastest first."""
    return [
        cell
        for cell in table.ordered()
        if cell.entrant != table.reference and not result.entrants[cell.entrant].get("twin_of")
    ]


def sentence(result: Result, table: CourseTable, cell: Cell) -> str:
    """Both figures in words, each with its doubt."""
    reference = result.entrants[table.reference]["title"]
    other = result.entrants[cell.entrant]["title"]
    if "cpu" in cell.voided or not cell.ratio:
        reasons = ", ".join(flag.value for flag in cell.flags if flag in CPU.voided_by)
        return f"{other} is not compared: {reasons or 'no common round'}."
    return (
        f"{reference} against {other}: {figure(table, cell, RATE, 'the requests per second')}, "
        f"{figure(table, cell, CPU, 'the server CPU for each')}."
    )


def figure(table: CourseTable, cell: Cell, metric: Metric, what: str) -> str:
    """`3.21 times the requests per second`, with its doubt."""
    factor = factor_words(table, cell, metric)
    return f"{what} not resolved" if factor is None else f"{factor} {what}"


def factor_words(table: CourseTable, cell: Cell, metric: Metric) -> str | None:
    """`3.21 times`, marked when a flag voids it; None when the noise hides the difference."""
    estimate = cell.ratio[metric.name]
    if not estimate.is_resolved(table.floor[metric.name]):
        return None
    factor = f"{times(1 / estimate.ratio)} times"
    return f"{factor} (flagged)" if is_void(table, cell, metric) else factor


def is_void(table: CourseTable, cell: Cell, metric: Metric) -> bool:
    """Whether either side of the comparison carries a flag that voids the figure."""
    return metric.name in table.cells[table.reference].voided | cell.voided
