"""One heat: a fresh store and server, a warm-up, one measured run, and everything about it."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from races import proc
from races.client import Client
from races.contract import check_contract, check_reply
from races.course import Course
from races.entrant import Entrant, fill
from races.environment import Environment
from races.errors import LabError
from races.flags import (
    Answers,
    Finding,
    Flag,
    GeneratorUse,
    HostUse,
    Work,
    check_answers,
    check_generator,
    check_host,
    check_work,
)
from races.loads import Generator, Measurement, Target
from races.placement import Placement
from races.process import Group, free_port
from races.stores import Store, store_kind

BACKGROUND_PER_SECOND = 10
"""Store operations a second that the site's own timers (statistics, expiry) may add."""


@dataclass(frozen=True, slots=True)
class Lane:
    """An entrant under the name it races by (the twin is a second lane of the same entrant)."""

    name: str
    entrant: Entrant
    environment: Environment
    twin_of: str | None = None


@dataclass(frozen=True, slots=True)
class Conditions:
    """What all heats of a race share."""

    project: Path
    placement: Placement
    generator: Generator
    ceilings: Mapping[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Running:
    """A server with its store, ready for load."""

    server: Group
    store: Store
    port: int
    folder: Path


@dataclass(frozen=True, slots=True)
class Heat:
    """The record of one heat. Seconds, microseconds for latency, bytes for memory.

    `good` answers came within the measured time; `answered` are all right answers that the
    server gave between the two readings of its CPU time.
    """

    course: str
    entrant: str
    round: int
    started: float
    seconds: float
    good: int
    answered: int
    wrong: int
    errors: int
    rate: float
    cpu: Mapping[str, float]
    memory: Mapping[str, int]
    busy: Mapping[str, float]
    latency: Mapping[str, float]
    work: Mapping[str, Any]
    findings: tuple[Finding, ...]
    server_command: tuple[str, ...]
    load_command: tuple[str, ...]
    output: str

    @property
    def cpu_per_request(self) -> dict[str, float]:
        """Microseconds of each role for one verified request."""
        if self.answered == 0:
            return {}
        return {role: seconds / self.answered * 1e6 for role, seconds in self.cpu.items()}


@contextlib.contextmanager
def running(lane: Lane, conditions: Conditions) -> Iterator[Running]:
    """Start store and server on their cores in a folder of their own; end and forget both."""
    entrant, placement = lane.entrant, conditions.placement
    with tempfile.TemporaryDirectory(prefix="race-") as name:
        folder = Path(name)
        kind = store_kind(entrant.store)
        store = kind.start(conditions.project, folder, placement.store)
        try:
            port = free_port()
            values = {
                "port": str(port),
                "python": str(lane.environment.python),
                "bin": str(lane.environment.python.parent),
                "folder": str(folder),
                "entrant": str(entrant.folder),
                "project": str(conditions.project),
                "workers": str(entrant.workers),
                **store.placeholders,
            }
            variables = {key: fill((value,), values)[0] for key, value in entrant.variables.items()}
            server = Group(
                fill(entrant.command + entrant.options, values),
                cores=placement.server,
                log=folder / "server.log",
                environment={**os.environ, **variables},
                folder=folder,
            )
            with server:
                server.wait_for_port(port, entrant.ready_seconds)
                yield Running(server, store, port, folder)
        finally:
            store.stop()


def check_lane(lane: Lane, courses: Iterable[Course], conditions: Conditions) -> dict[str, str]:
    """The contract of several courses on one fresh server: what is wrong, by course."""
    wanted = list(courses)
    try:
        with running(lane, conditions) as started:
            found = {course.name: check_contract(started.port, course) for course in wanted}
    except LabError as error:
        return {course.name: str(error) for course in wanted}
    return {name: "; ".join(problems) for name, problems in found.items() if problems}


def run_heat(lane: Lane, course: Course, number: int, conditions: Conditions) -> Heat:
    """One measured run; one that cannot be finished is a heat without answers and with a reason."""
    begun = time.time()
    try:
        return _run(lane, course, number, conditions, begun)
    except LabError as error:
        return _failed(lane, course, number, begun, str(error))


def _run(lane: Lane, course: Course, number: int, conditions: Conditions, begun: float) -> Heat:
    """The window opens after the warm-up and closes with the generator."""
    cores = conditions.placement.load
    with running(lane, conditions) as started:
        right_body = _keep_right_body(started, course)
        target = Target(started.port, course, course.seconds, cores, right_body)
        conditions.generator.run(replace(target, seconds=course.warmup))
        before = _snapshot(started)
        measured = conditions.generator.run(target)
        after = _snapshot(started)
        memory = {"server": started.server.peak_memory(), "store": started.store.peak_memory()}
        command = tuple(started.server.command)
    return _record(_Facts(lane, course, number, begun, measured, before, after, memory, command), conditions)


def _failed(lane: Lane, course: Course, number: int, begun: float, why: str) -> Heat:
    """Nothing to measure, but something to say."""
    nothing = {"server": 0.0, "store": 0.0, "generator": 0.0}
    return Heat(
        course=course.name,
        entrant=lane.name,
        round=number,
        started=begun,
        seconds=0.0,
        good=0,
        answered=0,
        wrong=0,
        errors=0,
        rate=0.0,
        cpu=nothing,
        memory={"server": 0, "store": 0},
        busy={**nothing, "foreign": 0.0, "steal": 0.0},
        latency={},
        work={},
        findings=(Finding(Flag.ERRORS, why),),
        server_command=lane.entrant.command + lane.entrant.options,
        load_command=(),
        output=why,
    )


def _keep_right_body(started: Running, course: Course) -> Path:
    """One visit before the load; its body, once it passed the contract, is the heat's standard."""
    try:
        with Client(started.port) as client:
            reply = client.get(course.path)
    except OSError as error:
        raise LabError(f"the first visit failed: {error}; the server {started.server.state()}") from error
    if problems := check_reply(reply, course):
        raise LabError("; ".join(problems))
    file = started.folder / "right-body"
    file.write_bytes(reply.body)
    return file


@dataclass(frozen=True, slots=True)
class _Snapshot:
    at: float
    server: float
    store: float
    lab: float
    machine: proc.CoreTimes
    counters: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Facts:
    lane: Lane
    course: Course
    number: int
    begun: float
    measured: Measurement
    before: _Snapshot
    after: _Snapshot
    memory: Mapping[str, int]
    server_command: tuple[str, ...]


def _snapshot(started: Running) -> _Snapshot:
    own = os.times()
    return _Snapshot(
        at=time.monotonic(),
        server=started.server.cpu(),
        store=started.store.cpu(),
        lab=own.user + own.system,
        machine=proc.machine_times(),
        counters=started.store.counters(),
    )


def _record(facts: _Facts, conditions: Conditions) -> Heat:
    measured, before, after = facts.measured, facts.before, facts.after
    cpu = {
        "server": after.server - before.server,
        "store": after.store - before.store,
        "generator": measured.cpu,
    }
    wall = after.at - before.at
    busy = {role: seconds / wall for role, seconds in cpu.items()}
    cores = os.cpu_count() or 1
    ours = sum(cpu.values()) + (after.lab - before.lab)
    machine = after.machine.busy - before.machine.busy
    host = HostUse(
        foreign=max(0.0, machine - ours) / (wall * cores),
        steal=(after.machine.steal - before.machine.steal) / (wall * cores),
    )
    work = _work(facts, wall)
    shares = conditions.placement.load_shares_with_store
    use = GeneratorUse(
        generator_busy=busy["generator"],
        shared_core_busy=busy["generator"] + (busy["store"] if shares else 0.0),
        rate=measured.rate,
        ceiling=conditions.ceilings.get(facts.course.name),
    )
    answers = Answers(measured.good, measured.wrong, measured.errors)
    findings = check_answers(answers) + check_generator(use) + check_host(host)
    if work is not None:
        findings += check_work(work)
    return Heat(
        course=facts.course.name,
        entrant=facts.lane.name,
        round=facts.number,
        started=facts.begun,
        seconds=measured.seconds,
        good=measured.good,
        answered=measured.good + measured.good_outside,
        wrong=measured.wrong,
        errors=measured.errors,
        rate=measured.rate,
        cpu=cpu,
        memory=facts.memory,
        busy={**busy, "foreign": host.foreign, "steal": host.steal},
        latency=measured.latency,
        work={} if work is None else _work_table(work),
        findings=tuple(findings),
        server_command=facts.server_command,
        load_command=tuple(measured.command),
        output=measured.output,
    )


def _work(facts: _Facts, wall: float) -> Work | None:
    """What the store owes and counted; None where page or store cannot tell."""
    entrant, course = facts.lane.entrant, facts.course
    owed = course.work.get(entrant.requests)
    if owed is None or not facts.after.counters:
        return None
    counted = {name: count - facts.before.counters.get(name, 0) for name, count in facts.after.counters.items()}
    return Work(
        per_request=owed,
        counted=counted,
        good=facts.measured.good + facts.measured.good_outside,
        # A generator that stops in the middle leaves requests behind, at the warm-up's end too.
        unfinished=0 if facts.measured.waits_for_all else 2 * course.in_flight,
        # A flow may end between its steps, and a visitor's first page costs more than the next.
        uneven=2 * course.in_flight if course.scenario else 0,
        background=round(BACKGROUND_PER_SECOND * wall),
    )


def _work_table(work: Work) -> dict[str, Any]:
    return {
        "per_request": dict(work.per_request),
        "owed": {name: round(each * work.good) for name, each in work.per_request.items()},
        "counted": {name: work.counted.get(name, 0) for name in work.per_request},
    }
