"""Puts the report together: one file that opens anywhere, without a network."""

from __future__ import annotations

from html import escape
from pathlib import Path

from races.analysis import CPU, RATE, Cell, CourseTable, analyse
from races.report import charts, details, tables
from races.report.colours import colour_of
from races.result import Result
from races.show.show import headline, is_void, rivals, times

HERE = Path(__file__).parent


def write_report(result: Result, folder: Path) -> Path:
    """Draw `report.html` beside the result; a race stopped early gives a report too."""
    file = folder / "report.html"
    file.write_text(render(result, folder))
    return file


def render(result: Result, folder: Path | None = None) -> str:
    """The whole page; `folder` is where the raw outputs are."""
    verdicts = analyse(result)
    sections = [_course(result, course, table) for course, table in verdicts.items()]
    links = "".join(f'<a href="#{escape(course)}">{escape(result.courses[course]["title"])}</a>' for course in verdicts)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Race of {escape(_day(result))}</title>
<style>
{(HERE / "style.css").read_text()}</style>
</head>
<body>
<header>
<p class="eyebrow">race of {escape(_day(result))}</p>
<h1>{escape(_title(result, verdicts))}</h1>
<p class="lead">{escape(_lead(result, verdicts))}</p>
{_banner(result)}
<nav>{links}<a href="#entrants">Entrants</a><a href="#method">Method</a><a href="#heats">Every heat</a></nav>
</header>
<main>
{"".join(sections) or "<p>No heat was finished.</p>"}
{details.left_out(result)}
{details.entrants(result)}
{details.method(result, verdicts)}
{details.heats(result, folder)}
</main>
</body>
</html>
"""


def _day(result: Result) -> str:
    return str(result.head.get("started", "")).replace("T", " ")[:16]


def _title(result: Result, verdicts: dict[str, CourseTable]) -> str:
    """The one thing to remember: the reference on the first course against its nearest rival."""
    for course, table in verdicts.items():
        for cell in rivals(result, table):
            if verdict := _verdict(table, cell):
                reference = result.entrants[table.reference]["title"]
                other = result.entrants[cell.entrant]["title"]
                page = result.courses[course]["title"]
                return f'{reference} {verdict} {other} on the page "{page}"'
    return "A race that resolved nothing"


def _verdict(table: CourseTable, cell: Cell) -> str | None:
    """By throughput if that is sound, else by CPU, which is steadier."""
    for metric in (RATE, CPU):
        estimate = cell.ratio.get(metric.name)
        if estimate is None or is_void(table, cell, metric):
            continue
        if estimate.is_resolved(table.floor[metric.name]):
            factor = 1 / estimate.ratio
            return _rate_verdict(factor) if metric is RATE else _cpu_verdict(factor)
    return None


def _rate_verdict(factor: float) -> str:
    return f"answers {times(factor)} times the requests of"


def _cpu_verdict(factor: float) -> str:
    if factor < 1:
        return f"needs {1 - factor:.0%} less server CPU than"
    return f"needs {times(factor)} times the server CPU of"


def _lead(result: Result, verdicts: dict[str, CourseTable]) -> str:
    heats = len(result.heats)
    requests = sum(int(heat["good"]) for heat in result.heats)
    racers = sum(1 for entrant in result.entrants.values() if not entrant["twin_of"])
    return (
        f"{racers} entrants, {len(verdicts)} courses, {heats} heats in shuffled rounds; "
        f"{requests:,} answers, every one checked. {result.head['placement'].capitalize()}."
    )


def _banner(result: Result) -> str:
    if result.head["complete"]:
        return ""
    return '<p class="banner">This race was stopped early: what follows is what was finished.</p>'


def _course(result: Result, course: str, table: CourseTable) -> str:
    about = result.courses[course]
    sentences = "".join(f"<li>{escape(line)}</li>" for line in headline(result, table))
    titles = {name: result.entrants[name]["title"] for name in table.cells}
    colours = {name: colour_of(result, name) for name in table.cells}
    view = charts.View(table, titles, colours)
    figures = [
        charts.figure(
            "Requests per second, ratio to the reference",
            "Dot: Hodges-Lehmann estimate over the rounds; bar: 95 % interval; band: what the "
            "same program differs from itself (noise floor).",
            charts.ratio_chart(view, RATE),
        ),
        charts.figure(
            "Server CPU per request, ratio to the reference",
            "As above; further left is less work for the same page.",
            charts.ratio_chart(view, CPU),
        ),
        charts.figure(
            "Requests per second", "Every round is a dot, grey where it was disturbed and is not used; stroke: median.",
            charts.rate_chart(view),
        ),
        charts.figure(
            "CPU microseconds per verified request",
            "All processes of each role, user and system time, medians.",
            charts.cpu_chart(view),
        ),
        charts.figure(
            "Latency", "Median over the rounds of each percentile; log axis.",
            charts.latency_chart(view),
        ),
    ]  # fmt: skip
    return f"""<section id="{escape(course)}">
<h2>{escape(about["title"])}</h2>
<p class="summary">{escape(about["summary"])} <span class="faint">{escape(_shape(about))}</span></p>
<ul class="sentences">{sentences}</ul>
{tables.course_table(result, table)}
<div class="charts">{"".join(figures)}</div>
</section>
"""


def _shape(about: dict[str, object]) -> str:
    depth = "" if about["depth"] == 1 else f", {about['depth']} requests in flight on each"
    return (
        f"{about['method']} {about['path']}, {about['connections']} connections{depth}, "
        f"heats of {about['seconds']} s after {about['warmup']} s of warm-up"
    )
