"""Entrants: the stacks that race. `entrants/<name>/entrant.toml` says how one is set up.

A file may say `extends = "other"`: keys of tables are merged one by one, everything else is
replaced. `abstract = true` marks a file that is only extended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from races.course import read_toml
from races.errors import UsageError

MAX_INHERITANCE = 3
PROJECT_ENVIRONMENT = "project"


@dataclass(frozen=True, slots=True)
class Entrant:
    """One stack: what serves, on which loop, with which store and driver."""

    name: str
    folder: Path
    title: str
    command: tuple[str, ...]
    options: tuple[str, ...] = ()
    engine: str = ""
    loop: str = ""
    store: str = "none"
    driver: str = ""
    requests: str = ""
    python: tuple[str, ...] = ()
    workers: int = 1
    environment: str = "own"
    requirements: str = "requirements.txt"
    variables: Mapping[str, str] = field(default_factory=dict)
    ready_seconds: float = 15.0
    courses: tuple[str, ...] = ()
    deviations: tuple[str, ...] = ()
    report_versions: tuple[str, ...] = ()

    @property
    def requirements_file(self) -> Path:
        return self.folder / self.requirements

    def runs(self, course: str) -> bool:
        """Whether the entrant has this course's page; no list means it has all."""
        return not self.courses or course in self.courses


def load_entrants(folder: Path) -> dict[str, Entrant]:
    """All concrete entrants by name."""
    tables = {path.parent.name: read_toml(path) for path in sorted(folder.glob("*/entrant.toml"))}
    return {
        name: entrant_from(name, folder, tables) for name, table in tables.items() if not table.get("abstract", False)
    }


def entrant_from(name: str, folder: Path, tables: Mapping[str, dict[str, Any]]) -> Entrant:
    """Build one entrant with what it inherits, refusing keys that nobody reads."""
    values = resolve(name, tables)
    home = values.pop("home")
    values.pop("extends", None)
    values.pop("abstract", None)
    for key, value in values.items():
        if isinstance(value, list):
            values[key] = tuple(value)
    try:
        return Entrant(name=name, folder=folder / home, **values)
    except TypeError as error:
        raise UsageError(f"entrant {name}: {error}") from error


def resolve(name: str, tables: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Merge the chain of `extends`; `home` is the nearest file that names requirements."""
    chain = [name]
    while parent := tables[chain[-1]].get("extends"):
        if parent not in tables or parent in chain or len(chain) == MAX_INHERITANCE:
            raise UsageError(f"entrant {chain[-1]}: cannot extend {parent!r}")
        chain.append(parent)
    merged: dict[str, Any] = {"home": name}
    for link in reversed(chain):
        if "requirements" in tables[link]:
            merged["home"] = link
        for key, value in tables[link].items():
            old = merged.get(key)
            merged[key] = {**old, **value} if isinstance(old, dict) else value
    merged.pop("abstract", None)
    return merged


def fill(parts: tuple[str, ...], values: Mapping[str, str]) -> list[str]:
    """Put values into `{port}`, `{python}`, `{folder}`...; an unknown name is a usage error."""
    try:
        return [part.format_map(values) for part in parts]
    except KeyError as error:
        raise UsageError(f"unknown placeholder {error} in {' '.join(parts)}") from error
