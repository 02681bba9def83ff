"""What this machine is: processor, kernel, Python, source version. For the report and doctor."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path


def describe_machine(project: Path) -> dict[str, str]:
    """Facts a reader needs to judge the numbers."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "usable cores": ", ".join(str(core) for core in sorted(os.sched_getaffinity(0))),
        "memory": _memory(),
        "system": _system(),
        "kernel": platform.release(),
        "lab's Python": platform.python_version(),
        "source": _source(project),
        "load average at the start": " ".join(f"{value:.2f}" for value in os.getloadavg()),
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def _memory() -> str:
    kilobytes = int(Path("/proc/meminfo").read_text().split(maxsplit=2)[1])
    return f"{kilobytes / 1048576:.1f} GiB"


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return platform.system()


def _source(project: Path) -> str:
    """`git describe` of the checkout; a downloaded archive has none."""
    try:
        said = subprocess.run(
            ["git", "describe", "--always", "--dirty"],
            cwd=project, capture_output=True, text=True, check=False,
        )  # fmt: skip
    except OSError:
        return "unknown (no git)"
    return said.stdout.strip() or "unknown (no git checkout)"
