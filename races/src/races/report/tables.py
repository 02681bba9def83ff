"""The table of a course: every figure with its interval, its place and its flags."""

from __future__ import annotations

from html import escape

from races.analysis import CPU, RATE, Cell, CourseTable
from races.report.colours import colour_of
from races.result import Result
from races.show.show import number, ratio

HEADS = (
    ("place", "by requests per second; entrants that cannot be told apart share a place"),
    ("entrant", ""),
    ("requests/s", "median of the rounds"),
    ("× reference", "Hodges-Lehmann estimate and 95 % interval"),
    ("server µs", "CPU per verified request, median"),
    ("× reference", "Hodges-Lehmann estimate and 95 % interval"),
    ("place", "by server CPU per request"),
    ("store µs", "CPU per verified request, median"),
    ("load µs", "CPU of the generator per verified request, median"),
    ("server core", "how busy the server's core was"),
    ("peak memory", "server processes together"),
)


def course_table(result: Result, table: CourseTable) -> str:
    """Best first; the twin stands among the others, because it shows the noise."""
    heads = "".join(f'<th title="{escape(tip)}">{escape(word)}</th>' for word, tip in HEADS)
    rows = "".join(_row(result, table, cell) for cell in table.ordered())
    return (
        f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'
        f"{_flags(result, table)}"
    )


def _row(result: Result, table: CourseTable, cell: Cell) -> str:
    about = result.entrants[cell.entrant]
    costs = cell.median_of("cpu_per_request")
    kind = "reference" if cell.entrant == table.reference else "twin" if about["twin_of"] else ""
    values = [
        number(cell.middle(RATE)),
        ratio(cell.ratio.get("rate")),
        number(cell.middle(CPU)),
        ratio(cell.ratio.get("cpu")),
        _place(cell, "cpu"),
        number(costs.get("store", 0.0)),
        number(costs.get("generator", 0.0)),
        f"{cell.median_of('busy').get('server', 0.0):.0%}",
        f"{cell.median_of('memory').get('server', 0.0) / 1048576:.0f} MiB",
    ]
    cells = "".join(f"<td>{escape(value)}</td>" for value in values)
    mark = f'<span class="key" style="background:{colour_of(result, cell.entrant)}"></span>'
    return (
        f'<tr class="{kind}"><td>{_place(cell, "rate")}</td>'
        f'<th scope="row">{mark}{escape(about["title"])}</th>{cells}</tr>'
    )


def _place(cell: Cell, metric: str) -> str:
    place = cell.rank.get(metric)
    return "–" if place is None else f"{place}."


def _flags(result: Result, table: CourseTable) -> str:
    """Why something is not ranked, in words."""
    lines = [
        f"<li><b>{flag.value}</b> {escape(result.entrants[cell.entrant]['title'])}: {escape(why)}</li>"
        for cell in table.ordered()
        for flag, why in cell.flags.items()
    ]
    floor = (
        f"Noise floor (the reference against itself): requests per second ±{table.floor['rate']:.1%}, "
        f"CPU per request ±{table.floor['cpu']:.1%}. Differences inside it are not resolved."
    )
    flags = f'<ul class="flags">{"".join(lines)}</ul>' if lines else ""
    return f'<p class="faint">{escape(floor)}</p>{flags}'
