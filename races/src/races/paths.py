"""Where the lab's files are: entrants and courses in the project, results and environments in it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from races.errors import UsageError


@dataclass(frozen=True, slots=True)
class Paths:
    """All folders, from the project's root."""

    project: Path

    @property
    def entrants(self) -> Path:
        return self.project / "races" / "entrants"

    @property
    def courses(self) -> Path:
        return self.project / "races" / "courses"

    @property
    def results(self) -> Path:
        return self.project / "results"

    @property
    def environments(self) -> Path:
        return self.project / "var" / "envs"


def find_project() -> Paths:
    """The checkout: `TARMAC_PROJECT`, else the nearest parent that holds `races/entrants`."""
    named = os.environ.get("TARMAC_PROJECT")
    starts = [Path(named)] if named else [Path.cwd(), Path(__file__).resolve()]
    for start in starts:
        for folder in [start, *start.parents]:
            if (folder / "races" / "entrants").is_dir():
                return Paths(folder)
    raise UsageError("no races/entrants here: run inside the checkout or set TARMAC_PROJECT")
