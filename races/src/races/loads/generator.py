"""What a load generator is to the lab, and how one is run with its CPU time counted."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from races.course import Course
from races.errors import LabError
from races.process import pinned


@dataclass(frozen=True, slots=True)
class Target:
    """Where the load goes, how long, and on which cores the generator runs.

    `right_body` is a file with an answer that passed the contract in this very heat.
    """

    port: int
    course: Course
    seconds: float
    cores: tuple[int, ...]
    right_body: Path | None = None


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a generator saw. Latencies are in microseconds, by name: p50, p90, p99, max.

    `good_outside` are right answers that came before or after the measured time; `waits_for_all` says
    that no request was left without its answer when the generator ended.
    """

    good: int
    wrong: int
    errors: int
    seconds: float
    cpu: float
    latency: Mapping[str, float]
    command: Sequence[str]
    output: str
    good_outside: int = 0
    waits_for_all: bool = False

    @property
    def rate(self) -> float:
        """Verified requests per second."""
        return self.good / self.seconds if self.seconds > 0 else 0.0


class Generator(Protocol):
    """A program that can run courses."""

    @property
    def name(self) -> str:
        """As in `--generator`."""

    @property
    def version(self) -> str:
        """Its own word."""

    @property
    def checks(self) -> str:
        """What it looks at in every answer."""

    def refuses(self, course: Course) -> str | None:
        """Why it cannot run this course, or None."""

    def run(self, target: Target) -> Measurement:
        """Load the target for its time and report."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A program that ran to its end."""

    status: int
    output: str
    errors: str
    cpu: float


def run_counted(command: Sequence[str], cores: Sequence[int]) -> Finished:
    """Run a program on these cores; its CPU seconds come exactly, from the kernel's accounting."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        with pinned(cores):
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        return Finished(
            status=process.returncode,
            output=output.read().decode(errors="replace"),
            errors=errors.read().decode(errors="replace"),
            cpu=usage.ru_utime + usage.ru_stime,
        )


def require_success(finished: Finished, command: Sequence[str]) -> None:
    """A generator that fails is a LabError with its own last words."""
    if finished.status != 0:
        words = (finished.errors.strip() or finished.output.strip())[-400:]
        raise LabError(f"{Path(command[0]).name} ended with status {finished.status}: {words}")
