"""A race as plain lines, for logs and for screen readers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TextIO

from races.analysis import CPU, RATE, CourseTable
from races.heat import Heat
from races.plan import Slot
from races.result import Result
from races.show.show import Progress, duration, headline, number, rank, ratio


class PlainShow:
    """One line for each event."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stdout

    def begin(self) -> None:
        """Nothing to set up."""

    def end(self) -> None:
        """Nothing to hand back."""

    def stage(self, text: str) -> None:
        self._say(f"... {text}")

    def left_out(self, what: str, why: str) -> None:
        self._say(f"left out: {what}: {why}")

    def heat_begins(self, slot: Slot, progress: Progress) -> None:
        self._say(
            f"[{progress.heats_done + 1}/{progress.heats}] round {progress.round}/{progress.rounds}"
            f" {slot.course}: {slot.lane}, {duration(progress.seconds_left)} left"
        )

    def heat_ends(self, heat: Heat, result: Result) -> None:
        del result
        cpu = heat.cpu_per_request
        flags = " ".join(found.flag.value for found in heat.findings)
        self._say(
            f"    {number(heat.rate)} requests/s, CPU us/request:"
            f" server {number(cpu.get('server', 0))}, store {number(cpu.get('store', 0))},"
            f" generator {number(cpu.get('generator', 0))} {flags}".rstrip()
        )

    def verdict(self, result: Result, tables: dict[str, CourseTable], report: Path) -> None:
        for course, table in tables.items():
            self._say("")
            self._say(f"{result.courses[course]['title']}: {result.courses[course]['summary']}")
            for cell in table.ordered():
                flags = " ".join(flag.value for flag in cell.flags)
                self._say(
                    f"  {rank(cell, RATE):>2} {cell.entrant:24}"
                    f" {number(cell.middle(RATE)):>9} requests/s"
                    f" {ratio(cell.ratio.get('rate')):>18}"
                    f" {number(cell.middle(CPU)):>7} us CPU"
                    f" {ratio(cell.ratio.get('cpu')):>18} {flags}".rstrip()
                )
            for line in headline(result, table):
                self._say(f"  {line}")
        self._say("")
        self._say(f"report: {report}")

    def _say(self, line: str) -> None:
        print(line, file=self.stream, flush=True)
