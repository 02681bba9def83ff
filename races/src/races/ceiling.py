"""The ceiling: how much the generator gets from a server that does nothing, per course shape."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from races.course import Course, Expectation
from races.errors import CannotRunHere, LabError
from races.heat import Conditions
from races.loads import Target
from races.loads.own import find_program
from races.process import Group, free_port

CEILING_SECONDS = 1.0


def measure_ceilings(courses: Iterable[Course], conditions: Conditions) -> dict[str, float]:
    """Requests per second by course; courses of one shape (connections, depth) share a run."""
    program = find_program(conditions.project)
    by_shape: dict[tuple[int, int], float] = {}
    ceilings: dict[str, float] = {}
    for course in courses:
        shape = (course.connections, course.depth)
        if shape not in by_shape:
            by_shape[shape] = _run(program, course, conditions)
        ceilings[course.name] = by_shape[shape]
    return ceilings


def _run(program: str, course: Course, conditions: Conditions) -> float:
    port = free_port()
    command = [program, "serve-null", "--port", str(port)]
    plain = replace(course, path="/", method="GET", scenario="", expect=Expectation(200))
    with tempfile.TemporaryDirectory(prefix="race-null-") as folder:
        log = Path(folder) / "null.log"
        with Group(command, cores=conditions.placement.server, log=log) as server:
            try:
                server.wait_for_port(port, 5.0)
                target = Target(port, plain, CEILING_SECONDS, conditions.placement.load)
                return conditions.generator.run(target).rate
            except LabError as error:
                raise CannotRunHere(f"serve-null: {error}") from error
