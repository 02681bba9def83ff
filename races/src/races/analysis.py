"""From heats to a verdict per course: medians, ratios to the reference, noise floor, ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from races.flags import VOIDS_CPU, VOIDS_THROUGHPUT, Flag
from races.result import Result
from races.statistics import MINIMUM_PAIRS, Estimate, noise_floor, paired_estimate, tie_groups

SOFT_FLAGS = frozenset({Flag.GEN_SATURATED, Flag.HOST_NOISY})
SOFT_SHARE = 1 / 3
"""A soft flag voids a cell only when more than this share of its heats carries it."""

ENOUGH_QUIET = MINIMUM_PAIRS
"""With so many rounds in which nobody was disturbed, the others are not used."""


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


def is_noisy(heat: Mapping[str, Any]) -> bool:
    """Whether other programs disturbed the heat."""
    return any(finding["flag"] == Flag.HOST_NOISY for finding in heat["findings"])


@dataclass(slots=True)
class Cell:
    """One entrant on one course. Mappings by metric name, round number or role.

    `voided` metrics are worthless; `doubtful` ones are so because of the surroundings and not
    because of the entrant.
    """

    entrant: str
    heats: list[Mapping[str, Any]]
    flags: dict[Flag, str] = field(default_factory=dict)
    voided: set[str] = field(default_factory=set)
    doubtful: set[str] = field(default_factory=set)
    used_rounds: set[int] = field(default_factory=set)
    ratio: dict[str, Estimate] = field(default_factory=dict)
    rank: dict[str, int] = field(default_factory=dict)

    @property
    def used(self) -> list[Mapping[str, Any]]:
        """The heats that count: see `quiet_rounds`."""
        return [heat for heat in self.heats if heat["round"] in self.used_rounds]

    def rounds(self, metric: Metric) -> dict[int, float]:
        values = {int(heat["round"]): metric.value(heat) for heat in self.used}
        return {number: value for number, value in values.items() if value > 0}

    def middle(self, metric: Metric) -> float:
        return median(self.rounds(metric).values() or [0.0])

    def median_of(self, table: str) -> dict[str, float]:
        """The median of each entry of a heat's table (`cpu_per_request`, `latency`, ...)."""
        heats = [heat for heat in self.used if heat["good"]] or self.used
        names = {name for heat in heats for name in heat[table]}
        return {name: median(heat[table][name] for heat in heats if name in heat[table]) for name in names}


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
    quiet = quiet_rounds(cells.values())
    for cell in cells.values():
        cell.used_rounds = quiet or {int(heat["round"]) for heat in cell.heats}
        _judge(cell, forgive_noise=bool(quiet))
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


def quiet_rounds(cells: Iterable[Cell]) -> set[int]:
    """The rounds in which no heat of the course was disturbed; none if they are too few to judge by.

    A round counts as a whole or not at all, or the pairs would fall apart.
    """
    heats = [heat for cell in cells for heat in cell.heats]
    noisy = {int(heat["round"]) for heat in heats if is_noisy(heat)}
    quiet = {int(heat["round"]) for heat in heats} - noisy
    return quiet if len(quiet) >= ENOUGH_QUIET else set()


def _rank(cells: Mapping[str, Cell], twins: Iterable[str], metric: Metric, floor: float) -> None:
    """Places by tie groups; the twin is the reference under another name and takes no place.

    Where the surroundings spoiled one runner's figure nobody is ranked: a winner against half a
    field would be no winner. Who failed by itself only loses its own place.
    """
    if any(metric.name in cell.doubtful and CPU.name not in cell.voided for cell in cells.values()):
        return
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


def _judge(cell: Cell, *, forgive_noise: bool) -> None:
    """The flags of a cell with one reason each, and the metrics they void."""
    counts: Counter[Flag] = Counter()
    reasons: dict[Flag, str] = {}
    for heat in cell.heats:
        seen = {Flag(finding["flag"]): finding["why"] for finding in heat["findings"]}
        counts.update(seen.keys())
        reasons.update(seen)
    total = len(cell.heats)
    for flag, count in counts.items():
        cell.flags[flag] = f"{count} of {total} heats, lately: {reasons[flag]}"
        is_rare = flag in SOFT_FLAGS and count <= SOFT_SHARE * total
        if is_rare or (flag is Flag.HOST_NOISY and forgive_noise):
            continue
        names = {metric.name for metric in METRICS if flag in metric.voided_by}
        cell.voided |= names
        if flag in SOFT_FLAGS:
            cell.doubtful |= names
