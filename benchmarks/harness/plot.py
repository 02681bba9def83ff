"""Draws lines over time as an SVG picture: a panel for each quantity, nothing but text and polylines."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, PANEL, LEFT, TOP = 860, 120, 90, 24


@dataclass(frozen=True)
class Series:
    """One quantity: its name with the unit, and (seconds, value) pairs."""

    name: str
    points: Sequence[tuple[float, float]]


def svg(title: str, many: Sequence[Series]) -> str:
    """The whole picture."""
    height = TOP + len(many) * PANEL + 30
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
            'font-size="11" fill="#222">'
        ),
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="{LEFT}" y="16" font-size="13" font-weight="bold">{escape(title)}</text>',
    ]
    longest = max(point[0] for series in many for point in series.points) or 1.0
    for number, series in enumerate(many):
        lines += _panel(series, TOP + number * PANEL, longest)
    lines.append(f'<text x="{WIDTH - 20}" y="{height - 8}" text-anchor="end">{longest / 60:.1f} minutes</text>')
    return "\n".join([*lines, "</svg>", ""])


def _panel(series: Series, top: float, longest: float) -> list[str]:
    most = max(value for _, value in series.points) * 1.1 or 1.0
    bottom = top + PANEL - 22
    scale = (WIDTH - LEFT - 20) / longest
    places = (
        f"{LEFT + seconds * scale:.1f},{bottom - value / most * (PANEL - 36):.1f}" for seconds, value in series.points
    )
    return [
        f'<text x="{LEFT}" y="{top + 10}">{escape(series.name)}</text>',
        f'<line x1="{LEFT}" y1="{bottom}" x2="{WIDTH - 20}" y2="{bottom}" stroke="#bbb"/>',
        f'<text x="{LEFT - 6}" y="{bottom}" text-anchor="end">0</text>',
        f'<text x="{LEFT - 6}" y="{bottom - PANEL + 46}" text-anchor="end">{most:,.0f}</text>',
        f'<polyline fill="none" stroke="#1f6f8b" stroke-width="1.3" points="{" ".join(places)}"/>',
    ]
