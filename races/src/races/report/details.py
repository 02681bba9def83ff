"""What stands behind the figures: left out, entrants, method, machine, every heat."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from races.analysis import CourseTable
from races.flags import CEILING_LIMIT, FOREIGN_CPU_LIMIT, GENERATOR_BUSY_LIMIT, STEAL_LIMIT
from races.result import Result
from races.show.show import number

RAW_LIMIT = 6000


def left_out(result: Result) -> str:
    """What did not race, and why."""
    if not result.left_out:
        return ""
    lines = "".join(f"<li><b>{escape(note['what'])}</b>: {escape(note['why'])}</li>" for note in result.left_out)
    return f'<section id="left-out"><h2>Left out</h2><ul>{lines}</ul></section>'


def entrants(result: Result) -> str:
    """What each entrant is made of, and how it was started."""
    blocks = "".join(_entrant(about) for about in result.entrants.values() if not about["twin_of"])
    return f'<section id="entrants"><h2>Entrants</h2>{blocks}</section>'


def _entrant(about: Mapping[str, Any]) -> str:
    facts = {
        "engine": about["engine"],
        "event loop": about["loop"],
        "store": f"{about['store']} {about['store version']}".strip(),
        "driver": about["driver"],
        "requests to the store": about["requests"],
        "workers": about["workers"],
        "Python": about["python"],
        "versions": ", ".join(f"{name} {version}" for name, version in about["versions"].items()),
        "deviations": "; ".join(about["deviations"]) or "none declared",
        "command": " ".join(about["command"]),
    }
    packages = ", ".join(f"{name} {version}" for name, version in about["environment"].items())
    return (
        f"<details><summary>{escape(about['title'])}</summary>{_facts(facts)}"
        f'<p class="faint">everything in its environment: {escape(packages)}</p></details>'
    )


def _facts(facts: Mapping[str, Any]) -> str:
    rows = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(str(value))}</dd>"
        for name, value in facts.items()
        if value not in ("", None)
    )
    return f"<dl>{rows}</dl>"


def method(result: Result, tables: Mapping[str, CourseTable]) -> str:
    """How the numbers came to be, so that they can be doubted properly."""
    generator = result.head["generator"]
    ceilings = ", ".join(
        f"{result.courses[course]['title']} {number(rate)}/s" for course, rate in result.head["ceilings"].items()
    )
    paragraphs = [
        (
            f"Load by {generator['name']} {generator['version']}; it checks {generator['checks']}. "
            f"{result.head['placement'].capitalize()}."
        ),
        (
            "Before the first heat every entrant answers the contract of the course over a real "
            "socket: status, content type, texts, an absent page, order of pipelined answers. "
            "During each heat every answer is checked. Afterwards, where the store can tell, its "
            "operation counters must equal what the good answers owe."
        ),
        (
            f"Rounds are randomised complete blocks (seed {result.head['seed']}): every entrant runs "
            "once a round in an order drawn anew, in a fresh server process on a fresh store, "
            "after a warm-up that does not count."
        ),
        (
            "The reference runs twice under two names. How far it lies from itself is the noise "
            "floor; entrants closer than that share a place. Ratios are paired within rounds: the "
            "Hodges-Lehmann estimate of the log ratio with a bootstrap 95 % interval."
        ),
        (
            "CPU per request is user plus system time of the whole process group, read from /proc, "
            "divided by the verified requests. It is the steadier figure on a shared machine."
        ),
        (
            f"Flags: GEN_SATURATED when the generator used over {GENERATOR_BUSY_LIMIT:.0%} of its "
            f"core, or the result is over {CEILING_LIMIT:.0%} of what a server that does nothing "
            f"reaches; HOST_NOISY when other programs used over {FOREIGN_CPU_LIMIT:.0%} of the "
            f"machine or its host took over {STEAL_LIMIT:.0%}; either voids the "
            "places by requests per second when over a third of a cell's heats carry it. Rounds with a "
            "HOST_NOISY heat are not used at all if at least three quiet rounds remain. ERRORS, WRONG_ANSWERS and "
            "WORK_MISMATCH void everything."
        ),
        f"Ceiling of a server that does nothing: {ceilings}." if ceilings else "",
        f"Courses with heats: {len(tables)}. Command: {' '.join(result.head['command'])}",
    ]
    words = "".join(f"<p>{escape(text)}</p>" for text in paragraphs if text)
    machine = _facts(result.head["machine"])
    return f'<section id="method"><h2>Method and machine</h2>{words}{machine}</section>'


def heats(result: Result, folder: Path | None) -> str:
    """Every heat with its command lines and the generator's own words."""
    blocks = "".join(_heat(heat, folder) for heat in result.heats)
    return f'<section id="heats"><h2>Every heat</h2>{blocks}</section>'


def _heat(heat: Mapping[str, Any], folder: Path | None) -> str:
    flags = " ".join(found["flag"] for found in heat["findings"])
    costs = heat["cpu_per_request"]
    facts = {
        "answers": f"{heat['good']:,} good, {heat['wrong']:,} wrong, {heat['errors']:,} errors",
        "CPU per request": ", ".join(f"{role} {number(cost)} µs" for role, cost in costs.items()),
        "share of a core": ", ".join(f"{role} {part:.0%}" for role, part in heat["busy"].items()),
        "latency": ", ".join(f"{name} {number(us)} µs" for name, us in heat["latency"].items()),
        "store operations": _work(heat["work"]),
        "flags": "; ".join(f"{found['flag']}: {found['why']}" for found in heat["findings"]),
        "server": " ".join(heat["server_command"]),
        "load": " ".join(heat["load_command"]),
    }
    summary = f"round {heat['round']}, {heat['course']}, {heat['entrant']}: {number(heat['rate'])}/s {flags}"
    return (
        f"<details><summary>{escape(summary)}</summary>{_facts(facts)}<pre>{escape(_raw(heat, folder))}</pre></details>"
    )


def _work(work: Mapping[str, Any]) -> str:
    if not work:
        return ""
    return ", ".join(
        f"{name}: {work['counted'][name]:,} counted, {owed:,.0f} owed" for name, owed in work["owed"].items()
    )


def _raw(heat: Mapping[str, Any], folder: Path | None) -> str:
    file = folder / heat["raw"] if folder is not None else None
    if file is None or not file.exists():
        return "(raw output not kept)"
    text: str = file.read_text(errors="replace")
    return text[:RAW_LIMIT]
