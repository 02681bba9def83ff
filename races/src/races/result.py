"""The record of a race: written after every heat, so that a stopped race is still a result."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from races.errors import UsageError
from races.heat import Heat

SCHEMA = 1


@dataclass(slots=True)
class Result:
    """Everything the report needs, as plain JSON values."""

    head: dict[str, Any]
    heats: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[dict[str, str]] = field(default_factory=list)

    @property
    def courses(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = self.head["courses"]
        return found

    @property
    def entrants(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = self.head["entrants"]
        return found

    def leave_out(self, what: str, why: str) -> None:
        """Note something that does not race; said once."""
        note = {"what": what, "why": why}
        if note not in self.left_out:
            self.left_out.append(note)

    def as_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            **self.head,
            "left_out": self.left_out,
            "heats": self.heats,
        }


def heat_as_json(heat: Heat, raw: str) -> dict[str, Any]:
    """A heat as it stands in the file; `raw` names the file with the generator's own words."""
    table = asdict(heat)
    del table["output"]
    table["findings"] = [{"flag": found.flag.value, "why": found.why} for found in heat.findings]
    table["cpu_per_request"] = heat.cpu_per_request
    table["raw"] = raw
    return table


class Keeper:
    """Keeps one race's folder: `result.json` replaced in one step after each heat."""

    def __init__(self, results: Path, stamp: str) -> None:
        self.folder = results / stamp
        (self.folder / "raw").mkdir(parents=True)
        self._point_latest(results, stamp)

    @staticmethod
    def _point_latest(results: Path, stamp: str) -> None:
        latest = results / "latest"
        beside = results / f".latest-{os.getpid()}"
        beside.unlink(missing_ok=True)
        beside.symlink_to(stamp)
        beside.replace(latest)

    def keep_raw(self, heat: Heat) -> str:
        """The generator's own words, in a file of their own."""
        name = f"raw/{heat.course}-{_plain(heat.entrant)}-{heat.round:02}.txt"
        text = f"$ {' '.join(heat.load_command)}\n\n{heat.output}\n"
        (self.folder / name).write_text(text)
        return name

    def flush(self, result: Result) -> None:
        """Write `result.json`; a reader never sees half of it."""
        beside = self.folder / "result.json.new"
        beside.write_text(json.dumps(result.as_json(), indent=1))
        beside.replace(self.folder / "result.json")


def load_result(path: Path) -> Result:
    """Read a result file or the folder that holds it."""
    file = path / "result.json" if path.is_dir() else path
    try:
        table: Mapping[str, Any] = json.loads(file.read_text())
    except (OSError, json.JSONDecodeError) as error:
        raise UsageError(f"{file}: {error}") from error
    if table.get("schema") != SCHEMA:
        raise UsageError(f"{file}: schema {table.get('schema')!r}, this lab reads {SCHEMA}")
    head = {key: value for key, value in table.items() if key not in {"schema", "heats", "left_out"}}
    return Result(head, list(table["heats"]), list(table["left_out"]))


def _plain(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)
