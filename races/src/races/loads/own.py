"""tarmac-load, the project's own generator: every answer checked, pipelining, JSON."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from races.course import Course
from races.errors import CannotRunHere
from races.loads.generator import Measurement, Target

PROGRAM = "tarmac-load"


def find_program(project: Path) -> str:
    """`TARMAC_LOAD`, else what cargo built in the checkout, else the path."""
    named = os.environ.get("TARMAC_LOAD")
    built = project / "target" / "release" / PROGRAM
    for candidate in (named, str(built), shutil.which(PROGRAM)):
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    raise CannotRunHere("not built (cargo build --release -p load)")


@dataclass(frozen=True, slots=True)
class OwnGenerator:
    program: str
    version: str
    name: str = PROGRAM
    checks: str = "status, length and template of every response"

    @classmethod
    def find(cls, project: Path) -> Self:
        program = find_program(project)
        raise CannotRunHere("being written")

    def refuses(self, course: Course) -> str | None:
        return None

    def run(self, target: Target) -> Measurement:
        raise NotImplementedError
