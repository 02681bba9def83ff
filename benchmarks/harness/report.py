"""Results for people and for programs: a plain table, JSON, and the Markdown table of docs/benchmarks.md."""

import dataclasses
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.paths import DOCUMENT, RESULTS
from harness.results import Claim, Experiment, Judged, Run
from harness.statistics import Spread, paired_ratio

BEGIN, END = "<!-- begin: written by benchmarks/run.py --document -->", "<!-- end -->"

_HEAD = ("row", "what", "measured", "reference", "ratio", "instr ratio", "target", "met")
_DETAIL = ("contender", "CPU us", "x floor", "instructions", "per second", "p50 us", "core", "notes")


def catalogue(claims: Iterable[Claim]) -> list[str]:
    return [
        f"{claim.row:3} {claim.what}: {claim.ours} {_target(claim)}"
        for claim in sorted(claims, key=lambda claim: claim.row)
    ]


def plain(run: Run) -> list[str]:
    lines = [f"{name}: {value}" for name, value in run.machine.items()]
    for experiment in run.measured():
        lines += [
            "",
            f"{experiment.name} (per {experiment.unit})",
            *_aligned(_DETAIL, _details(experiment)),
            *experiment.notes,
        ]
    lines += ["", "targets", *_aligned(_HEAD, [_row(judged) for judged in run.judged()]), ""]
    lines += [f"skipped {name}: {reason}" for name, reason in run.skipped.items()]
    lines += [f"broken {name}" for name in run.breakages()]
    return lines


def write_json(run: Run, stamp: str) -> Path:
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{stamp}.json"
    path.write_text(json.dumps(as_dictionary(run), indent=1) + "\n")
    return path


def as_dictionary(run: Run) -> dict[str, object]:
    return {
        "machine": run.machine,
        "targets": [dataclasses.asdict(judged) for judged in run.judged()],
        "experiments": [dataclasses.asdict(experiment) for experiment in run.experiments.values()],
        "skipped": run.skipped,
        "broken": run.breakages(),
    }


def write_document(run: Run) -> Path:
    """Replace what stands between the two marks of the page; the words around it are a person's."""
    text = DOCUMENT.read_text()
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    DOCUMENT.write_text(before + BEGIN + "\n\n" + "\n".join(markdown(run)) + "\n\n" + END + after)
    return DOCUMENT


def markdown(run: Run) -> list[str]:
    lines = ["Machine:", ""]
    lines += [f"* {name}: {value}" for name, value in run.machine.items()]
    lines += ["", *_markdown_table(_HEAD, [_row(judged) for judged in run.judged()])]
    for experiment in run.measured():
        lines += ["", f"### {experiment.name[0].upper()}{experiment.name[1:]}", "", f"Per {experiment.unit}.", ""]
        lines += _markdown_table(_DETAIL, _details(experiment))
        lines += [f"\n{note}" for note in experiment.notes]
    if run.skipped:
        lines += ["", "### Skipped in this run", "", *(f"* {name}: {reason}" for name, reason in run.skipped.items())]
    if broken := run.breakages():
        lines += ["", "### Broken in this run", "", *(f"* {line}" for line in broken)]
    return lines


def _row(judged: Judged) -> tuple[str, ...]:
    claim = judged.claim
    measured = _figure(judged.measured, claim) if judged.measured else "-"
    reference = f"{_figure(judged.reference, claim)} {claim.theirs}" if judged.reference else claim.theirs or "-"
    ratio = _with_quartiles(judged.ratio) if judged.ratio and claim.theirs else "-"
    met = f"{judged.verdict} ({judged.reason})" if judged.reason else judged.verdict
    counted = f"{judged.instructions.median:.3f}" if judged.instructions else "-"
    return (claim.row, claim.what, measured, reference, ratio, counted, _target(claim), met)


def _target(claim: Claim) -> str:
    sign = ">=" if claim.at_least else "<="
    return (
        f"{sign} {claim.limit:g} x {claim.theirs}" if claim.theirs else f"{sign} {claim.limit:g} {claim.unit}".rstrip()
    )


def _figure(spread: Spread, claim: Claim) -> str:
    unit = {"cpu": "us", "p50": "us", "rate": "/s", "instructions": "instr"}.get(claim.metric, claim.unit)
    return f"{_number(spread.median)} {unit}".rstrip()


def _details(experiment: Experiment) -> list[tuple[str, ...]]:
    """Cheapest first."""
    return [
        _detail(experiment, contender)
        for contender in sorted(experiment.samples, key=lambda name: _cost(experiment, name))
    ]


def _detail(experiment: Experiment, contender: str) -> tuple[str, ...]:
    cpu, rate = experiment.summary(contender, "cpu"), experiment.summary(contender, "rate")
    instructions, p50 = experiment.summary(contender, "instructions"), experiment.summary(contender, "p50")
    busy = experiment.summary(contender, "subject_share")
    floor, ours = experiment.figures("floor", "cpu"), experiment.figures(contender, "cpu")
    return (
        contender,
        _with_quartiles(cpu) if cpu and cpu.median else "-",
        f"{paired_ratio(ours, floor).median:.2f}" if floor else "-",
        f"{instructions.median:,.0f}" if instructions else "-",
        f"{rate.median:,.0f}" if rate and rate.median else "-",
        f"{p50.median:,.0f}" if p50 else "-",
        f"{busy.median:.0%}" if busy else "-",
        ", ".join(_marks(experiment, contender)),
    )


def _marks(experiment: Experiment, contender: str) -> list[str]:
    samples = experiment.samples[contender]
    marks = []
    if sum(sample.generator_limited for sample in samples) * 2 > len(samples):
        marks.append("generator is the limit")
    if sum(sample.starved for sample in samples) * 2 > len(samples):
        marks.append("machine busy with other work")
    if errors := sum(sample.errors for sample in samples):
        marks.append(f"{errors} ERRORS")
    if value := experiment.summary(contender, "value"):
        marks.append(f"{_with_quartiles(value)} {experiment.value_unit}".rstrip())
    return marks


def _cost(experiment: Experiment, contender: str) -> float:
    cpu = experiment.summary(contender, "cpu")
    return cpu.median if cpu else 0.0


def _with_quartiles(spread: Spread) -> str:
    return f"{_number(spread.median)} ({_number(spread.low)}-{_number(spread.high)})"


def _number(value: float) -> str:
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 100 else f"{value:.2f}" if value >= 1 else f"{value:.3f}"


def _aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    table = [head, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(head))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [_markdown_line(head), _markdown_line(["---"] * len(head)), *map(_markdown_line, rows)]


def _markdown_line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
