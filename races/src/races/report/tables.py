"""The table of a course: every figure with its interval, its place and its flags."""

from __future__ import annotations

from html import escape

from races.analysis import CPU, RATE, Cell, CourseTable
from races.flags import Flag
from races.report.colours import colour_of
from races.result import Result
from races.show.show import floor_words, number, ratio

STORE = "store µs"
HEADS = (
    ("place", "by requests per second; entrants that cannot be told apart share a place"),
    ("entrant", ""),
    ("requests/s", "median of the rounds"),
    ("ratio", "Hodges-Lehmann estimate and 95 % interval"),
    ("server µs", "CPU per verified request, median"),
    ("ratio", "Hodges-Lehmann estimate and 95 % interval"),
    ("place", "by server CPU per request"),
    (STORE, "CPU per verified request, median"),
    ("load µs", "CPU of the generator per verified request, median"),
    ("busy", "how busy the server's core was"),
    ("memory", "peak of the server's processes together"),
)


def course_table(result: Result, table: CourseTable) -> str:
    """Best first; the twin stands among the others, because it shows the noise."""
    has_store = any(cell.median_of("cpu_per_request").get("store") for cell in table.cells.values())
    heads = "".join(
        f'<th title="{escape(tip)}">{escape(word)}</th>' for word, tip in HEADS if has_store or word != STORE
    )
    rows = "".join(_row(result, table, cell, has_store=has_store) for cell in table.ordered())
    return (
        f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'
        f"{_flags(result, table)}"
    )


def _row(result: Result, table: CourseTable, cell: Cell, *, has_store: bool) -> str:
    about = result.entrants[cell.entrant]
    costs = cell.median_of("cpu_per_request")
    kind = "reference" if cell.entrant == table.reference else "twin" if about["twin_of"] else ""
    values = [
        number(cell.middle(RATE)),
        ratio(cell.ratio.get("rate")),
        number(cell.middle(CPU)),
        ratio(cell.ratio.get("cpu")),
        _place(cell, "cpu"),
        *([number(costs.get("store", 0.0))] if has_store else []),
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
    return "-" if place is None else f"{place}."


def _flags(result: Result, table: CourseTable) -> str:
    """Why something is not ranked, in words; one line for each flag."""
    by_flag: dict[Flag, list[Cell]] = {}
    for cell in table.ordered():
        for flag in cell.flags:
            by_flag.setdefault(flag, []).append(cell)
    lines = [_flag_line(result, flag, cells) for flag, cells in by_flag.items()]
    floor = (
        f"Noise floor (the reference against itself): requests per second {floor_words(table.floor['rate'])}, "
        f"CPU per request {floor_words(table.floor['cpu'])}. Differences inside it are not resolved."
    )
    flags = f'<ul class="flags">{"".join(lines)}</ul>' if lines else ""
    return f'<p class="faint">{escape(floor)}</p>{flags}'


def _flag_line(result: Result, flag: Flag, cells: list[Cell]) -> str:
    names = ", ".join(result.entrants[cell.entrant]["title"] for cell in cells)
    return f"<li><b>{flag.value}</b> {escape(names)}: {escape(cells[0].flags[flag])}</li>"
