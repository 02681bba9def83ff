"""The machine and the method, written beside every figure."""

import os
import platform
import shutil
import subprocess
import time
from pathlib import Path

from harness.counters import why_not
from harness.options import Options
from harness.processes import CORES, OTHER_CORE, SUBJECT_CORE


def describe(options: Options) -> dict[str, str]:
    return {
        "date": time.strftime("%Y-%m-%d %H:%M %Z"),
        "processor": _processor(),
        "cores": f"{len(CORES)} usable; measured process on {SUBJECT_CORE}, load or database on {OTHER_CORE}",
        "kernel": f"{platform.system()} {platform.release()}",
        "instructions": why_not() or "counted (user mode)",
        "rounds": str(options.rounds),
        "load average": " ".join(f"{value:.2f}" for value in os.getloadavg()),
        "wrk": _first_line(["wrk", "-v"]),
        "tarantool": _first_line(["tarantool", "--version"]),
        "commit": _first_line(["git", "rev-parse", "--short", "HEAD"]),
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _first_line(command: list[str]) -> str:
    if shutil.which(command[0]) is None:
        return "not installed"
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = (done.stdout or done.stderr).splitlines()
    return lines[0].partition(" Copyright")[0] if lines else "unknown"
