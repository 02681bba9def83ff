"""Slots: contenders take turns of about a second within one run, in a shuffled order each round."""

import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.errors import Broken
from harness.meter import Meter
from harness.results import Experiment, Sample
from harness.wrk import Load, press

STARVED = 0.7  # a loaded pair in which nobody reaches this share of a core waits for somebody else

_order = random.Random(20)  # the same shuffles in every run


@dataclass(frozen=True)
class Turn:
    """What one contender does in its slot."""

    contender: str
    slot: Callable[[], Sample]


def alternate(experiment: Experiment, turns: Sequence[Turn], rounds: int) -> None:
    """One warm-up slot each, then *rounds* rounds of one slot each.

    A contender that dies or answers wrongly loses this experiment and leaves the others alone.
    """
    say(f"{experiment.name}: {', '.join(turn.contender for turn in turns) or 'nobody'}")
    alive = [turn for turn in turns if _taken(experiment, turn)]
    for contender in list(experiment.samples):
        experiment.samples[contender].clear()  # the warm-up is no evidence
    for _ in range(rounds):
        alive = [turn for turn in _order.sample(alive, len(alive)) if _taken(experiment, turn)]


def _taken(experiment: Experiment, turn: Turn) -> bool:
    try:
        experiment.add(turn.contender, turn.slot())
    except Broken as error:
        say(f"{turn.contender} is broken: {error}")
        experiment.fail(turn.contender, str(error))
        return False
    return True


def http_slot(meter: Meter, url: str, load: Load) -> Sample:
    """One slot of wrk against the server that *meter* watches."""
    before, started = meter.read(), time.perf_counter()
    pressed = press(url, load)
    used, wall = meter.read().since(before), time.perf_counter() - started
    done = max(pressed.requests, 1)
    subject, generator = used.microseconds / 1e6 / wall, pressed.generator_cpu_seconds / wall
    return Sample(
        operations=pressed.requests,
        cpu=used.microseconds / done,
        rate=pressed.requests / pressed.seconds,
        instructions=None if used.instructions is None else used.instructions / done,
        p50=pressed.p50,
        subject_share=subject,
        generator_share=generator,
        errors=pressed.errors,
        starved=load.connections > 1 and max(subject, generator) < STARVED,
    )


def say(line: str) -> None:
    """Progress, apart from the results."""
    print(line, file=sys.stderr, flush=True)
