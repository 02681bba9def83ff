"""Courses: what is asked of every entrant. One TOML file each, in `courses/`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from races.errors import UsageError


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a right answer looks like."""

    status: int = 200
    content_type: str = ""
    contains: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    varies: bool = False
    holes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Course:
    """A page and how it is asked for; `work` is store operations per request, by request style."""

    name: str
    title: str
    summary: str
    path: str
    method: str = "GET"
    scenario: str = ""
    connections: int = 40
    depth: int = 1
    seconds: float = 2.0
    warmup: float = 0.7
    needs_store: bool = False
    expect: Expectation = field(default_factory=Expectation)
    work: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def in_flight(self) -> int:
        return self.connections * self.depth


def load_courses(folder: Path) -> dict[str, Course]:
    """All courses of the folder by name, in the order their files ask for (`order`)."""
    found = [(read_toml(path), path.stem) for path in sorted(folder.glob("*.toml"))]
    for table, _ in found:
        if "scenario" in table:
            table["scenario"] = str(folder / table["scenario"])
    found.sort(key=lambda pair: pair[0].get("order", 100))
    return {name: course_from(name, table) for table, name in found}


def course_from(name: str, table: Mapping[str, Any]) -> Course:
    """Build a course from its table, refusing keys that nobody reads."""
    values = {key: value for key, value in table.items() if key != "order"}
    expect = values.pop("expect", {})
    expect["contains"] = tuple(expect.get("contains", ()))
    expect["holes"] = tuple((start, end) for start, end in expect.get("holes", ()))
    try:
        return Course(name=name, expect=Expectation(**expect), **values)
    except TypeError as error:
        raise UsageError(f"course {name}: {error}") from error


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file as a table; its name stands in the message when it is broken."""
    try:
        return tomllib.loads(path.read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: {error}") from error
