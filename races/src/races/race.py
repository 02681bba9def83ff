"""The race itself: prepare, check, warm, run rounds, keep every heat, end in good order."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from races import __version__
from races.ceiling import measure_ceilings
from races.course import Course, load_courses
from races.entrant import load_entrants
from races.environment import prepare
from races.errors import CannotRunHere, LabError
from races.heat import Conditions, Lane, check_lane, run_heat
from races.loads import choose_generator
from races.machine import describe_machine
from races.paths import Paths
from races.placement import place
from races.plan import MINIMUM_ROUNDS, TWIN_SUFFIX, Slot, Wish, draw_block, pick
from races.process import confined
from races.result import Keeper, Result, heat_as_json
from races.show.show import Progress, Show
from races.stores import store_kind


class Race:
    """One race from wish to result. `result` is valid at any time."""

    def __init__(self, wish: Wish, paths: Paths, show: Show, command: list[str]) -> None:
        self.wish, self.paths, self.show = wish, paths, show
        entrants, courses = load_entrants(paths.entrants), load_courses(paths.courses)
        pick("entrant", wish.entrants, entrants)
        pick("course", wish.courses, courses)
        if wish.reference:
            pick("reference", [wish.reference], {name: entrants[name] for name in wish.entrants})
        self.entrants = {name: entrants[name] for name in wish.entrants}
        self.courses = {name: adjust(courses[name], wish) for name in wish.courses}
        generator, missing = choose_generator(wish.generator, paths.project)
        self.conditions = Conditions(paths.project, place(), generator)
        self.begun = time.monotonic()
        self.lanes: dict[str, Lane] = {}
        self.banned: set[tuple[str, str]] = set()
        self.result = Result(self._head(command))
        for name, why in missing:
            self.leave_out(f"load generator {name}", why)

    def run(self) -> tuple[Result, Keeper]:
        """Race; a Ctrl-C ends it after the heats that are done, marked as not complete."""
        started = datetime.now(UTC)
        keeper = Keeper(self.paths.results, started.strftime("%Y-%m-%d-%H%M%S"))
        self.result.head["started"] = started.isoformat(timespec="seconds")
        try:
            self._prepare_lanes()
            self._check_contracts()
            self._measure_ceilings()
            with confined({*self.conditions.placement.load, *self.conditions.placement.store}):
                self._run_rounds(keeper)
            self.result.head["complete"] = True
        except KeyboardInterrupt:
            self.leave_out("the rest of the race", "stopped by the keyboard")
        finally:
            finished = datetime.now(UTC)
            self.result.head["finished"] = finished.isoformat(timespec="seconds")
            keeper.flush(self.result)
        return self.result, keeper

    def leave_out(self, what: str, why: str) -> None:
        self.result.leave_out(what, why)
        self.show.left_out(what, why)

    def _head(self, command: list[str]) -> dict[str, object]:
        conditions = self.conditions
        return {
            "lab": __version__,
            "command": command,
            "complete": False,
            "machine": describe_machine(self.paths.project),
            "placement": conditions.placement.sentence,
            "generator": {
                "name": conditions.generator.name,
                "version": conditions.generator.version,
                "checks": conditions.generator.checks,
            },
            "seed": self.wish.seed,
            "rounds": self.wish.rounds,
            "reference": self.wish.reference or self.wish.entrants[0],
            "ceilings": {},
            "courses": {name: course_as_json(course) for name, course in self.courses.items()},
            "entrants": {},
        }

    def _prepare_lanes(self) -> None:
        """Environments and stores; what cannot run here is left out with its reason."""
        for name, entrant in self.entrants.items():
            self.show.stage(f"preparing {entrant.title}")
            try:
                store_version = store_kind(entrant.store).check(self.paths.project)
                environment = prepare(entrant, self.paths)
            except CannotRunHere as reason:
                self.leave_out(entrant.title, str(reason))
                continue
            self.lanes[name] = Lane(name, entrant, environment)
            self._describe_lane(self.lanes[name], store_version)
        if not self.lanes:
            raise LabError("no entrant can run here")
        self._choose_reference()

    def _choose_reference(self) -> None:
        if self.result.head["reference"] not in self.lanes:
            self.result.head["reference"] = next(iter(self.lanes))
        if not self.wish.twin:
            return
        lane = self.lanes[str(self.result.head["reference"])]
        twin = replace(lane, name=lane.name + TWIN_SUFFIX, twin_of=lane.name)
        self.lanes[twin.name] = twin
        self._describe_lane(twin, self.result.entrants[lane.name]["store version"])

    def _describe_lane(self, lane: Lane, store_version: str) -> None:
        entrant, versions = lane.entrant, lane.environment.versions
        wanted = {key: versions[key] for key in entrant.report_versions if key in versions}
        self.result.entrants[lane.name] = {
            "title": entrant.title + (TWIN_SUFFIX if lane.twin_of else ""),
            "engine": entrant.engine,
            "loop": entrant.loop,
            "store": entrant.store,
            "store version": store_version,
            "driver": entrant.driver,
            "requests": entrant.requests,
            "workers": entrant.workers,
            "python": versions["python"],
            "versions": wanted,
            "environment": dict(sorted(versions.items())),
            "deviations": list(entrant.deviations),
            "command": [*entrant.command, *entrant.options],
            "twin_of": lane.twin_of,
        }

    def _check_contracts(self) -> None:
        """Nobody races who answers wrongly without load."""
        generator = self.conditions.generator
        for lane in [each for each in self.lanes.values() if not each.twin_of]:
            self.show.stage(f"checking the answers of {lane.entrant.title}")
            courses = [course for course in self.courses.values() if lane.entrant.runs(course.name)]
            wrong = check_lane(lane, courses, self.conditions)
            for course in courses:
                if why := generator.refuses(course) or wrong.get(course.name):
                    self._ban(lane, course, why)

    def _ban(self, lane: Lane, course: Course, why: str) -> None:
        self.banned.add((lane.name, course.name))
        self.leave_out(f"{lane.entrant.title} on {course.title}", why)

    def _measure_ceilings(self) -> None:
        ceilings: Mapping[str, float] = {}
        self.show.stage("measuring what a server that does nothing reaches here")
        try:
            ceilings = measure_ceilings(self.courses.values(), self.conditions)
        except CannotRunHere as reason:
            self.leave_out("the ceiling of a server that does nothing", str(reason))
        self.result.head["ceilings"] = dict(ceilings)
        self.conditions = replace(self.conditions, ceilings=ceilings)

    def lanes_of(self, course: str) -> list[str]:
        """Who starts on this course: not those banned, nor the twin of a banned one."""
        return [
            lane.name
            for lane in self.lanes.values()
            if lane.entrant.runs(course) and (lane.twin_of or lane.name, course) not in self.banned
        ]

    def _run_rounds(self, keeper: Keeper) -> None:
        racing = time.monotonic()
        for number in range(1, self.wish.rounds + 1):
            round_begun = time.monotonic()
            block = self._block(number)
            for place_in_block, slot in enumerate(block):
                if slot.lane not in self.lanes_of(slot.course):
                    continue
                self.show.heat_begins(slot, self._progress(number, place_in_block, len(block), racing))
                self._run_slot(slot, keeper)
            if self._budget_ends(number, time.monotonic() - round_begun):
                break

    def _block(self, number: int) -> list[Slot]:
        drawn = draw_block(number, list(self.courses), list(self.lanes), self.wish.seed)
        return [slot for slot in drawn if slot.lane in self.lanes_of(slot.course)]

    def _run_slot(self, slot: Slot, keeper: Keeper) -> None:
        lane, course = self.lanes[slot.lane], self.courses[slot.course]
        heat = run_heat(lane, course, slot.round, self.conditions)
        self.result.heats.append(heat_as_json(heat, keeper.keep_raw(heat)))
        keeper.flush(self.result)
        self.show.heat_ends(heat, self.result)

    def _progress(self, number: int, done: int, block: int, racing: float) -> Progress:
        """Time left, judged by the heats so far."""
        heats_done = (number - 1) * block + done
        heats = self.wish.rounds * block
        elapsed = time.monotonic() - racing
        left = elapsed / heats_done * (heats - heats_done) if heats_done else math.nan
        if self.wish.budget is not None:
            left = min(left, max(0.0, self.begun + self.wish.budget - time.monotonic()))
        return Progress(number, self.wish.rounds, heats_done, heats, left)

    def _budget_ends(self, number: int, latest: float) -> bool:
        """Whether a round as long as the latest would not fit; a few are run in any case."""
        if self.wish.budget is None or number >= self.wish.rounds or number < MINIMUM_ROUNDS:
            return False
        if time.monotonic() - self.begun + latest <= self.wish.budget:
            return False
        self.leave_out(
            f"rounds {number + 1} to {self.wish.rounds}",
            f"the time budget of {self.wish.budget:.0f} s was spent",
        )
        return True


def adjust(course: Course, wish: Wish) -> Course:
    """The course with what the command line overrides."""
    overrides = {
        "seconds": wish.seconds,
        "warmup": wish.warmup,
        "connections": wish.connections,
        "depth": wish.depth,
    }
    return replace(course, **{key: value for key, value in overrides.items() if value is not None})  # type: ignore[arg-type]


def course_as_json(course: Course) -> dict[str, object]:
    """A course as it stands in the result."""
    return {
        "title": course.title,
        "summary": course.summary,
        "method": course.method,
        "path": course.path,
        "connections": course.connections,
        "depth": course.depth,
        "seconds": course.seconds,
        "warmup": course.warmup,
        "work": {style: dict(work) for style, work in course.work.items()},
    }
