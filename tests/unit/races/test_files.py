"""Entrant and course files: inheritance, refusals, and the files of this checkout."""

from pathlib import Path

import pytest
from races.course import course_from, load_courses
from races.entrant import entrant_from, fill, load_entrants, resolve
from races.environment import fingerprint, remove_outdated
from races.errors import UsageError
from races.paths import Paths, find_project
from races.plan import QUICK_COURSES, QUICK_FIELDS

BASE = {"title": "base", "command": ["a", "{port}"], "variables": {"A": "1", "B": "2"}, "abstract": True}


@pytest.fixture
def project() -> Paths:
    return find_project()


def test_a_child_replaces_lists_and_merges_tables() -> None:
    tables = {"base": BASE, "child": {"extends": "base", "title": "child", "variables": {"B": "3"}}}
    entrant = entrant_from("child", Path("/e"), tables)
    assert ("child", ("a", "{port}"), {"A": "1", "B": "3"}) == (entrant.title, entrant.command, entrant.variables)


def test_a_child_lives_in_its_parents_environment_unless_it_has_requirements() -> None:
    parent = {**BASE, "requirements": "requirements.txt"}
    tables = {"base": parent, "child": {"extends": "base"}, "own": {"extends": "base", "requirements": "r.txt"}}
    assert Path("/e/base/requirements.txt") == entrant_from("child", Path("/e"), tables).requirements_file
    assert Path("/e/own/r.txt") == entrant_from("own", Path("/e"), tables).requirements_file


@pytest.mark.parametrize(
    "tables",
    [
        {"a": {"extends": "b"}},
        {"a": {"extends": "b"}, "b": {"extends": "a"}},
        {"a": {"extends": "b"}, "b": {"extends": "c"}, "c": {"extends": "d"}, "d": {}},
    ],
    ids=["absent", "circle", "too deep"],
)
def test_a_chain_that_leads_nowhere_is_refused(tables: dict[str, dict[str, object]]) -> None:
    with pytest.raises(UsageError, match="cannot extend"):
        resolve("a", tables)


def test_a_key_that_nobody_reads_is_refused() -> None:
    with pytest.raises(UsageError, match="colour"):
        entrant_from("a", Path(), {"a": {**BASE, "colour": "red"}})
    with pytest.raises(UsageError, match="colour"):
        course_from("a", {"title": "a", "summary": "a", "path": "/", "colour": "red"})


def test_a_placeholder_that_nobody_fills_is_refused() -> None:
    assert ["-p", "80"] == fill(("-p", "{port}"), {"port": "80"})
    with pytest.raises(UsageError, match="wrong"):
        fill(("{wrong}",), {"port": "80"})


def test_the_environment_changes_with_the_requirements(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    entrant = entrant_from("a", tmp_path, {"a": BASE})
    before = fingerprint(entrant)
    (tmp_path / "a" / "requirements.txt").write_text("rich==14.0.0\n")
    assert before != fingerprint(entrant)
    assert fingerprint(entrant) == fingerprint(entrant)


def test_a_new_environment_replaces_only_its_own_predecessors(tmp_path: Path) -> None:
    new = tmp_path / "aiohttp-0123456789ab"
    kept = ["aiohttp-0123456789ab", "aiohttp-asynctnt-0123456789ab", "aiohttp-notes", "fastapi-0123456789ab"]
    for name in [*kept, "aiohttp-ffffffffffff"]:
        (tmp_path / name).mkdir()
    remove_outdated(new)
    assert sorted(kept) == sorted(folder.name for folder in tmp_path.iterdir())


def test_all_files_of_this_checkout_can_be_read(project: Paths) -> None:
    entrants, courses = load_entrants(project.entrants), load_courses(project.courses)
    assert {"good", "index", "ugly", "ugly-pipelined", "about", "vote"} <= set(courses)
    for entrant in entrants.values():
        assert entrant.environment == "project" or entrant.requirements_file.is_file(), entrant.name
        assert set(entrant.courses) <= set(courses)


def test_the_quick_race_names_what_exists(project: Paths) -> None:
    entrants = load_entrants(project.entrants)
    assert set(QUICK_COURSES) <= set(load_courses(project.courses))
    assert {name for field in QUICK_FIELDS for name in field} <= set(entrants)


def test_every_requirement_is_pinned(project: Paths) -> None:
    for file in project.entrants.glob("*/requirements.txt"):
        lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
        assert lines and all("==" in line for line in lines), file


def test_a_flow_names_a_file_that_exists(project: Paths) -> None:
    for course in load_courses(project.courses).values():
        assert not course.scenario or Path(course.scenario).is_file()
