"""What a run has found: samples by experiment and contender, claims judged on them, and what was skipped and why."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from harness.paths import PROJECT
from harness.statistics import Spread, paired_ratio, spread

Metric = Literal["cpu", "instructions", "rate", "p50", "value", "subject_share"]
Verdict = Literal["yes", "no", "unresolved", "skipped"]

SATURATED = 0.85  # share of its core above which a process is taken to be the limit


@dataclass(frozen=True)
class Sample:
    """One slot: what one contender did in it. CPU in microseconds per operation, rate in operations per second."""

    operations: int
    cpu: float
    rate: float
    instructions: float | None = None
    p50: float | None = None
    value: float | None = None
    subject_share: float | None = None
    generator_share: float | None = None
    errors: int = 0
    starved: bool = False  # neither this process nor its load had its core: others use the machine

    def of(self, metric: Metric) -> float | None:
        number: float | None = getattr(self, metric)
        return number

    @property
    def generator_limited(self) -> bool:
        return (self.generator_share or 0) > SATURATED and (self.subject_share or 1) < SATURATED


@dataclass
class Experiment:
    """Contenders under one load, alternating."""

    name: str
    unit: str = "request"
    value_unit: str = ""
    samples: dict[str, list[Sample]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)

    def add(self, contender: str, sample: Sample) -> None:
        self.samples.setdefault(contender, []).append(sample)

    def fail(self, contender: str, reason: str) -> None:
        """Whoever breaks has no figure at all, not the figure of its better rounds."""
        self.samples.pop(contender, None)
        self.broken[contender] = without_folders(reason)

    def figures(self, contender: str, metric: Metric) -> list[float]:
        values = [sample.of(metric) for sample in self.samples.get(contender, ())]
        return [value for value in values if value is not None]

    def summary(self, contender: str, metric: Metric) -> Spread | None:
        figures = self.figures(contender, metric)
        return spread(figures) if figures else None


@dataclass(frozen=True)
class Claim:
    """A row of the targets: *ours* must be at most (or at least) *limit* times *theirs*, or times one unit."""

    row: str
    what: str
    experiment: str
    ours: str
    theirs: str | None
    limit: float
    metric: Metric = "cpu"
    at_least: bool = False
    theirs_experiment: str | None = None
    unit: str = ""


@dataclass(frozen=True)
class Judged:
    """A claim with its evidence."""

    claim: Claim
    verdict: Verdict
    ratio: Spread | None = None
    measured: Spread | None = None
    reference: Spread | None = None
    instructions: Spread | None = None
    reason: str = ""


@dataclass
class Run:
    """Everything one `make bench` found."""

    experiments: dict[str, Experiment] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    machine: dict[str, str] = field(default_factory=dict)

    def experiment(self, name: str, unit: str = "request", value_unit: str = "") -> Experiment:
        return self.experiments.setdefault(name, Experiment(name, unit, value_unit))

    def measured(self) -> list[Experiment]:
        return [experiment for experiment in self.experiments.values() if experiment.samples]

    def breakages(self) -> list[str]:
        """Who died or answered wrongly, where and how."""
        return [
            f"{contender} in {experiment.name}: {reason}"
            for experiment in self.experiments.values()
            for contender, reason in experiment.broken.items()
        ]

    def skip(self, name: str, reason: str) -> None:
        """Write down why *name* has no figure; the reason names no folder of this machine."""
        reason = without_folders(reason)
        known = self.skipped.get(name)
        self.skipped[name] = reason if known in (None, reason) else f"{known}; {reason}"

    def judged(self) -> list[Judged]:
        return [self._judge(claim) for claim in sorted(self.claims, key=lambda claim: claim.row)]

    def _judge(self, claim: Claim) -> Judged:
        ours = self._figures(claim.experiment, claim.ours, claim.metric)
        reference = claim.theirs_experiment or claim.experiment
        theirs = self._figures(reference, claim.theirs, claim.metric) if claim.theirs else [1.0] * len(ours)
        if broken := self._broken(claim.experiment, claim.ours):
            return Judged(claim, "no", reason=broken)
        if not ours or not theirs:
            return Judged(claim, "skipped", reason=self._why_missing(claim, ours, theirs))
        wrong = self._errors(claim.experiment, claim.ours)
        rounds = min(len(ours), len(theirs))
        ratio = paired_ratio(ours[:rounds], theirs[:rounds])
        verdict = _verdict(ratio, claim) if not wrong else "no"
        reason = f"{wrong} wrong or missing answers" if wrong else ""
        measured, known = spread(ours), spread(theirs) if claim.theirs else None
        return Judged(claim, verdict, ratio, measured, known, self._instructions(claim), reason)

    def _instructions(self, claim: Claim) -> Spread | None:
        """The same ratio in user-mode instructions, where a claim about CPU time has them."""
        if claim.metric != "cpu":
            return None
        ours = self._figures(claim.experiment, claim.ours, "instructions")
        theirs = self._figures(claim.theirs_experiment or claim.experiment, claim.theirs, "instructions")
        rounds = min(len(ours), len(theirs))
        return paired_ratio(ours[:rounds], theirs[:rounds]) if rounds else None

    def _figures(self, experiment: str, contender: str | None, metric: Metric) -> list[float]:
        found = self.experiments.get(experiment)
        return found.figures(contender, metric) if found and contender else []

    def _broken(self, experiment: str, contender: str) -> str | None:
        found = self.experiments.get(experiment)
        return found.broken.get(contender) if found else None

    def _errors(self, experiment: str, contender: str) -> int:
        return sum(sample.errors for sample in self.experiments[experiment].samples[contender])

    def _why_missing(self, claim: Claim, ours: Sequence[float], theirs: Sequence[float]) -> str:
        missing = [claim.ours] if not ours else []
        missing += [claim.theirs] if claim.theirs and not theirs else []
        broken = self.experiments[claim.experiment].broken if claim.experiment in self.experiments else {}
        reason = (
            "see skipped"
            if {claim.row, *missing} & (self.skipped.keys() | broken.keys())
            else "not measured in this run"
        )
        return f"no {', no '.join(missing)}: {reason}"


def without_folders(reason: str) -> str:
    """A reason as it may stand in a page: without this machine's path to the project."""
    return reason.replace(f"{PROJECT}/", "")


def _verdict(ratio: Spread, claim: Claim) -> Verdict:
    """Met if the median meets it; unresolved while the limit lies between the quartiles."""
    if ratio.low <= claim.limit <= ratio.high and ratio.low != ratio.high:
        return "unresolved"
    met = ratio.median >= claim.limit if claim.at_least else ratio.median <= claim.limit
    return "yes" if met else "no"
