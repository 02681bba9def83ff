"""Axes: where a value stands in a chart, and which values get a tick."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

LINEAR_TICKS = 4
MOST_LOG_TICKS = 6


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
    """1-2-5 steps over decades; whole decades when that is too many; tenths when too few."""
    for factors in ((1, 2, 5), (1,)):
        found = _decade_ticks(low, high, factors)
        if len(found) <= MOST_LOG_TICKS:
            break
    if len(found) < 3:  # noqa: PLR2004
        tenths = [round(index * 0.1, 1) for index in range(1, 100)]
        found = [value for value in tenths if low <= value <= high] or found
        found = found[:: max(1, math.ceil(len(found) / MOST_LOG_TICKS))]
        found = sorted({*found, 1.0}) if low <= 1.0 <= high else found
    return found


def _decade_ticks(low: float, high: float, factors: tuple[int, ...]) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    every = (factor * 10.0**decade for decade in decades for factor in factors)
    return [value for value in every if low <= value <= high]
