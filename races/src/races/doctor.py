"""What this machine has and lacks for racing, and how to get what is missing."""

from __future__ import annotations

import os
from dataclasses import dataclass

from races.entrant import load_entrants
from races.environment import find_python, find_uv
from races.errors import CannotRunHere
from races.loads import GENERATORS
from races.paths import Paths
from races.placement import place
from races.stores import KINDS


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked for; a race is possible without what is optional."""

    what: str
    words: str
    ok: bool
    optional: bool = False


def examine(paths: Paths) -> list[Finding]:
    """Look for everything a race may need."""
    findings = [_cores()]
    generators = [_generator(name, paths) for name in GENERATORS]
    findings += generators
    if not any(found.ok for found in generators):
        findings.append(Finding("load generator", "none of them is here", ok=False))
    findings += [_store(name, paths) for name in KINDS if name != "none"]
    findings.append(_uv(paths))
    findings += _pythons(paths)
    return findings


def _cores() -> Finding:
    count = len(os.sched_getaffinity(0))
    words = f"{count} usable: {place().sentence}"
    if count == 1:
        return Finding("cores", f"{words}; server and load share it, so ratios blur", ok=False, optional=True)
    return Finding("cores", words, ok=True)


def _generator(name: str, paths: Paths) -> Finding:
    try:
        found = GENERATORS[name].find(paths.project)
    except CannotRunHere as reason:
        return Finding(f"generator {name}", str(reason), ok=False, optional=True)
    return Finding(f"generator {name}", found.version, ok=True)


def _store(name: str, paths: Paths) -> Finding:
    try:
        return Finding(f"store {name}", KINDS[name].check(paths.project) or "built in", ok=True)
    except CannotRunHere as reason:
        return Finding(f"store {name}", str(reason), ok=False, optional=True)


def _uv(paths: Paths) -> Finding:
    try:
        return Finding("uv", " ".join(find_uv(paths.project)), ok=True)
    except CannotRunHere as reason:
        return Finding("uv", str(reason), ok=False)


def _pythons(paths: Paths) -> list[Finding]:
    findings: list[Finding] = []
    for entrant in load_entrants(paths.entrants).values():
        try:
            find_python(entrant)
        except CannotRunHere as reason:
            findings.append(Finding(f"entrant {entrant.name}", str(reason), ok=False, optional=True))
    return findings
