"""The voting site in the lab: every course answered rightly, every store operation accounted for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from races.errors import CannotRunHere
from races.loads.own import find_program
from races.paths import find_project
from races.stores import store_kind

pytestmark = [pytest.mark.live, pytest.mark.timeout(180)]

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of its own that borrows the site: results and data sets stay in the test's folder."""
    real = find_project().project
    for part in ("entrants", "courses"):
        shutil.copytree(real / "races" / part, tmp_path / "races" / part)
    (tmp_path / "stickers").symlink_to(real / "stickers")
    return tmp_path


@pytest.fixture
def run(project: Path) -> Run:
    real = find_project().project
    try:
        program = find_program(real)
    except CannotRunHere as reason:
        pytest.skip(f"tarmac-load: {reason}")

    def race(entrants: str, courses: str) -> dict[str, Any]:
        words = ["run", "--entrants", entrants, "--course", courses, "--rounds", "1", "--no-twin", "--plain"]
        done = subprocess.run(
            [sys.executable, "-m", "races", *words, "--seconds", "0.7", "--warmup", "0.3", "--connections", "8"],
            env={**os.environ, "TARMAC_PROJECT": str(project), "TARMAC_LOAD": program},
            capture_output=True, text=True, timeout=170, check=False,
        )  # fmt: skip
        assert 0 == done.returncode, done.stdout + done.stderr
        found: dict[str, Any] = json.loads((project / "results" / "latest" / "result.json").read_text())
        return found

    return race


def require(store: str) -> None:
    try:
        store_kind(store).check(find_project().project)
    except CannotRunHere as reason:
        pytest.skip(f"{store}: {reason}")


def hard_flags(result: dict[str, Any]) -> list[tuple[str, str]]:
    soft = {"HOST_NOISY", "GEN_SATURATED"}
    return [
        (heat["course"], found["why"])
        for heat in result["heats"]
        for found in heat["findings"]
        if found["flag"] not in soft
    ]


@pytest.mark.parametrize(
    ("entrant", "store"),
    [("tarmac-tarantool", "tarantool"), ("tarmac-tarantool-one", "tarantool"), ("tarmac-sqlite", "sqlite")],
)
def test_every_answer_costs_the_store_what_it_owes(run: Run, entrant: str, store: str) -> None:
    """Each course is right before, during and after; where it owes operations they were counted."""
    require(store)
    courses = ["good", "good-plain", "index", "about", "ugly", "ugly-pipelined", "vote"]
    result = run(entrant, ",".join(courses))
    assert [] == result["left_out"]
    assert [] == hard_flags(result)
    assert set(courses) == {heat["course"] for heat in result["heats"]}
    counted = {heat["course"]: heat["work"].get("counted", {}) for heat in result["heats"]}
    for course in ("good", "good-plain", "index", "vote"):
        assert counted[course] and all(counted[course].values()), course
    assert all(heat["good"] > 10 for heat in result["heats"])


def test_work_that_was_not_done_is_noticed(run: Run, project: Path) -> None:
    """The course now claims two selects a page, and a column nobody writes: both are missed."""
    require("tarantool")
    course = project / "races" / "courses" / "good.toml"
    course.write_text(course.read_text().replace("[work.many]\ncall = 1", "[work.many]\ncall = 2\nreplace = 1"))
    result = run("tarmac-tarantool", "good")
    reasons = [why for _, why in hard_flags(result)]
    assert 2 == len(reasons)
    assert any(why.startswith("call:") for why in reasons)
    assert any(why.startswith("replace: 0 counted") for why in reasons)


def test_the_store_starts_afresh_for_every_heat(run: Run) -> None:
    """Users count from nothing again: a heat's rows are its own requests, not the last heat's too."""
    require("sqlite")
    result = run("tarmac-sqlite,tarmac-sqlite", "good,good-plain")
    for heat in result["heats"]:
        assert heat["work"]["owed"]["users"] == heat["work"]["counted"]["users"] == heat["answered"]
