"""The report: valid HTML in one file, nothing from elsewhere, everything escaped, every part there."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from races.cli import main
from races.report.page import render
from races.report.scale import linear, logarithmic
from unit.races.made import FIELD, race, result

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Strict(HTMLParser):
    """Every element is closed in order; collects tags, attributes and ids."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert tag == self.open.pop()


def parsed(page: str) -> Strict:
    parser = Strict()
    parser.feed(page)
    parser.close()
    assert [] == parser.open
    return parser


@pytest.mark.parametrize(
    "made",
    [
        race(),
        race(flags={"slow": ["WRONG_ANSWERS"], "fast": ["HOST_NOISY"]}),
        race(fast=0.0),
        result([], FIELD, complete=False),
        result(race().heats[:1], FIELD, complete=False),
    ],
    ids=["whole", "flagged", "no good answers", "nothing", "one heat"],
)
def test_every_element_is_closed(made: object) -> None:
    page = render(made)  # type: ignore[arg-type]
    ids = [value for _, name, value in parsed(page).attributes if name == "id"]
    assert len(ids) == len(set(ids))


def test_nothing_comes_from_elsewhere() -> None:
    page = render(race())
    for tag, name, value in parsed(page).attributes:
        assert tag not in {"script", "link", "img", "iframe"}
        if name in {"src", "href"}:
            assert value is not None and value.startswith("#"), f"{tag} {name}={value}"
    assert not re.search(r"https?://|@import|url\(", page)


def test_links_inside_the_page_lead_somewhere() -> None:
    attributes = parsed(render(race())).attributes
    ids = {value for _, name, value in attributes if name == "id"}
    targets = {value.removeprefix("#") for _, name, value in attributes if name == "href" and value}
    assert targets and targets <= ids


def test_titles_are_escaped() -> None:
    page = render(race())
    assert "Fast &lt;one&gt;" in page and "Slow &amp; steady" in page
    assert "<one>" not in page


def test_every_round_is_a_dot_and_every_role_a_bar() -> None:
    page = render(race())
    assert 18 == len(re.findall(r"<title>round \d: [\d,]+ /s</title>", page))
    for role in ("server", "store", "generator"):
        assert 3 == len(re.findall(rf'<rect class="{role}"', page))


def test_the_headline_names_the_nearest_rival_and_the_factor() -> None:
    assert "<h1>Fast &lt;one&gt; answers 2.50 times the requests of Slow &amp; steady" in render(race())


def test_the_headline_falls_back_on_cpu_when_the_host_was_noisy() -> None:
    noisy = race(flags={"fast": ["HOST_NOISY"]})
    assert "<h1>Fast &lt;one&gt; needs 60% less server CPU than Slow &amp; steady" in render(noisy)


def test_the_headline_claims_nothing_that_is_not_resolved() -> None:
    assert "<h1>A race that resolved nothing</h1>" in render(race(slow=1000.0))


def test_what_was_left_out_and_a_stop_are_said() -> None:
    made = race()
    made.head["complete"] = False
    made.leave_out("PHP", "not installed")
    page = render(made)
    assert "<b>PHP</b>: not installed" in page
    assert "stopped early" in page
    assert "stopped early" not in render(race())


def test_raw_output_stands_beside_its_heat(tmp_path: Path) -> None:
    made = race()
    made.heats[0]["raw"] = "raw/one.txt"
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "one.txt").write_text("<the generator's words>")
    assert "&lt;the generator&#x27;s words&gt;" in render(made, tmp_path)


def test_report_draws_again_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "result.json").write_text(json.dumps(race().as_json()))
    assert 0 == main(["report", str(tmp_path / "result.json")])
    assert f"{tmp_path / 'report.html'}\n" == capsys.readouterr().out
    assert "</html>" in (tmp_path / "report.html").read_text()


def test_a_bar_of_twice_the_value_is_twice_as_long() -> None:
    scale = linear(200.0, 10, 410)
    assert pytest.approx(2 * (scale.place(100) - 10)) == scale.place(200) - 10


@pytest.mark.parametrize(
    "values", [[1.0], [0.9, 1.1], [0.05, 1.0], [0.4, 1.0, 1.02], [0.001, 1000.0], [3.0, 8.0], [0.0]]
)
def test_a_log_axis_has_a_few_round_ticks_inside(values: list[float]) -> None:
    scale = logarithmic(values, 0, 100)
    ticks = scale.ticks()
    assert 2 <= len(ticks) <= 8
    assert all(scale.low <= tick <= scale.high for tick in ticks)
    assert all(len(f"{tick:g}") <= 6 for tick in ticks)
    if min(values) <= 1 <= max(values):
        assert 1.0 in ticks
