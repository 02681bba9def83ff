"""From heats to a verdict per course: medians, ratios to the reference, noise floor, ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from races.flags import VOIDS_CPU, VOIDS_THROUGHPUT, Flag
from races.result import Result
from races.statistics import Estimate, noise_floor, paired_estimate, tie_groups

SOFT_FLAGS = frozenset({Flag.GEN_SATURATED, Flag.HOST_NOISY})
SOFT_SHARE = 1 / 3
"""A soft flag voids a cell only when more than this share of its heats carries it."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure that is compared; `voided_by` are the flags that make it worthless."""

    name: str
    title: str
    higher_is_better: bool
    voided_by: frozenset[Flag]

    def value(self, heat: Mapping[str, Any]) -> float:
        if self.name == "rate":
            return float(heat["rate"])
        return float(heat["cpu_per_request"].get("server", 0.0))


RATE = Metric("rate", "requests per second", higher_is_better=True, voided_by=VOIDS_THROUGHPUT)
CPU = Metric("cpu", "server CPU per request", higher_is_better=False, voided_by=VOIDS_CPU)
METRICS = (RATE, CPU)


@dataclass(slots=True)
class Cell:
    """One entrant on one course. Mappings by metric name, round number or role."""

    entrant: str
    heats: list[Mapping[str, Any]]
    flags: dict[Flag, str] = field(default_factory=dict)
    voided: set[str] = field(default_factory=set)
    ratio: dict[str, Estimate] = field(default_factory=dict)
    rank: dict[str, int] = field(default_factory=dict)

    def rounds(self, metric: Metric) -> dict[int, float]:
        values = {int(heat["round"]): metric.value(heat) for heat in self.heats}
        return {number: value for number, value in values.items() if value > 0}

    def middle(self, metric: Metric) -> float:
        return median(self.rounds(metric).values() or [0.0])

    def median_of(self, table: str) -> dict[str, float]:
        """The median of each entry of a heat's table (`cpu_per_request`, `latency`, ...)."""
        names = {name for heat in self.heats for name in heat[table]}
        return {name: median(heat[table][name] for heat in self.heats if name in heat[table]) for name in names}


@dataclass(frozen=True, slots=True)
class CourseTable:
    """All cells of a course in the order of the race, and how blurred the view is."""

    course: str
    reference: str
    cells: dict[str, Cell]
    floor: dict[str, float]

    def ordered(self) -> list[Cell]:
        """Best first, by throughput."""
        return sorted(self.cells.values(), key=lambda cell: -cell.middle(RATE))


def analyse(result: Result) -> dict[str, CourseTable]:
    """A table for every course that has heats."""
    tables: dict[str, CourseTable] = {}
    for course in result.courses:
        cells: dict[str, Cell] = {}
        for heat in result.heats:
            if heat["course"] == course:
                cells.setdefault(heat["entrant"], Cell(heat["entrant"], [])).heats.append(heat)
        if cells:
            tables[course] = _table(course, cells, result.head["reference"], result.entrants)
    return tables


def _table(
    course: str, cells: dict[str, Cell], reference: str, entrants: Mapping[str, Mapping[str, Any]]
) -> CourseTable:
    for cell in cells.values():
        cell.flags, cell.voided = _judge(cell.heats)
    floor: dict[str, float] = {}
    for metric in METRICS:
        values = {name: cell.rounds(metric) for name, cell in cells.items()}
        base = values.get(reference, {})
        for name, cell in cells.items():
            estimate = paired_estimate(values[name], base) if name != reference else None
            if estimate is not None:
                cell.ratio[metric.name] = estimate
        twins = [name for name in cells if entrants[name].get("twin_of")]
        floor[metric.name] = max((noise_floor(cells[name].ratio.get(metric.name)) for name in twins), default=0.0)
        _rank(cells, twins, metric, floor[metric.name])
    return CourseTable(course, reference, cells, floor)


def _rank(cells: Mapping[str, Cell], twins: Iterable[str], metric: Metric, floor: float) -> None:
    """Places by tie groups; the twin is the reference under another name and takes no place."""
    runners = {
        name: cell.rounds(metric)
        for name, cell in cells.items()
        if name not in set(twins) and metric.name not in cell.voided
    }
    place = 1
    for group in tie_groups(runners, floor, higher_is_better=metric.higher_is_better):
        for name in group:
            cells[name].rank[metric.name] = place
        place += len(group)


def _judge(heats: list[Mapping[str, Any]]) -> tuple[dict[Flag, str], set[str]]:
    """The flags of a cell with one reason each, and the metrics they void."""
    counts: Counter[Flag] = Counter()
    reasons: dict[Flag, str] = {}
    for heat in heats:
        seen = {Flag(finding["flag"]): finding["why"] for finding in heat["findings"]}
        counts.update(seen.keys())
        reasons.update(seen)
    flags: dict[Flag, str] = {}
    voided: set[str] = set()
    for flag, count in counts.items():
        flags[flag] = f"{count} of {len(heats)} heats, lately: {reasons[flag]}"
        if flag in SOFT_FLAGS and count <= SOFT_SHARE * len(heats):
            continue
        voided |= {metric.name for metric in METRICS if flag in metric.voided_by}
    return flags, voided
