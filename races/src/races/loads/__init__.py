"""Load generators: programs that ask, check the answers and report. One file each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from races.errors import CannotRunHere
from races.loads.generator import Generator, Measurement, Target
from races.loads.own import OwnGenerator
from races.loads.wrk import WrkGenerator

__all__ = ["GENERATORS", "Generator", "Measurement", "Target", "choose_generator"]

GENERATORS: dict[str, type[OwnGenerator | WrkGenerator]] = {
    "tarmac-load": OwnGenerator,
    "wrk": WrkGenerator,
}


def choose_generator(wished: str | None, project: Path) -> tuple[Generator, list[tuple[str, str]]]:
    """The wished one, else the first that is here; with it, what is missing and why."""
    names: Sequence[str] = [wished] if wished else list(GENERATORS)
    missing: list[tuple[str, str]] = []
    for name in names:
        try:
            return GENERATORS[name].find(project), missing
        except CannotRunHere as reason:
            missing.append((name, str(reason)))
    raise CannotRunHere("; ".join(f"{name}: {why}" for name, why in missing))
