"""Client processes of the connector benchmark: started once, commanded by JSON lines, measured from outside."""

import json
import time
from pathlib import Path
from typing import Any

from harness.environments import extra_packages, python_of
from harness.errors import Broken
from harness.meter import Meter
from harness.paths import BENCHMARKS
from harness.processes import SUBJECT_CORE, Child
from harness.results import Sample


class Client:
    """One connector on one loop."""

    def __init__(self, file: str, environment: str, loop: str, port: int, *, lent: str | None = None) -> None:
        path = BENCHMARKS / "subjects" / file
        extra = {"PYTHONPATH": str(extra_packages(lent))} if lent else {}
        command: list[str | Path] = [python_of(environment), path, str(port), loop]
        self.child = Child(command, core=SUBJECT_CORE, environment=extra, interactive=True)
        try:
            self._answer()
        except BaseException:
            self.child.end()
            raise
        self._meter = Meter(self.child.pid)

    def run(self, operation: str, in_flight: int, seconds: float, limit: int | None = None) -> Sample:
        before = self._meter.read()
        started = time.perf_counter()
        self.send(operation, in_flight, seconds, limit)
        answer = self._answer()
        used, wall = self._meter.read().since(before), time.perf_counter() - started
        done = int(answer["operations"])
        if not done:
            raise Broken(f"{self.child.command[1]} did nothing in a slot of {operation}")
        return Sample(
            operations=done,
            cpu=used.microseconds / done,
            rate=done / answer["seconds"],
            instructions=None if used.instructions is None else used.instructions / done,
            subject_share=used.microseconds / 1e6 / wall,
        )

    def send(self, operation: str, in_flight: int, seconds: float, limit: int | None) -> None:
        command = {"operation": operation, "in_flight": in_flight, "seconds": seconds, "limit": limit}
        stdin = self.child.popen.stdin
        assert stdin is not None, "the client is interactive"
        try:
            stdin.write(json.dumps(command).encode() + b"\n")
            stdin.flush()
        except BrokenPipeError as error:
            raise Broken(f"the client ended: {self.child.log_tail()}") from error

    def close(self) -> None:
        self._meter.close()
        self.child.end()

    def _answer(self) -> dict[str, Any]:
        stdout = self.child.popen.stdout
        assert stdout is not None, "the client is interactive"
        line = stdout.readline()
        if not line:
            self.child.popen.wait(5)
            raise Broken(f"{Path(self.child.command[1]).name} ended: {self.child.log_tail()}")
        message: dict[str, Any] = json.loads(line)
        return message
