"""The machine and the method, written beside every figure."""

import contextlib
import fcntl
import os
import platform
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from harness.counters import why_not
from harness.errors import Unavailable
from harness.options import Options
from harness.paths import VAR
from harness.processes import CORES, OTHER_CORE, SUBJECT_CORE


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Two runs at once would measure each other: the second one ends here."""
    VAR.mkdir(parents=True, exist_ok=True)
    with (VAR / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Unavailable("another run of the benchmarks is measuring on this machine") from error
        yield


def describe(options: Options) -> dict[str, str]:
    return {
        "date": time.strftime("%Y-%m-%d %H:%M %Z"),
        "processor": _processor(),
        "cores": f"{len(CORES)} usable; measured process on {SUBJECT_CORE}, load or database on {OTHER_CORE}",
        "kernel": f"{platform.system()} {platform.release()}",
        "instructions": why_not() or "counted (user mode)",
        "rounds": str(options.rounds),
        "load average at the start": f"{os.getloadavg()[0]:.2f}",
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
