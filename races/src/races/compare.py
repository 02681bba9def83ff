"""Compares two results of the same race, before and after a change: is the new one slower."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

from races.analysis import METRICS, SOFT_FLAGS, CourseTable, Metric, analyse
from races.result import Result
from races.statistics import Estimate, shift_estimate

MINIMUM_HEATS = 4
RESOLUTION = 0.03
"""A loss of less than 3 % counts as none, even when the twin was steadier than that."""


class Verdict(IntEnum):
    """Exit statuses of `races compare`."""

    SAME = 0
    SLOWER = 1
    USAGE = 2
    INCONCLUSIVE = 3
    WRONG_ANSWERS = 4


@dataclass(frozen=True, slots=True)
class Comparison:
    """One entrant on one course in both results; `change` is new to old, above 0 is better."""

    course: str
    entrant: str
    verdict: Verdict
    change: Estimate | None
    why: str


def compare(old: Result, new: Result, metric: Metric) -> list[Comparison]:
    """Every cell that both results have."""
    before, after = analyse(old), analyse(new)
    return [
        _compare_cell(course, name, before[course], after[course], metric)
        for course in before
        if course in after
        for name in before[course].cells
        if name in after[course].cells and not new.entrants[name].get("twin_of")
    ]


def overall(comparisons: list[Comparison]) -> Verdict:
    """The worst: wrong answers, slower, inconclusive (also when nothing is in common), same."""
    found = {comparison.verdict for comparison in comparisons}
    for verdict in (Verdict.WRONG_ANSWERS, Verdict.SLOWER, Verdict.INCONCLUSIVE):
        if verdict in found:
            return verdict
    return Verdict.SAME if found else Verdict.INCONCLUSIVE


def metric_named(name: str) -> Metric:
    return next(metric for metric in METRICS if metric.name == name)


def _compare_cell(course: str, name: str, before: CourseTable, after: CourseTable, metric: Metric) -> Comparison:
    old, new = before.cells[name], after.cells[name]
    hard = [flag.value for flag in new.flags if flag not in SOFT_FLAGS]
    if hard:
        return Comparison(course, name, Verdict.WRONG_ANSWERS, None, ", ".join(hard))
    change = unpaired_change(list(old.rounds(metric).values()), list(new.rounds(metric).values()), metric)
    voided = old.voided | new.voided
    if metric.name in voided:
        flags = sorted({flag.value for flag in (*old.flags, *new.flags)})
        return Comparison(course, name, Verdict.INCONCLUSIVE, change, ", ".join(flags))
    if change is None:
        return Comparison(course, name, Verdict.INCONCLUSIVE, None, "too few heats")
    floor = max(before.floor[metric.name], after.floor[metric.name])
    return Comparison(course, name, *_judge(change, floor))


def _judge(change: Estimate, floor: float) -> tuple[Verdict, Estimate, str]:
    """Slower: worse than the noise. Same: the interval stays within it. Else nobody can tell."""
    if change.is_resolved(floor):
        if change.center < 0:
            return Verdict.SLOWER, change, "slower than the noise explains"
        return Verdict.SAME, change, "faster"
    if change.low < -max(floor, RESOLUTION):
        return Verdict.INCONCLUSIVE, change, "the interval is too wide to exclude a loss"
    return Verdict.SAME, change, "within the noise"


def unpaired_change(old: list[float], new: list[float], metric: Metric) -> Estimate | None:
    """Log ratio new to old, above 0 for better: two races have no common rounds to pair."""
    if min(len(old), len(new)) < MINIMUM_HEATS:
        return None
    sign = 1.0 if metric.higher_is_better else -1.0
    return shift_estimate([sign * math.log(value) for value in old], [sign * math.log(value) for value in new])
