"""A race as a live table: lanes that advance by verified requests, ratios, CPU, time left."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from races.analysis import CPU, RATE, Cell, CourseTable, analyse
from races.heat import Heat
from races.plan import Slot
from races.result import Result
from races.show.show import Progress, duration, floor_words, headline, number, rank, ratio

LANE_WIDTH = 22
WIDE = 130
STATUS_LINES, FRAME_LINES = 2, 6
COLUMNS: dict[str, tuple[Literal["left", "right"], bool]] = {
    "": ("right", False),
    "entrant": ("left", True),
    "lane": ("left", False),
    "requests/s": ("right", True),
    "ratio": ("right", False),
    "server us": ("right", True),
    "CPU ratio": ("right", True),
    "store us": ("right", False),
    "load us": ("right", False),
    "flags": ("left", True),
}
"""Justification, and whether a narrow terminal shows the column too."""

WINNER, RUNNER, FAINT, WARNING = "bold green", "cyan", "dim", "yellow"


class LiveShow:
    """Redrawn in place after every event; the final tables stay on the screen."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console()
        self.live = Live(console=self.console, refresh_per_second=4, transient=True)
        self.running = False
        self.result: Result | None = None
        self.course = ""
        self.status: RenderableType = Text("")

    def begin(self) -> None:
        self.live.start()
        self.running = True

    def end(self) -> None:
        if self.running:
            self.live.stop()
            self.running = False

    def stage(self, text: str) -> None:
        self.status = Spinner("dots", text=text)
        self._draw()

    def left_out(self, what: str, why: str) -> None:
        self.console.print(Text(f"left out: {what}: {why}", style=WARNING))

    def heat_begins(self, slot: Slot, progress: Progress) -> None:
        self.course = slot.course
        share = progress.heats_done / progress.heats if progress.heats else 0.0
        filled = round(share * 30)
        text = Text.assemble(
            ("━" * filled, "green"),
            ("━" * (30 - filled), FAINT),
            f"  round {progress.round} of {progress.rounds}, ",
            (f"{duration(progress.seconds_left)} left", "bold"),
            (f"   {slot.course}: {slot.lane}", FAINT),
        )
        self.status = Spinner("dots", text=text)
        self._draw()

    def heat_ends(self, heat: Heat, result: Result) -> None:
        del heat
        self.result = result
        self._draw()

    def verdict(self, result: Result, tables: dict[str, CourseTable], report: Path) -> None:
        for course, table in tables.items():
            self.console.print(course_table(result, course, table, wide=self.console.width >= WIDE))
            for line in headline(result, table):
                self.console.print(Text(f"  {line}"))
            self.console.print()
        self.console.print(Text.assemble("report: ", (str(report), "bold underline")))

    def _draw(self) -> None:
        tables = self._tables() if self.result is not None else []
        self.live.update(Group(*tables, self.status))

    def _tables(self) -> list[Table]:
        """The course that is running first, then as many others as the terminal has lines for."""
        assert self.result is not None
        result = self.result
        analysed = analyse(result)
        order = sorted(analysed, key=lambda course: course != self.course)
        wide = self.console.width >= WIDE
        lines_of_one = FRAME_LINES + max((len(table.cells) for table in analysed.values()), default=0)
        room = max(1, (self.console.height - STATUS_LINES) // lines_of_one)
        return [course_table(result, course, analysed[course], wide=wide) for course in order[:room]]


def course_table(result: Result, course: str, table: CourseTable, *, wide: bool) -> Table:
    """The state of one course; a narrow terminal gets the columns that matter most."""
    about = result.courses[course]
    floors = ", ".join(f"{name} {floor_words(value)}" for name, value in table.floor.items())
    drawn = Table(
        title=f"{about['title']}: {about['summary']}",
        title_justify="left",
        title_style="bold",
        caption=f"noise floor (twin): {floors}",
        caption_justify="left",
        border_style=FAINT,
    )
    farthest = max((distance(cell) for cell in table.cells.values()), default=0)
    rows = [row(cell, farthest, table.reference) for cell in table.ordered()]
    for name, (justify, is_vital) in COLUMNS.items():
        if wide or is_vital:
            drawn.add_column(name, justify=justify, no_wrap=name != "flags", overflow="fold")
    for cells in rows:
        drawn.add_row(*(cells[name] for name, (_, is_vital) in COLUMNS.items() if wide or is_vital))
    return drawn


def distance(cell: Cell) -> int:
    """Verified requests so far: how far the lane has come."""
    return sum(int(heat["good"]) for heat in cell.heats)


def row(cell: Cell, farthest: int, reference: str) -> dict[str, Text]:
    """All columns of one entrant."""
    share = distance(cell) / farthest if farthest else 0.0
    style = WINNER if cell.entrant == reference else RUNNER
    filled = round(share * (LANE_WIDTH - 1))
    cpu = cell.median_of("cpu_per_request")
    return {
        "": Text(rank(cell, RATE)),
        "entrant": Text(cell.entrant, style=style),
        "lane": Text("═" * filled + "▶", style=style),
        "requests/s": Text(number(cell.middle(RATE))),
        "ratio": Text(ratio(cell.ratio.get("rate"))),
        "server us": Text(number(cell.middle(CPU))),
        "CPU ratio": Text(ratio(cell.ratio.get("cpu"))),
        "store us": Text(number(cpu.get("store", 0.0))),
        "load us": Text(number(cpu.get("generator", 0.0))),
        "flags": Text(" ".join(flag.value for flag in cell.flags), style=WARNING),
    }
