"""Results made by hand, for the tests of analysis, comparison and report."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from races.result import Result

ENTRANT = {
    "title": "", "engine": "asyncio", "loop": "asyncio", "store": "none", "store version": "", "driver": "",
    "requests": "", "workers": 1, "python": "3.13.0", "versions": {"rich": "15"}, "environment": {"rich": "15"},
    "deviations": [], "command": ["python", "server.py"], "twin_of": None,
}  # fmt: skip


def entrant(title: str, twin_of: str | None = None) -> dict[str, Any]:
    return {**ENTRANT, "title": title, "twin_of": twin_of}


def heat(name: str, number: int, rate: float, cpu: float, flags: Sequence[str] = ()) -> dict[str, Any]:
    good = round(rate * 2)
    return {
        "course": "good", "entrant": name, "round": number, "started": 0.0, "seconds": 2.0,
        "good": good, "answered": good, "wrong": 0, "errors": 0, "rate": rate,
        "cpu": {"server": cpu * good / 1e6, "store": 0.1, "generator": 0.2},
        "cpu_per_request": {"server": cpu, "store": 5.0, "generator": 2.0},
        "memory": {"server": 50 << 20, "store": 0},
        "busy": {"server": 0.98, "store": 0.1, "generator": 0.2, "foreign": 0.0, "steal": 0.0},
        "latency": {"p50": 900.0, "p90": 1200.0, "p99": 2500.0, "p99.9": 4000.0, "max": 9000.0},
        "work": {}, "findings": [{"flag": flag, "why": "because"} for flag in flags],
        "server_command": ["python", "server.py"], "load_command": ["tarmac-load"], "raw": "raw/none.txt",
    }  # fmt: skip


def result(heats: list[dict[str, Any]], entrants: dict[str, dict[str, Any]], **head: Any) -> Result:
    about = {
        "title": "Good", "summary": "nine best", "method": "GET", "path": "/good", "connections": 40,
        "depth": 1, "seconds": 2.0, "warmup": 0.5, "work": {},
    }  # fmt: skip
    return Result(
        {
            "lab": "0", "command": ["races", "run"], "complete": True, "started": "2026-01-02T03:04:05+00:00",
            "finished": "2026-01-02T03:09:05+00:00", "machine": {"processor": "abacus"},
            "placement": "server on core 0, load on core 1, store on core 1",
            "generator": {"name": "tarmac-load", "version": "1", "checks": "everything"}, "seed": 1,
            "rounds": 6, "reference": "fast", "ceilings": {"good": 100000.0},
            "courses": {"good": about}, "entrants": copy.deepcopy(entrants), **head,
        },
        heats,
    )  # fmt: skip


FIELD = {
    "fast": entrant("Fast <one>"),
    "slow": entrant("Slow & steady"),
    "fast (twin)": entrant("Fast <one> (twin)", "fast"),
}
WOBBLE = (1.0, 1.01, 0.99, 1.005, 0.995, 1.0)


def race(fast: float = 1000.0, slow: float = 400.0, flags: dict[str, Sequence[str]] | None = None) -> Result:
    """Six rounds of a fast and a slow entrant and the twin; CPU is the inverse of the rate."""
    heats: list[dict[str, Any]] = []
    for number, wobble in enumerate(WOBBLE, start=1):
        shaken = WOBBLE[-number]
        for name, rate, shake in (("fast", fast, wobble), ("slow", slow, wobble), ("fast (twin)", fast, shaken)):
            marks = (flags or {}).get(name, ())
            heats.append(heat(name, number, rate * shake, 1e6 / (rate * shake) if rate else 0.0, marks))
    return result(heats, FIELD)
