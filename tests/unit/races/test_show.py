"""What a race says in the terminal: numbers, times, tables of any width, lines, JSON."""

import io
import json
import math
from pathlib import Path

import pytest
from races.analysis import analyse
from races.plan import Slot
from races.show import LiveShow, NdjsonShow, PlainShow, Progress, choose_show
from races.show.show import duration, floor_words, number, times
from rich.console import Console
from unit.races.made import race


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.0, "0"),
        (0.5467, "0.547"),
        (8.274, "8.27"),
        (43.21, "43.2"),
        (431.2, "431"),
        (12345.0, "12,300"),
        (999.6, "1000"),
    ],
)
def test_numbers_have_three_telling_digits(value: float, expected: str) -> None:
    assert expected == number(value)


def test_times_left_are_minutes_and_seconds() -> None:
    assert ["0:00", "1:05", "61:01", "?"] == [duration(seconds) for seconds in (0.2, 65.0, 3661.0, math.nan)]


def test_factors_and_floors_are_worded() -> None:
    assert ["0.55", "3.26", "21.3"] == [times(factor) for factor in (0.547, 3.2599, 21.27)]
    assert ["±0.0%", "±5.1%", "a factor of 2.72"] == [floor_words(floor) for floor in (0.0, 0.05, 1.0)]


@pytest.mark.parametrize("width", [70, 100, 160])
@pytest.mark.parametrize("height", [20, 60])
def test_the_live_table_fits_its_terminal(width: int, height: int) -> None:
    """Drawn as it stands during a race: no line is longer, no screen is higher."""
    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=True, color_system=None)
    show = LiveShow(console)
    show.heat_begins(Slot(2, "good", "slow"), Progress(2, 6, 3, 18, 75.0))
    show.result = race(flags={"slow": ["HOST_NOISY"]})
    show._draw()
    lines = drawn(show, console)
    assert all(len(line) <= width for line in lines)
    assert len(lines) <= height
    text = "\n".join(lines)
    assert all(word in text for word in ("fast", "slow", "HOST", "1:15 left"))
    assert "…" not in text
    assert (width >= 130) == ("lane" in text)


def drawn(show: LiveShow, console: Console) -> list[str]:
    with console.capture() as captured:
        console.print(show.live.renderable)
    return captured.get().rstrip("\n").split("\n")


def test_lines_and_json_tell_the_same_verdict() -> None:
    made = race()
    tables, report = analyse(made), Path("report.html")
    plain, ndjson = io.StringIO(), io.StringIO()
    PlainShow(plain).verdict(made, tables, report)
    NdjsonShow(ndjson).verdict(made, tables, report)
    events = [json.loads(line) for line in ndjson.getvalue().splitlines()]
    slow = next(event for event in events if event.get("entrant") == "slow")
    assert pytest.approx(0.4) == slow["ratio"]["rate"]
    assert {"rate": 2, "cpu": 2} == slow["rank"]
    assert "   2 slow" in plain.getvalue()
    assert "2.50 times the requests per second, 0.40 times the server CPU for each." in plain.getvalue()


def test_a_pipe_gets_lines_and_a_terminal_the_table() -> None:
    chosen = [choose_show(plain=False, ndjson=False, terminal=terminal) for terminal in (True, False)]
    assert [LiveShow, PlainShow] == [type(show) for show in chosen]
    assert isinstance(choose_show(plain=True, ndjson=False, terminal=True), PlainShow)
    assert isinstance(choose_show(plain=True, ndjson=True, terminal=True), NdjsonShow)
