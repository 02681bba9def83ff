"""A race as a live table: lanes that advance by verified requests, ratios, CPU, time left."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from races.analysis import CPU, RATE, Cell, CourseTable, analyse
from races.heat import Heat
from races.plan import Slot
from races.result import Result
from races.show.show import Progress, duration, headline, number, rank, ratio

LANE_WIDTH = 22
WINNER, RUNNER, FAINT, WARNING = "bold green", "cyan", "dim", "yellow"


class LiveShow:
    """Redrawn in place after every event; the final tables stay on the screen."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console()
        self.live = Live(console=self.console, refresh_per_second=4, transient=True)
        self.running = False
        self.result: Result | None = None
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
            self.console.print(course_table(result, course, table))
            for line in headline(result, table):
                self.console.print(Text(f"  {line}"))
            self.console.print()
        self.console.print(Text.assemble("report: ", (str(report), "bold underline")))

    def _draw(self) -> None:
        tables: list[RenderableType] = []
        if self.result is not None:
            tables = [course_table(self.result, course, table) for course, table in analyse(self.result).items()]
        self.live.update(Group(*tables, self.status))


def course_table(result: Result, course: str, table: CourseTable) -> Table:
    """The state of one course."""
    about = result.courses[course]
    drawn = Table(
        title=f"{about['title']}: {about['summary']}", title_justify="left", title_style="bold",
        expand=False, border_style=FAINT,
    )  # fmt: skip
    drawn.add_column("", justify="right")
    drawn.add_column("entrant")
    drawn.add_column("lane", width=LANE_WIDTH)
    for column in ("requests/s", "x reference", "server us", "x reference", "store us", "load us"):
        drawn.add_column(column, justify="right")
    drawn.add_column("flags")
    farthest = max((distance(cell) for cell in table.cells.values()), default=0)
    for cell in table.ordered():
        drawn.add_row(*_row(cell, farthest))
    floor = ", ".join(f"{name} ±{value:.1%}" for name, value in table.floor.items())
    drawn.caption = f"noise floor (twin): {floor}"
    return drawn


def distance(cell: Cell) -> int:
    """Verified requests so far: how far the lane has come."""
    return sum(int(heat["good"]) for heat in cell.heats)


def _row(cell: Cell, farthest: int) -> list[Text]:
    share = distance(cell) / farthest if farthest else 0.0
    style = WINNER if cell.rank.get("rate") == 1 else RUNNER
    filled = round(share * (LANE_WIDTH - 1))
    cpu = cell.median_of("cpu_per_request")
    return [
        Text(rank(cell, RATE)),
        Text(cell.entrant, style=style),
        Text("═" * filled + "▶", style=style),
        Text(number(cell.middle(RATE))),
        Text(ratio(cell.ratio.get("rate"))),
        Text(number(cell.middle(CPU))),
        Text(ratio(cell.ratio.get("cpu"))),
        Text(number(cpu.get("store", 0.0))),
        Text(number(cpu.get("generator", 0.0))),
        Text(" ".join(flag.value for flag in cell.flags), style=WARNING),
    ]
