"""A race as JSON lines, for programs."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import TextIO

from races.analysis import METRICS, CourseTable
from races.heat import Heat
from races.plan import Slot
from races.result import Result
from races.show.show import Progress


class NdjsonShow:
    """One object a line, `event` says what it is."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stdout

    def begin(self) -> None:
        """Nothing to set up."""

    def end(self) -> None:
        """Nothing to hand back."""

    def stage(self, text: str) -> None:
        self._say(event="stage", text=text)

    def left_out(self, what: str, why: str) -> None:
        self._say(event="left_out", what=what, why=why)

    def heat_begins(self, slot: Slot, progress: Progress) -> None:
        left = None if math.isnan(progress.seconds_left) else round(progress.seconds_left, 1)
        self._say(
            event="heat_begins", round=slot.round, course=slot.course, entrant=slot.lane,
            heats_done=progress.heats_done, heats=progress.heats, seconds_left=left,
        )  # fmt: skip

    def heat_ends(self, heat: Heat, result: Result) -> None:
        del result
        self._say(
            event="heat_ends", round=heat.round, course=heat.course, entrant=heat.entrant,
            rate=heat.rate, good=heat.good, cpu_per_request=heat.cpu_per_request,
            flags=[found.flag.value for found in heat.findings],
        )  # fmt: skip

    def verdict(self, result: Result, tables: dict[str, CourseTable], report: Path) -> None:
        for course, table in tables.items():
            for cell in table.ordered():
                self._say(
                    event="verdict", course=course, entrant=cell.entrant,
                    median={metric.name: cell.middle(metric) for metric in METRICS},
                    ratio={name: found.ratio for name, found in cell.ratio.items()},
                    interval={
                        name: [found.ratio_low, found.ratio_high]
                        for name, found in cell.ratio.items()
                    },
                    rank=cell.rank, flags=[flag.value for flag in cell.flags],
                )  # fmt: skip
        self._say(event="report", path=str(report), complete=result.head["complete"])

    def _say(self, **event: object) -> None:
        print(json.dumps(event), file=self.stream, flush=True)
