"""Runs cargo's and pytest's tests, shows their output, and ends with the line `N passed, N failed[, N skipped]`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests"))

from support.tarantool import OwnTarantool, installed  # noqa: E402 - the tests' own server serves cargo's tests too

if TYPE_CHECKING:
    from collections.abc import Iterator

CARGO_RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", re.MULTILINE)
NOTHING = re.compile(r"^(running \d+ tests?|test result: ok\. 0 passed; 0 failed; 0 ignored;.*)$")


@dataclass
class Totals:
    """Counts of test cases; a runner that breaks before it counts is one failure."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Totals) -> Totals:
        return Totals(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def broken(self, status: int) -> Totals:
        """Count a runner that ended badly without naming a failed test."""
        return self + Totals(failed=1) if status != 0 and self.failed == 0 else self

    def __str__(self) -> str:
        line = f"{self.passed} passed, {self.failed} failed"
        return f"{line}, {self.skipped} skipped" if self.skipped else line


def cargo() -> Totals:
    """Run the tests of every crate that needs no Python."""
    step("cargo test")
    command = ["cargo", "test", "--quiet", "--no-fail-fast"]
    with live_server() as url:
        if url:  # tests that need a server are marked as ignored, so that plain `cargo test` works without one
            command += ["--", "--include-ignored"]
        environment = {**os.environ, "TARANTOOL_URL": url}
        with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
            lines = [echoed(line) for line in process.stdout or ()]
    found = CARGO_RESULT.findall("".join(lines))
    totals = sum((Totals(*map(int, counts)) for counts in found), Totals())
    return totals.broken(process.returncode)


@contextmanager
def live_server() -> Iterator[str]:
    """Give the URL of a Tarantool: the one TARANTOOL_URL names, a private one, or "" where there is none."""
    if (url := os.environ.get("TARANTOOL_URL", "")) or not installed():
        yield url
        return
    with tempfile.TemporaryDirectory() as folder:
        server = OwnTarantool(folder=Path(folder))
        try:
            server.start()
            yield server.url
        finally:
            server.kill()


def pytest(arguments: list[str]) -> Totals:
    """Run the Python tests; the counts come from pytest's own report file."""
    step("pytest")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *arguments]
        status = subprocess.run(command, cwd=ROOT, check=False).returncode
        return (counted(report) if report.exists() else Totals()).broken(status)


def counted(report: Path) -> Totals:
    # The file was written a moment ago by our own pytest: nothing in it is foreign.
    suites = ElementTree.parse(report).getroot().iter("testsuite")  # noqa: S314
    totals = Totals()
    for suite in suites:
        failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped = int(suite.get("skipped", 0))
        totals += Totals(int(suite.get("tests", 0)) - failed - skipped, failed, skipped)
    return totals


def echoed(line: str) -> str:
    """Show a line of cargo's, unless it says that there was nothing to run."""
    if line.strip() and not NOTHING.match(line):
        sys.stdout.write(line)
        sys.stdout.flush()
    return line


def step(name: str) -> None:
    print(f"==> {name}", flush=True)


def main() -> int:
    totals = cargo() + pytest(sys.argv[1:])
    print(totals, flush=True)
    return 1 if totals.failed else 0


if __name__ == "__main__":
    sys.exit(main())
