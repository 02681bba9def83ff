"""Medians, quartiles and paired ratios."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles


@dataclass(frozen=True)
class Spread:
    """A median with its quartiles."""

    median: float
    low: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    if len(values) < 2:
        return Spread(values[0], values[0], values[0])
    low, _, high = quantiles(values, n=4, method="inclusive")
    return Spread(median(values), low, high)


def paired_ratio(ours: Sequence[float], theirs: Sequence[float]) -> Spread:
    """Ratio round by round: what slows the whole machine in one round leaves its ratio alone."""
    return spread([mine / other for mine, other in zip(ours, theirs, strict=True)])
