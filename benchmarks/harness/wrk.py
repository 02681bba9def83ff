"""Runs wrk for one slot and reads its result and its own CPU time."""

import json
import resource
import shutil
import subprocess
from dataclasses import dataclass

from harness.errors import Broken, Unavailable
from harness.paths import BENCHMARKS
from harness.processes import OTHER_CORE, pinned


@dataclass(frozen=True)
class Load:
    """How hard to press: connections, requests pipelined on each, whole seconds."""

    connections: int = 100
    depth: int = 1
    seconds: int = 1
    cookie: str | None = None


@dataclass(frozen=True)
class Pressed:
    """What wrk saw."""

    requests: int
    seconds: float
    p50: float
    errors: int
    generator_cpu_seconds: float


def press(url: str, load: Load) -> Pressed:
    script = str(BENCHMARKS / "load" / "wrk.lua")
    command = ["wrk", "-t1", f"-c{load.connections}", f"-d{load.seconds}s", "-s", script]
    command += ["-H", f"Cookie: {load.cookie}"] if load.cookie else []
    before = _children_cpu()
    done = subprocess.run(
        pinned([*command, url, "--", str(load.depth)], OTHER_CORE),
        capture_output=True,
        text=True,
        check=False,
    )
    used = _children_cpu() - before
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    if not lines:
        raise Broken(f"wrk failed on {url}: {done.stderr.strip() or done.stdout.strip()}")
    result = json.loads(lines[0].removeprefix("RESULT "))
    return Pressed(
        requests=result["requests"],
        seconds=result["microseconds"] / 1e6,
        p50=result["p50"],
        errors=sum(result["errors"].values()),
        generator_cpu_seconds=used,
    )


def require() -> None:
    if shutil.which("wrk") is None:
        raise Unavailable("wrk is not installed (Debian: apt-get install wrk)")


def _children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
