"""tarmac-load, the project's own generator: every byte of every answer checked, flows, JSON."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from races.course import Course
from races.errors import CannotRunHere, LabError
from races.loads.generator import Measurement, Target, run_counted

PROGRAM = "tarmac-load"
TIMEOUT = "5"
ANSWERED = (0, 3, 4)
"""Exit statuses with a report: all right, some without answer, some wrong."""

PERCENTILES = {"p50": "p50", "p90": "p90", "p99": "p99", "p99.9": "p99_9", "max": "max"}


def find_program(project: Path) -> str:
    """`TARMAC_LOAD`, else the one beside this Python, else what cargo built, else the path."""
    named = os.environ.get("TARMAC_LOAD")
    if named:
        if os.access(named, os.X_OK):
            return named
        raise CannotRunHere(f"TARMAC_LOAD={named} is not a program")
    installed = Path(sys.executable).with_name(PROGRAM)
    built = project / "target" / "release" / PROGRAM
    for candidate in (str(installed), str(built), shutil.which(PROGRAM)):
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    raise CannotRunHere("not built (cargo build --release -p load)")


@dataclass(frozen=True, slots=True)
class OwnGenerator:
    """tarmac-load in a closed loop on one thread, because it has one core."""

    program: str
    version: str
    name: str = PROGRAM
    checks: str = "status and every byte of every answer outside the course's holes"

    @classmethod
    def find(cls, project: Path) -> Self:
        """Where it is, and that it starts."""
        program = find_program(project)
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
        if said.returncode != 0:
            raise CannotRunHere(f"{program} does not start: {said.stderr.strip()}")
        return cls(program, said.stdout.split()[-1])

    def refuses(self, course: Course) -> str | None:
        """A flow cannot be pipelined: its next request needs the last answer."""
        if course.scenario and course.depth > 1:
            return "a flow cannot be pipelined"
        return None

    def run(self, target: Target) -> Measurement:
        """One run without a warm-up of its own: the lab warms up before its window opens."""
        course = target.course
        command = [
            self.program, "--json", "--warmup", "0", "--duration", f"{target.seconds:g}",
            "--connections", str(course.connections), "--depth", str(course.depth),
            "--timeout", TIMEOUT, *request_options(target),
            f"http://127.0.0.1:{target.port}{course.path}",
        ]  # fmt: skip
        finished = run_counted(command, target.cores)
        if finished.status not in ANSWERED:
            words = (finished.errors.strip() or finished.output.strip())[-400:]
            raise LabError(f"{PROGRAM} ended with status {finished.status}: {words}")
        return measurement_from(finished.output, command, finished.cpu)


def request_options(target: Target) -> Sequence[str]:
    """What to send, and what a right answer is: the body that passed this heat's contract."""
    course = target.course
    if course.scenario:
        return ["--scenario", course.scenario]
    options = ["--method", course.method, "--expect-status", str(course.expect.status)]
    for start, end in course.expect.holes:
        options += ["--hole", start, end]
    if target.right_body is not None:
        options += ["--expect-body", str(target.right_body)]
    return options


def measurement_from(output: str, command: Sequence[str], cpu: float) -> Measurement:
    """Read the JSON report; the answers after the end count as the server's work, not as speed."""
    try:
        told: dict[str, Any] = json.loads(output)
    except json.JSONDecodeError as error:
        raise LabError(f"{PROGRAM} said nothing that the lab understands: {output[-300:]}") from error
    return Measurement(
        good=told["ok"],
        wrong=_count(told["wrong"]) + _count(told["drain"]["wrong"]),
        errors=_count(told["errors"]) + _count(told["drain"]["errors"]),
        seconds=told["seconds"],
        cpu=cpu,
        latency={name: told["latency_ns"][key] / 1000 for name, key in PERCENTILES.items()},
        command=list(command),
        output=json.dumps(_without_histograms(told), indent=1),
        good_outside=told["warmup"]["ok"] + told["drain"]["ok"],
        waits_for_all=True,
    )


def _count(kinds: int | Mapping[str, int]) -> int:
    return kinds if isinstance(kinds, int) else sum(kinds.values())


def _without_histograms(table: Mapping[str, Any]) -> dict[str, Any]:
    """The report as it is kept: without the long lists that the percentiles came from."""
    return {
        key: _without_histograms(value) if isinstance(value, dict) else value
        for key, value in table.items()
        if key not in {"histogram", "series"}
    }
