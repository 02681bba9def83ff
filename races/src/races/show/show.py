"""What a race tells while it runs, and how its numbers are worded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from races.analysis import Cell, CourseTable, Metric
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
    reference = result.entrants[table.reference]["title"]
    return [
        sentence(reference, result.entrants[cell.entrant]["title"], cell, table)
        for cell in table.ordered()
        if cell.entrant != table.reference and not result.entrants[cell.entrant].get("twin_of")
    ]


def sentence(reference: str, other: str, cell: Cell, table: CourseTable) -> str:
    """`A answers 3.2 times the requests of B and spends 0.31 of its CPU on each.`"""
    rate, cpu = cell.ratio.get("rate"), cell.ratio.get("cpu")
    if rate is None or cpu is None:
        return f"{reference} and {other} cannot be compared."
    voided = table.cells[table.reference].voided | cell.voided
    rate_words = f"answers {1 / rate.ratio:.2f} times the requests of {other}"
    if not rate.is_resolved(table.floor["rate"]):
        rate_words = f"answers as many requests as {other} (not resolved)"
    elif "rate" in voided:
        rate_words += " (flagged)"
    cpu_words = f"spends {1 / cpu.ratio:.2f} times its CPU on each"
    if not cpu.is_resolved(table.floor["cpu"]):
        cpu_words = "spends the same CPU on each (not resolved)"
    elif "cpu" in voided:
        cpu_words += " (flagged)"
    return f"{reference} {rate_words} and {cpu_words}."
