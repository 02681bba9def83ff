"""What will race: lanes, courses and their order, decided before the first heat."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from races.course import Course
from races.entrant import Entrant
from races.errors import UsageError

QUICK_FIELDS = (
    ("tarmac-tarantool", "aiohttp-asynctnt", "fastapi-asynctnt"),
    ("tarmac-sqlite", "aiohttp-sqlite", "fastapi-sqlite"),
)
"""The quick race: the field on Tarantool and, where that is missing, the same on SQLite."""

QUICK_COURSES = ("good", "index", "ugly")
QUICK_BUDGET = 255.0
QUICK_ROUNDS = 6
QUICK_SECONDS = 1.5
QUICK_WARMUP = 0.5
MINIMUM_ROUNDS = 3
TWIN_SUFFIX = " (twin)"


@dataclass(frozen=True, slots=True)
class Wish:
    """What the person asked for. `budget` seconds end the race after a complete round."""

    entrants: tuple[str, ...]
    courses: tuple[str, ...]
    rounds: int
    reference: str | None = None
    generator: str | None = None
    seconds: float | None = None
    warmup: float | None = None
    connections: int | None = None
    depth: int | None = None
    budget: float | None = None
    seed: int = 1
    twin: bool = True


@dataclass(frozen=True, slots=True)
class Slot:
    """One heat to come, by names."""

    round: int
    course: str
    lane: str


def draw_block(number: int, courses: Sequence[str], lanes: Sequence[str], seed: int) -> list[Slot]:
    """One round: every course, and in each every lane once, in an order drawn anew.

    The draw depends only on seed and round, so that a race can be repeated exactly.
    """
    chooser = random.Random(f"{seed}/{number}")
    slots: list[Slot] = []
    for course in chooser.sample(list(courses), len(courses)):
        order = chooser.sample(list(lanes), len(lanes))
        slots += [Slot(number, course, lane) for lane in order]
    return slots


def pick(kind: str, names: Sequence[str], among: dict[str, Entrant] | dict[str, Course]) -> None:
    """Refuse names that do not exist, saying which do."""
    unknown = [name for name in names if name not in among]
    if unknown:
        raise UsageError(f"unknown {kind} {', '.join(unknown)}; there are: {', '.join(among)}")
