"""Axes: where a value stands in a chart, and which values get a tick."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

LINEAR_TICKS = 4
FEWEST_LOG_TICKS, MOST_LOG_TICKS = 3, 7
TICK_FACTORS: tuple[tuple[float, ...], ...] = (
    (1,),
    (1, 2, 5),
    (1, 1.5, 2, 3, 5, 7),
    tuple(index / 10 for index in range(10, 100)),
    tuple(index / 100 for index in range(100, 1000, 2)),
)


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps `low`..`high` to `left`..`right`, linearly or by logarithm."""

    low: float
    high: float
    left: float
    right: float
    logarithmic: bool = False

    def place(self, value: float) -> float:
        """The x of a value, kept inside the chart."""
        if self.logarithmic:
            share = math.log(max(value, 1e-12) / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.left + (self.right - self.left) * min(1.0, max(0.0, share))

    def ticks(self) -> list[float]:
        return _log_ticks(self.low, self.high) if self.logarithmic else _linear_ticks(self.high)


def linear(highest: float, left: float, right: float) -> Scale:
    """From zero: a bar's length must mean its value."""
    return Scale(0.0, (highest or 1.0) * 1.02, left, right)


def logarithmic(values: Iterable[float], left: float, right: float) -> Scale:
    """Around the values with a little air, at least a factor of 1.3 wide."""
    positive = [value for value in values if value > 0] or [1.0]
    low, high = min(positive) / 1.12, max(positive) * 1.12
    if high / low < 1.3:  # noqa: PLR2004
        middle = math.sqrt(low * high)
        low, high = middle / math.sqrt(1.3), middle * math.sqrt(1.3)
    return Scale(low, high, left, right, logarithmic=True)


def _linear_ticks(high: float) -> list[float]:
    rough = high / LINEAR_TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough)
    return [step * index for index in range(math.floor(high / step) + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    """The coarsest set of round values that gives at least three ticks, one of them 1 if inside."""
    found: list[float] = []
    for factors in TICK_FACTORS:
        found = _decade_ticks(low, high, factors)
        if len(found) >= FEWEST_LOG_TICKS:
            break
    thinned = found[:: math.ceil(len(found) / MOST_LOG_TICKS)]
    return sorted({*thinned, 1.0}) if 1.0 in found else thinned


def _decade_ticks(low: float, high: float, factors: tuple[float, ...]) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    # Rounding keeps 3 * 0.1 from becoming 0.30000000000000004 on the axis.
    every = (float(f"{factor * 10.0**decade:.6g}") for decade in decades for factor in factors)
    return [value for value in every if low <= value <= high]
