"""Real races of small servers: order found, lies caught, Ctrl-C survived, results read back."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from races.errors import CannotRunHere
from races.loads import GENERATORS
from races.paths import find_project

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

HERE = Path(__file__).parent
SHORT = ("--seconds", "0.5", "--warmup", "0.2", "--plain")

Races = Callable[..., subprocess.CompletedProcess[str]]


def usable(name: str) -> str:
    """Skip the test, with the reason, where a generator is missing."""
    try:
        GENERATORS[name].find(find_project().project)
    except CannotRunHere as reason:
        pytest.skip(f"{name}: {reason}")
    return name


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return Path(shutil.copytree(HERE / "races_project", tmp_path / "project"))


@pytest.fixture
def environment(project: Path) -> dict[str, str]:
    """The real project lends its load generator; everything else comes from the small one."""
    variables = {**os.environ, "TARMAC_PROJECT": str(project)}
    try:
        variables["TARMAC_LOAD"] = GENERATORS["tarmac-load"].find(find_project().project).program
    except CannotRunHere:
        variables.pop("TARMAC_LOAD", None)
    return variables


@pytest.fixture
def races(environment: dict[str, str], project: Path) -> Races:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "races", *words]
        return subprocess.run(
            command, env=environment, cwd=project, capture_output=True, text=True, timeout=100, check=False
        )

    return run


def latest(project: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((project / "results" / "latest" / "result.json").read_text())
    return found


@pytest.mark.parametrize(
    ("generator", "course"), [("tarmac-load", "ugly"), ("tarmac-load", "ugly-pipelined"), ("wrk", "ugly-pipelined")]
)
def test_the_slower_server_loses_and_the_liar_is_caught(
    races: Races, project: Path, generator: str, course: str
) -> None:
    """Even pipelined, and although the liar is the fastest of all."""
    seconds = ("--seconds", "1") if usable(generator) == "wrk" else ()
    done = races(
        "run", "--course", course, "--entrants", "plain,slow,liar", "--rounds", "2", *SHORT, *seconds,
        "--generator", generator,
    )  # fmt: skip
    assert 0 == done.returncode, done.stdout + done.stderr
    result = latest(project)
    assert result["complete"]
    heats = {name: [heat for heat in result["heats"] if heat["entrant"] == name] for name in ("plain", "slow", "liar")}
    assert [2, 2, 2] == [len(found) for found in heats.values()]
    cheapest_slow = min(heat["cpu_per_request"]["server"] for heat in heats["slow"])
    dearest_plain = max(heat["cpu_per_request"]["server"] for heat in heats["plain"])
    assert dearest_plain < cheapest_slow
    flags = [{found["flag"] for found in heat["findings"]} for heat in heats["liar"]]
    assert all("WRONG_ANSWERS" in found for found in flags)
    assert "is not compared: WRONG_ANSWERS" in done.stdout.replace("ERRORS, ", "")
    assert all(heat["good"] > 100 and not heat["wrong"] for heat in heats["plain"])
    report = (project / "results" / "latest" / "report.html").read_text()
    assert "plain asyncio, slowed down" in report


def test_the_twin_runs_beside_its_reference(races: Races, project: Path) -> None:
    usable("tarmac-load")
    done = races("run", "--course", "ugly", "--entrants", "plain", "--rounds", "2", *SHORT)
    assert 0 == done.returncode, done.stderr
    result = latest(project)
    assert "plain" == result["entrants"]["plain (twin)"]["twin_of"]
    assert 2 == sum(heat["entrant"] == "plain (twin)" for heat in result["heats"])
    assert result["ceilings"]["ugly"] > 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_race_leaves_a_valid_result_and_report(
    environment: dict[str, str], project: Path, number: signal.Signals
) -> None:
    """Ctrl-C goes to the whole foreground group, as a terminal sends it; so does a service's end here."""
    command = [
        sys.executable,
        "-m",
        "races",
        "run",
        "--course",
        "ugly",
        "--entrants",
        "plain",
        "--rounds",
        "50",
        *SHORT,
    ]
    with subprocess.Popen(
        command, env=environment, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        for line in process.stdout:
            if "requests/s" in line:
                break
        os.killpg(process.pid, number)
        rest = process.stdout.read()
    assert 130 == process.returncode, rest
    result = latest(project)
    assert not result["complete"]
    assert len(result["heats"]) >= 1
    assert {"what": "the rest of the race", "why": "stopped by the keyboard"} in result["left_out"]
    assert "stopped early" in (project / "results" / "latest" / "report.html").read_text()


def test_no_server_outlives_its_race(races: Races, project: Path) -> None:
    races("run", "--course", "ugly", "--entrants", "plain", "--rounds", "1", *SHORT)
    mark = str(project).encode()
    deadline = time.monotonic() + 5
    while left := [file for file in Path("/proc").glob("[0-9]*/cmdline") if mark in read(file)]:
        assert time.monotonic() < deadline, left


def read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def test_programs_read_json_lines(races: Races) -> None:
    usable("tarmac-load")
    words = ("--seconds", "0.3", "--warmup", "0.1", "--ndjson")
    done = races("run", "--course", "ugly", "--entrants", "plain,slow", "--rounds", "1", *words)
    assert 0 == done.returncode, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [event["event"] for event in events]
    assert 3 == kinds.count("heat_ends") == kinds.count("heat_begins")
    assert "report" == kinds[-1]
    assert Path(events[-1]["path"]).is_file()


def test_a_race_compared_with_itself_is_the_same(races: Races, project: Path) -> None:
    usable("tarmac-load")
    races("run", "--course", "ugly", "--entrants", "plain", "--rounds", "4", *SHORT)
    file = str(project / "results" / "latest" / "result.json")
    assert races("compare", file, file, "--metric", "cpu").returncode in {0, 3}


def test_check_tells_right_from_wrong(races: Races, project: Path) -> None:
    usable("tarmac-load")
    assert 0 == races("check", "--entrants", "plain", "--course", "ugly,ugly-pipelined").returncode
    server = project / "races" / "entrants" / "plain" / "server.py"
    server.write_text(server.read_text().replace('b"UGLY"}', 'b"PRETTY"}'))
    wrong = races("check", "--entrants", "plain", "--course", "ugly")
    assert 4 == wrong.returncode
    assert "/ugly lacks 'UGLY'" in wrong.stdout


def test_answers_out_of_order_may_not_race(races: Races, project: Path) -> None:
    """A server that answers a pipelined batch backwards is refused before any load."""
    usable("tarmac-load")
    server = project / "races" / "entrants" / "plain" / "server.py"
    server.write_text(server.read_text().replace("for head in heads)", "for head in reversed(heads))"))
    done = races("run", "--course", "ugly-pipelined", "--entrants", "plain", "--rounds", "1", *SHORT)
    assert [] == latest(project)["heats"]
    assert "pipelined answers came as" in done.stdout


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import sys; print('needs a flux capacitor'); sys.exit(3)", "needs a flux capacitor"),
        ("import sys; sys.exit('broken')", "ended with status 1: broken"),
    ],
)
def test_an_entrant_that_does_not_start_is_left_out_with_its_reason(
    races: Races, project: Path, code: str, words: str
) -> None:
    usable("tarmac-load")
    (project / "races" / "entrants" / "plain" / "absent.py").write_text(code)
    toml = project / "races" / "entrants" / "slow" / "entrant.toml"
    toml.write_text('extends = "plain"\ntitle = "absent"\ncommand = ["{python}", "{entrant}/absent.py"]\n')
    done = races("run", "--course", "ugly", "--entrants", "plain,slow", "--rounds", "1", *SHORT)
    assert 0 == done.returncode, done.stderr
    assert any(words in note["why"] for note in latest(project)["left_out"])
    assert {"plain", "plain (twin)"} == {heat["entrant"] for heat in latest(project)["heats"]}


def test_the_budget_ends_a_race_after_a_whole_round(races: Races, project: Path) -> None:
    """Three rounds are run in any case, for without them there is no interval."""
    usable("tarmac-load")
    words = ("--seconds", "0.2", "--warmup", "0.1", "--plain", "--budget", "0.1")
    done = races("run", "--course", "ugly", "--entrants", "plain", "--rounds", "50", *words)
    assert 0 == done.returncode, done.stderr
    result = latest(project)
    assert [1, 1, 2, 2, 3, 3] == [heat["round"] for heat in result["heats"]]
    assert any("rounds 4 to 50" in note["what"] for note in result["left_out"])


def test_unknown_names_are_usage_errors(races: Races) -> None:
    for words in (("--entrants", "nobody", "--course", "ugly"), ("--entrants", "plain", "--course", "nowhere")):
        done = races("run", *words)
        assert 2 == done.returncode
        assert "there are:" in done.stderr


def test_a_server_that_dies_in_a_later_heat_does_not_end_the_race(races: Races, project: Path) -> None:
    """It starts three times (the check, two heats) and then no more: its last heats say why."""
    usable("tarmac-load")
    server = project / "races" / "entrants" / "plain" / "mortal.py"
    server.write_text(
        "import pathlib, runpy, sys\n"
        "lives = pathlib.Path(__file__).with_name('lives')\n"
        "used = len(lives.read_text()) if lives.exists() else 0\n"
        "lives.write_text('x' * (used + 1))\n"
        "if used >= 3:\n"
        "    sys.exit('no life left')\n"
        "runpy.run_path(str(pathlib.Path(__file__).with_name('server.py')), run_name='__main__')\n"
    )
    toml = project / "races" / "entrants" / "slow" / "entrant.toml"
    toml.write_text('extends = "plain"\ntitle = "mortal"\ncommand = ["{python}", "{entrant}/mortal.py", "{port}"]\n')
    done = races("run", "--course", "ugly", "--entrants", "plain,slow", "--rounds", "4", "--no-twin", *SHORT)
    assert 0 == done.returncode, done.stdout + done.stderr
    mortal = [heat for heat in latest(project)["heats"] if heat["entrant"] == "slow"]
    assert [True, True, False, False] == [heat["good"] > 0 for heat in mortal]
    assert all("no life left" in heat["findings"][0]["why"] for heat in mortal[2:])
    assert "mortal is not compared: ERRORS" in done.stdout
