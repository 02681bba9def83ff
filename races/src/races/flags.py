"""What makes a heat doubtful. Each flag says why, and which figures it voids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

GENERATOR_BUSY_LIMIT = 0.85
SHARED_CORE_LIMIT = 0.95
CEILING_LIMIT = 0.70
FOREIGN_CPU_LIMIT = 0.10
STEAL_LIMIT = 0.02


class Flag(StrEnum):
    """Names as they stand in results."""

    GEN_SATURATED = "GEN_SATURATED"
    ERRORS = "ERRORS"
    WRONG_ANSWERS = "WRONG_ANSWERS"
    WORK_MISMATCH = "WORK_MISMATCH"
    HOST_NOISY = "HOST_NOISY"


# A saturated generator or a busy neighbour says nothing about the work that a request costs the
# server: CPU per request stays comparable. Wrong answers void everything.
VOIDS_THROUGHPUT = frozenset(Flag)
VOIDS_CPU = frozenset({Flag.ERRORS, Flag.WRONG_ANSWERS, Flag.WORK_MISMATCH})


@dataclass(frozen=True, slots=True)
class Finding:
    """A flag with the sentence that explains it."""

    flag: Flag
    why: str


@dataclass(frozen=True, slots=True)
class Answers:
    """What the generator saw: good + wrong + errors are all the answers that were due."""

    good: int
    wrong: int
    errors: int


def check_answers(answers: Answers) -> list[Finding]:
    """ERRORS for broken or missing answers, WRONG_ANSWERS for well-formed but different ones."""
    findings: list[Finding] = []
    if answers.errors > 0:
        findings.append(Finding(Flag.ERRORS, f"{answers.errors} requests failed"))
    if answers.wrong > 0:
        findings.append(Finding(Flag.WRONG_ANSWERS, f"{answers.wrong} answers were wrong"))
    if answers.good == 0:
        findings.append(Finding(Flag.ERRORS, "no good answer at all"))
    return findings


@dataclass(frozen=True, slots=True)
class GeneratorUse:
    """Shares of one core (0 to 1), and how near the result came to a server that does nothing."""

    generator_busy: float
    shared_core_busy: float
    rate: float
    ceiling: float | None


def check_generator(use: GeneratorUse) -> list[Finding]:
    """GEN_SATURATED when the load side, not the server, may have set the pace."""
    if use.generator_busy > GENERATOR_BUSY_LIMIT:
        why = f"the generator used {use.generator_busy:.0%} of its core"
    elif use.shared_core_busy > SHARED_CORE_LIMIT:
        why = f"generator and store together used {use.shared_core_busy:.0%} of their core"
    elif use.ceiling is not None and use.rate > CEILING_LIMIT * use.ceiling:
        why = f"{use.rate / use.ceiling:.0%} of what a server that does nothing reaches here"
    else:
        return []
    return [Finding(Flag.GEN_SATURATED, why)]


@dataclass(frozen=True, slots=True)
class HostUse:
    """Shares of the whole machine that others took during the heat."""

    foreign: float
    steal: float


def check_host(use: HostUse) -> list[Finding]:
    """HOST_NOISY when other programs, or the machine's own host, took the CPU away."""
    if use.steal > STEAL_LIMIT:
        return [Finding(Flag.HOST_NOISY, f"the hypervisor took {use.steal:.0%} of the machine")]
    if use.foreign > FOREIGN_CPU_LIMIT:
        return [Finding(Flag.HOST_NOISY, f"other programs used {use.foreign:.0%} of the machine")]
    return []


@dataclass(frozen=True, slots=True)
class Work:
    """Store operations: how many each page owes, how many the store counted.

    `unfinished` requests were worked on but not counted as answered; `uneven` says how far the
    requests of a flow may be from an equal mix; `background` is what the site's timers may add.
    """

    per_request: Mapping[str, float]
    counted: Mapping[str, int]
    good: int
    unfinished: int
    uneven: int
    background: int


def check_work(work: Work) -> list[Finding]:
    """WORK_MISMATCH when the store did fewer or more operations than the good answers owe."""
    findings: list[Finding] = []
    for operation, per_request in work.per_request.items():
        least = per_request * (work.good - work.uneven)
        most = per_request * (work.good + work.unfinished + work.uneven) + work.background
        counted = work.counted.get(operation, 0)
        if not least <= counted <= most:
            expected = f"{least:.0f}" if least == most else f"{least:.0f} to {most:.0f}"
            why = f"{operation}: {counted} counted, {expected} owed"
            findings.append(Finding(Flag.WORK_MISMATCH, why))
    return findings
