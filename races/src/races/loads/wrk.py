"""wrk, the generator of the articles: checks and pipelining by a Lua script, JSON by `done`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from races.course import Course
from races.errors import CannotRunHere, LabError
from races.loads.generator import Measurement, Target, require_success, run_counted

SCRIPT = Path(__file__).with_name("wrk.lua")
MARK = "RACES-JSON "


@dataclass(frozen=True, slots=True)
class WrkGenerator:
    """wrk on one thread, because it has one core."""

    program: str
    version: str
    name: str = "wrk"
    checks: str = "status and one text of every response"

    @classmethod
    def find(cls, project: Path) -> Self:
        del project  # wrk belongs to the system
        program = shutil.which("wrk")
        if program is None:
            raise CannotRunHere("not installed (Debian: apt install wrk)")
        said = subprocess.run([program, "-v"], capture_output=True, text=True, check=False)
        version = re.search(r"wrk (?:debian/)?(\S+)", said.stdout + said.stderr)
        return cls(program, version.group(1) if version else "unknown")

    def refuses(self, course: Course) -> str | None:
        """Wrk cannot carry tokens and cookies from one answer to the next request."""
        return "wrk cannot run a flow" if course.scenario else None

    def run(self, target: Target) -> Measurement:
        # wrk takes whole seconds only.
        seconds = max(1, round(target.seconds))
        course = target.course
        command = [
            self.program, "-t1", f"-c{course.connections}", f"-d{seconds}s", "--timeout", "2s",
            "-s", str(SCRIPT), f"http://127.0.0.1:{target.port}{course.path}",
            "--", *script_arguments(course),
        ]  # fmt: skip
        finished = run_counted(command, target.cores)
        require_success(finished, command)
        return measurement_from(finished.output, command, finished.cpu, course.connections)


def script_arguments(course: Course) -> Sequence[str]:
    """For wrk.lua: method, depth, expected status, a text to find."""
    text = course.expect.contains[0] if course.expect.contains else ""
    return [course.method, str(course.depth), str(course.expect.status), text]


def measurement_from(output: str, command: Sequence[str], cpu: float, connections: int) -> Measurement:
    """Read the line that wrk.lua printed."""
    line = next((line for line in output.splitlines() if line.startswith(MARK)), None)
    if line is None:
        raise LabError(f"wrk said nothing that the lab understands: {output[-300:]}")
    told: dict[str, Any] = json.loads(line.removeprefix(MARK))
    wrong = told["wrong"]
    histogram = {int(value): int(count) for value, count in told["histogram"]}
    expected = told["duration"] // max(1, told["requests"] // connections)
    return Measurement(
        good=told["requests"] - wrong,
        wrong=wrong,
        errors=told["connect"] + told["read"] + told["write"] + told["timeout"],
        seconds=told["duration"] / 1e6,
        cpu=cpu,
        latency=percentiles(uncorrected(histogram, expected)),
        command=list(command),
        output=output.replace(line, "").strip(),
    )


def uncorrected(histogram: dict[int, int], expected: int) -> dict[int, int]:
    """Undo wrk's guess about requests it did not send.

    For every latency v above twice the expected interval e, wrk adds v-e, v-2e, ... down to e,
    so `final[k] = raw[k] + raw[k+e] + raw[k+2e]...` for k > e.
    """
    raw = {
        value: count - (histogram.get(value + expected, 0) if value > expected else 0)
        for value, count in histogram.items()
    }
    return {value: count for value, count in raw.items() if count > 0}


def percentiles(histogram: dict[int, int]) -> dict[str, float]:
    """p50, p90, p99, p99.9 and max of {microseconds: count}."""
    total = sum(histogram.values())
    if total == 0:
        return {}
    wanted = {"p50": 0.50, "p90": 0.90, "p99": 0.99, "p99.9": 0.999}
    found: dict[str, float] = {}
    seen = 0
    for value in sorted(histogram):
        seen += histogram[value]
        for name, fraction in wanted.items():
            if name not in found and seen >= fraction * total:
                found[name] = float(value)
    found["max"] = float(max(histogram))
    return found
