"""Paired statistics for rounds: Hodges-Lehmann, bootstrap, Wilcoxon, noise floor, tie groups."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

BOOTSTRAP_SAMPLES = 2000
CONFIDENCE = 0.95
MINIMUM_PAIRS = 3
"""With fewer, the bootstrap interval is as narrow as it is worthless."""
EXACT_WILCOXON_LIMIT = 50


@dataclass(frozen=True, slots=True)
class Estimate:
    """A log ratio with its interval, the number of pairs and, for pairs, Wilcoxon's p-value."""

    center: float
    low: float
    high: float
    pairs: int
    p_value: float | None

    @property
    def ratio(self) -> float:
        return math.exp(self.center)

    @property
    def ratio_low(self) -> float:
        return math.exp(self.low)

    @property
    def ratio_high(self) -> float:
        return math.exp(self.high)

    def is_resolved(self, floor: float) -> bool:
        """Whether the difference is real: its interval excludes "equal" and it beats the noise."""
        excludes_equal = self.low > 0 or self.high < 0
        return self.pairs >= MINIMUM_PAIRS and excludes_equal and abs(self.center) > floor


def hodges_lehmann(values: Sequence[float]) -> float:
    """The median of all pairwise means (Walsh averages), each value also paired with itself."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    averages = [(first + second) / 2 for index, first in enumerate(ordered) for second in ordered[index:]]
    return median(averages)


def bootstrap_interval(
    values: Sequence[float],
    statistic: Callable[[Sequence[float]], float] = hodges_lehmann,
    *,
    samples: int = BOOTSTRAP_SAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = 1,
) -> tuple[float, float]:
    """Percentile bootstrap. Seeded, so that the same heats always give the same interval."""
    if not values:
        raise ValueError("no values")
    chooser = random.Random(seed)
    drawn = sorted(statistic(chooser.choices(values, k=len(values))) for _ in range(samples))
    tail = (1 - confidence) / 2
    return quantile(drawn, tail), quantile(drawn, 1 - tail)


def quantile(ordered: Sequence[float], fraction: float) -> float:
    """Linear interpolation between the two nearest of already ordered values."""
    position = fraction * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def wilcoxon(differences: Sequence[float]) -> float:
    """Two-sided p of the signed-rank test, zeros dropped: exact to 50 pairs, then normal."""
    nonzero = [value for value in differences if value != 0]
    if not nonzero:
        return 1.0
    ranks = average_ranks([abs(value) for value in nonzero])
    positive = sum(rank for rank, value in zip(ranks, nonzero, strict=True) if value > 0)
    if len(nonzero) <= EXACT_WILCOXON_LIMIT:
        return _exact_p(ranks, positive)
    return _normal_p(ranks, positive)


def average_ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1; equal values share the mean of their places."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for place in order[start : end + 1]:
            ranks[place] = (start + end) / 2 + 1
        start = end + 1
    return ranks


def _exact_p(ranks: Sequence[float], positive: float) -> float:
    # Doubled ranks are whole numbers even with ties, so the sums can be counted in a table.
    doubled = [round(2 * rank) for rank in ranks]
    ways = [1] + [0] * sum(doubled)
    for rank in doubled:
        for total in range(len(ways) - 1, rank - 1, -1):
            ways[total] += ways[total - rank]
    smaller = min(round(2 * positive), sum(doubled) - round(2 * positive))
    tail: int = sum(ways[: smaller + 1])
    return min(1.0, 2 * tail / float(2 ** len(ranks)))


def _normal_p(ranks: Sequence[float], positive: float) -> float:
    mean = sum(ranks) / 2
    deviation = math.sqrt(sum(rank * rank for rank in ranks) / 4)
    return math.erfc(abs(positive - mean) / deviation / math.sqrt(2))


def paired_estimate(mine: Mapping[int, float], theirs: Mapping[int, float]) -> Estimate | None:
    """Log ratio of `mine` to `theirs` over the rounds (keys) both have; None without a pair."""
    rounds = sorted(mine.keys() & theirs.keys())
    logs = [math.log(mine[number] / theirs[number]) for number in rounds if mine[number] > 0 and theirs[number] > 0]
    if not logs:
        return None
    low, high = bootstrap_interval(logs)
    return Estimate(hodges_lehmann(logs), low, high, len(logs), wilcoxon(logs))


def shift_estimate(old: Sequence[float], new: Sequence[float], *, seed: int = 1) -> Estimate:
    """How far `new` lies above `old` (two-sample Hodges-Lehmann), both resampled."""
    chooser = random.Random(seed)
    drawn = sorted(
        _shift(chooser.choices(old, k=len(old)), chooser.choices(new, k=len(new))) for _ in range(BOOTSTRAP_SAMPLES)
    )
    tail = (1 - CONFIDENCE) / 2
    low, high = quantile(drawn, tail), quantile(drawn, 1 - tail)
    return Estimate(_shift(old, new), low, high, min(len(old), len(new)), None)


def _shift(old: Sequence[float], new: Sequence[float]) -> float:
    return median(after - before for before in old for after in new)


def noise_floor(twin: Estimate | None) -> float:
    """How far apart the same program looks from itself: the far end of the twin's interval."""
    if twin is None:
        return 0.0
    return max(abs(twin.low), abs(twin.high))


def tie_groups(cells: Mapping[str, Mapping[int, float]], floor: float, *, higher_is_better: bool) -> list[list[str]]:
    """Entrants from best to worst; those not resolved from a group's best stand in its group."""
    medians = {name: median(rounds.values()) for name, rounds in cells.items() if rounds}
    ordered = sorted(medians, key=medians.__getitem__, reverse=higher_is_better)
    groups: list[list[str]] = []
    for name in ordered:
        estimate = paired_estimate(cells[name], cells[groups[-1][0]]) if groups else None
        if groups and (estimate is None or not estimate.is_resolved(floor)):
            groups[-1].append(name)
        else:
            groups.append([name])
    return groups
