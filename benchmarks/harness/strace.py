"""Counts the system calls that a process makes while something runs, by attaching strace."""

import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.errors import Broken, Unavailable

WRITES = frozenset({"write", "writev", "send", "sendto", "sendmsg", "sendmmsg", "pwrite64"})


@dataclass(frozen=True)
class Calls:
    """System calls in all, and those that write."""

    total: int
    writes: int


def counted(process: int, work: Callable[[], None]) -> Calls:
    if shutil.which("strace") is None:
        raise Unavailable("strace is not installed (Debian: apt-get install strace)")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "calls"
        tracer = subprocess.Popen(
            ["strace", "-c", "-f", "-o", str(report), "-p", str(process)],
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        try:
            _await_attachment(tracer, process)
            work()
        finally:
            tracer.send_signal(signal.SIGINT)
            tracer.communicate()
        return _parse(report.read_text())


def _await_attachment(tracer: "subprocess.Popen[str]", process: int) -> None:
    deadline = time.monotonic() + 10
    status = Path(f"/proc/{process}/status")
    while "TracerPid:\t0" in status.read_text():
        if tracer.poll() is not None:
            raise Unavailable(f"strace cannot attach: {tracer.stderr.read().strip() if tracer.stderr else ''}")
        if time.monotonic() > deadline:
            raise Broken("strace did not attach in 10 s")
        time.sleep(0.01)


def _parse(text: str) -> Calls:
    """Lines such as `` 52.10    0.001    2   1000    12 sendto``; the column of errors may be empty."""
    total = writes = 0
    for line in text.splitlines():
        found = re.match(r"\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$", line)
        if found and found[2] != "total":
            total += int(found[1])
            writes += int(found[1]) if found[2] in WRITES else 0
    return Calls(total, writes)
