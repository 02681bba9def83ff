"""The charts, drawn as SVG: ratios, throughput, CPU per process, latency percentiles."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from races.analysis import RATE, Cell, CourseTable, Metric
from races.report.scale import Scale, linear, logarithmic
from races.show.show import floor_words, number

TIMES = "\N{MULTIPLICATION SIGN}"
WIDTH = 460
LEFT, RIGHT = 8, 452
LABEL_ROOM = 20
ROW = 46
TOP = 6
AXIS = 26
ROLES = ("server", "store", "generator")
PERCENTILES = ("p50", "p90", "p99", "max")


@dataclass(frozen=True, slots=True)
class View:
    """A course with what its charts share: titles and colours of the entrants."""

    table: CourseTable
    titles: Mapping[str, str]
    colours: Mapping[str, str]

    def rows(self) -> list[tuple[int, Cell]]:
        """Cells with the y of their row's top, best first."""
        return [(TOP + ROW * index, cell) for index, cell in enumerate(self.table.ordered())]

    @property
    def height(self) -> int:
        return TOP + ROW * len(self.table.cells) + AXIS


def figure(title: str, words: str, drawing: str) -> str:
    """A chart with its title above and its explanation below."""
    return f"<figure><h3>{escape(title)}</h3>{drawing}<figcaption>{escape(words)}</figcaption></figure>"


def ratio_chart(view: View, metric: Metric) -> str:
    """Dots with intervals around 1, the noise band behind them."""
    floor = view.table.floor[metric.name]
    estimates = [cell.ratio[metric.name] for cell in view.table.cells.values() if metric.name in cell.ratio]
    reach = [value for found in estimates for value in (found.ratio_low, found.ratio_high)]
    scale = logarithmic([1.0, math.exp(-floor), math.exp(floor), *reach], LEFT + 8, RIGHT - 8)
    left, right = scale.place(math.exp(-floor)), scale.place(math.exp(floor))
    bottom = view.height - AXIS
    parts = [
        (
            f'<rect class="band" x="{left:.1f}" y="0" width="{right - left:.1f}" height="{bottom}">'
            f"<title>noise floor: {floor_words(floor)}</title></rect>"
        ),
        _axis(view, scale, TIMES),
        f'<line class="one" x1="{scale.place(1):.1f}" x2="{scale.place(1):.1f}" y1="0" y2="{bottom}"/>',
    ]
    for top, cell in view.rows():
        found = cell.ratio.get(metric.name)
        colour = view.colours[cell.entrant]
        middle = top + 31
        if found is None:
            is_reference = cell.entrant == view.table.reference
            words = "1 (reference)" if is_reference else "no good answer"
            parts.append(_label(view, cell, top, words))
            if is_reference:
                parts.append(_dot(scale.place(1.0), middle, colour, "reference", 5))
            continue
        words = f"{found.ratio:.2f} {TIMES}"
        tip = (
            f"{found.ratio:.3f}, 95 % interval {found.ratio_low:.3f} to {found.ratio_high:.3f}, "
            f"{found.pairs} rounds, Wilcoxon p = {found.p_value or 0:.3f}"
        )
        low, high = scale.place(found.ratio_low), scale.place(found.ratio_high)
        parts += [
            _label(view, cell, top, words),
            (
                f'<g style="color:{colour}"><title>{escape(tip)}</title>'
                f'<line class="interval" x1="{low:.1f}" x2="{high:.1f}" y1="{middle}" y2="{middle}"/>'
                f'<line class="interval" x1="{low:.1f}" x2="{low:.1f}" y1="{middle - 5}" y2="{middle + 5}"/>'
                f'<line class="interval" x1="{high:.1f}" x2="{high:.1f}" y1="{middle - 5}" y2="{middle + 5}"/></g>'
            ),
            _dot(scale.place(found.ratio), middle, colour, tip, 5),
        ]
    return _svg(view, f"Ratios to the reference: {metric.title}", parts)


def rate_chart(view: View) -> str:
    """A bar to the median, every round a dot above it."""
    highest = max((heat["rate"] for cell in view.table.cells.values() for heat in cell.heats), default=1.0)
    scale = linear(highest, LEFT, RIGHT - 8)
    parts = [_axis(view, scale, "")]
    for top, cell in view.rows():
        colour = view.colours[cell.entrant]
        middle = cell.middle(RATE)
        parts += [
            _label(view, cell, top, f"{number(middle)} /s"),
            (
                f'<rect class="bar" style="color:{colour}" x="{LEFT}" y="{top + 23}" '
                f'width="{scale.place(middle) - LEFT:.1f}" height="16" rx="3"/>'
            ),
            (
                f'<line class="median" style="color:{colour}" x1="{scale.place(middle):.1f}" '
                f'x2="{scale.place(middle):.1f}" y1="{top + 21}" y2="{top + 41}"/>'
            ),
        ]
        for index, heat in enumerate(sorted(cell.heats, key=lambda heat: int(heat["round"]))):
            height = top + 27 + 8 * (index % 2)
            tip = f"round {heat['round']}: {heat['rate']:,.0f} /s"
            is_used = heat in cell.used
            shade = colour if is_used else "var(--disturbed)"
            parts.append(_dot(scale.place(heat["rate"]), height, shade, tip if is_used else f"{tip} (disturbed)", 3))
    return _svg(view, "Requests per second, every round", parts)


def cpu_chart(view: View) -> str:
    """Server, store and generator one behind another."""
    medians = {name: cell.median_of("cpu_per_request") for name, cell in view.table.cells.items()}
    highest = max((sum(costs.values()) for costs in medians.values()), default=1.0)
    scale = linear(highest, LEFT, RIGHT - 8)
    parts = [_axis(view, scale, " µs")]
    for top, cell in view.rows():
        costs = medians[cell.entrant]
        total = sum(costs.get(role, 0.0) for role in ROLES)
        parts.append(_label(view, cell, top, f"{number(total)} µs" if costs else "no good answer"))
        reached = 0.0
        for role in ROLES:
            cost = costs.get(role, 0.0)
            start, end = scale.place(reached), scale.place(reached + cost)
            parts.append(
                f'<rect class="{role}" x="{start:.1f}" y="{top + 23}" width="{end - start:.1f}" '
                f'height="16"><title>{role}: {number(cost)} µs a request</title></rect>'
            )
            reached += cost
    return _svg(view, "CPU microseconds per request by process", parts) + _legend(ROLES)


def latency_chart(view: View) -> str:
    """p50, p90, p99 and the maximum on one line, log axis, in milliseconds."""
    medians = {name: cell.median_of("latency") for name, cell in view.table.cells.items()}
    values = [found[name] / 1000 for found in medians.values() for name in PERCENTILES if name in found]
    scale = logarithmic(values, LEFT + 8, RIGHT - 8)
    parts = [_axis(view, scale, " ms")]
    for top, cell in view.rows():
        found = {name: medians[cell.entrant][name] / 1000 for name in PERCENTILES if name in medians[cell.entrant]}
        if not found:
            parts.append(_label(view, cell, top, "no latency"))
            continue
        colour, middle = view.colours[cell.entrant], top + 31
        words = f"{number(found['p50'])} / {number(found['p99'])} ms"
        left, right = scale.place(min(found.values())), scale.place(max(found.values()))
        parts += [
            _label(view, cell, top, words),
            (
                f'<line class="interval" style="color:{colour}" x1="{left:.1f}" x2="{right:.1f}" '
                f'y1="{middle}" y2="{middle}"/>'
            ),
        ]
        parts += [
            _mark(name, scale.place(value), middle, colour, f"{name}: {number(value)} ms")
            for name, value in found.items()
        ]
    return _svg(view, "Latency percentiles", parts) + (
        '<p class="legend">p50 / p99; in each row from left to right: p50 (large), p90, p99, max (stroke)</p>'
    )


def _mark(name: str, x: float, y: float, colour: str, tip: str) -> str:
    if name == "max":
        return (
            f'<line class="median" style="color:{colour}" x1="{x:.1f}" x2="{x:.1f}" '
            f'y1="{y - 7}" y2="{y + 7}"><title>{escape(tip)}</title></line>'
        )
    return _dot(x, y, colour, tip, {"p50": 6.0, "p90": 4.5, "p99": 3.5}[name])


def _dot(x: float, y: float, colour: str, tip: str, radius: float) -> str:
    return (
        f'<circle class="dot" style="color:{colour}" cx="{x:.1f}" cy="{y}" r="{radius}">'
        f"<title>{escape(tip)}</title></circle>"
    )


def _label(view: View, cell: Cell, top: int, value: str) -> str:
    """Name at the left, value at the right, above the row: long names never meet the marks."""
    flagged = " ⚑" if cell.flags else ""
    return (
        f'<text class="name" x="{LEFT}" y="{top + 16}">{escape(view.titles[cell.entrant])}{flagged}</text>'
        f'<text class="value" x="{RIGHT}" y="{top + 16}" text-anchor="end">{escape(value)}</text>'
    )


def _axis(view: View, scale: Scale, unit: str) -> str:
    bottom = view.height - AXIS
    parts: list[str] = []
    for tick in scale.ticks():
        x = scale.place(tick)
        anchor = "start" if x < LEFT + 12 else "end" if x > RIGHT - 24 else "middle"
        parts.append(
            f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{bottom}"/>'
            f'<text class="tick" x="{x:.1f}" y="{bottom + 17}" text-anchor="{anchor}">'
            f"{_tick(tick)}{unit}</text>"
        )
    return "".join(parts)


def _tick(value: float) -> str:
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"  # noqa: PLR2004


def _svg(view: View, title: str, parts: list[str]) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {view.height}" role="img" aria-label="{escape(title)}">{"".join(parts)}</svg>'


def _legend(roles: tuple[str, ...]) -> str:
    keys = "".join(f'<span class="key {role}"></span>{role} ' for role in roles)
    return f'<p class="legend">{keys}</p>'
