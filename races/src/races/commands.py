"""What each command of `races` does."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from races.analysis import analyse
from races.audit import find_blocks, judge
from races.compare import Verdict, metric_named, overall
from races.compare import compare as compare_results
from races.course import Course, load_courses
from races.doctor import examine
from races.entrant import Entrant, load_entrants
from races.environment import prepare
from races.errors import CannotRunHere, UsageError
from races.heat import Conditions, Lane, check_lane
from races.loads import GENERATORS, choose_generator
from races.paths import Paths, find_project
from races.placement import place
from races.plan import QUICK_BUDGET, QUICK_COURSES, QUICK_ROUNDS, QUICK_SECONDS, QUICK_WARMUP, Wish, pick
from races.quick import choose_field
from races.race import Race
from races.report import write_report
from races.result import Keeper, Result, load_result
from races.show import Show, choose_show
from races.show.show import ratio
from races.status import Status
from races.stores import store_kind

__all__ = ["GENERATORS", "audit", "check", "compare", "doctor", "list_all", "quick", "report", "run"]


def quick(options: argparse.Namespace) -> int:
    """The race of `make race`: what is installed here, under five minutes."""
    paths = find_project()
    field = choose_field(paths)
    wish = Wish(
        field.entrants,
        QUICK_COURSES,
        QUICK_ROUNDS,
        seconds=QUICK_SECONDS,
        warmup=QUICK_WARMUP,
        budget=QUICK_BUDGET,
    )
    return _race(wish, paths, options, field.left_out)


def run(options: argparse.Namespace) -> int:
    """A race of one's choice."""
    wish = Wish(
        entrants=_names(options.entrants),
        courses=_names(options.courses),
        rounds=options.rounds,
        reference=options.reference,
        generator=options.generator,
        seconds=options.seconds,
        warmup=options.warmup,
        connections=options.connections,
        depth=options.depth,
        budget=options.budget,
        seed=options.seed,
        twin=not options.no_twin,
    )
    return _race(wish, find_project(), options, [])


def _race(wish: Wish, paths: Paths, options: argparse.Namespace, left_out: list[tuple[str, str]]) -> int:
    show = choose_show(plain=options.plain, ndjson=options.ndjson, terminal=sys.stdout.isatty())
    show.begin()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ended from outside: as by Ctrl-C
    try:
        race = Race(wish, paths, show, ["races", *sys.argv[1:]])
        for what, why in left_out:
            race.leave_out(what, why)
        result, keeper = race.run()
    finally:
        show.end()
    return _finish(result, keeper, show)


def _finish(result: Result, keeper: Keeper, show: Show) -> int:
    file = write_report(result, keeper.folder)
    show.verdict(result, analyse(result), file)
    if not result.head["complete"]:
        return Status.INTERRUPTED
    return Status.DONE if result.heats else Status.FAILED


def list_all(_: argparse.Namespace) -> int:
    """Entrants, courses and generators with one line each."""
    paths = find_project()
    print("entrants")
    for entrant in load_entrants(paths.entrants).values():
        print(f"  {entrant.name:24} {entrant.title}")
    print("courses")
    for course in load_courses(paths.courses).values():
        print(f"  {course.name:24} {course.title}: {course.summary}")
    print("load generators")
    for name, kind in GENERATORS.items():
        try:
            found = kind.find(paths.project)
            print(f"  {name:24} {found.version}, checks {found.checks}")
        except CannotRunHere as reason:
            print(f"  {name:24} not here: {reason}")
    return Status.DONE


def check(options: argparse.Namespace) -> int:
    """The contract of every entrant on every course, without load."""
    paths = find_project()
    entrants, courses = load_entrants(paths.entrants), load_courses(paths.courses)
    chosen = _chosen("entrant", options.entrants, entrants)
    asked = _chosen("course", options.courses, courses)
    generator, _ = choose_generator(None, paths.project)
    conditions = Conditions(paths.project, place(), generator)
    results = [_check_one(entrants[name], [courses[each] for each in asked], paths, conditions) for name in chosen]
    return max(results, default=Status.DONE)


def _check_one(entrant: Entrant, asked: list[Course], paths: Paths, conditions: Conditions) -> Status:
    try:
        store_kind(entrant.store).check(paths.project)
        lane = Lane(entrant.name, entrant, prepare(entrant, paths))
    except CannotRunHere as reason:
        print(f"cannot run here  {entrant.name}: {reason}")
        return Status.DONE
    courses = [course for course in asked if entrant.runs(course.name)]
    wrong = check_lane(lane, courses, conditions)
    for course in courses:
        verdict = f"WRONG  {entrant.name} on {course.name}: {wrong.get(course.name)}"
        print(verdict if course.name in wrong else f"right  {entrant.name} on {course.name}")
    return Status.WRONG_ANSWERS if wrong else Status.DONE


def doctor(_: argparse.Namespace) -> int:
    """What is here, what is missing, how to get it."""
    findings = examine(find_project())
    for finding in findings:
        print(f"{'ok     ' if finding.ok else 'missing'}  {finding.what}: {finding.words}")
    return Status.DONE if all(found.ok or found.optional for found in findings) else Status.FAILED


def compare(options: argparse.Namespace) -> int:
    """Before and after; the exit status is the verdict."""
    old, new = load_result(options.old), load_result(options.new)
    found = compare_results(old, new, metric_named(options.metric))
    for cell in found:
        change = ratio(cell.change)
        print(f"{cell.verdict.name:13} {cell.course}: {cell.entrant}: {change}: {cell.why}")
    verdict = overall(found)
    print(f"verdict: {verdict.name.lower().replace('_', ' ')}")
    return verdict if verdict is not Verdict.USAGE else Status.USAGE


def audit(options: argparse.Namespace) -> int:
    """Every wrk output of a text, recomputed; status 1 when one contradicts itself."""
    try:
        text = options.article.read_text(errors="replace")
    except OSError as error:
        raise UsageError(str(error)) from error
    opinions = [judge(block) for block in find_blocks(text)]
    for opinion in opinions:
        block = opinion.block
        print(
            f"{'plausible' if opinion.plausible else 'DOUBTFUL '}  {block.url}:"
            f" {block.rate:,.2f} requests/s at {block.latency * 1000:.2f} ms: {opinion.words}"
        )
    if not opinions:
        raise UsageError(f"{options.article} holds no wrk output")
    return Status.DONE if all(opinion.plausible for opinion in opinions) else Status.FAILED


def report(options: argparse.Namespace) -> int:
    """Draw the report again from a result, by default the latest."""
    source: Path = options.result or find_project().results / "latest"
    result = load_result(source)
    folder = source if source.is_dir() else source.parent
    print(write_report(result, folder))
    return Status.DONE


def _names(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise UsageError("no names given")
    return names


def _chosen(kind: str, text: str | None, among: dict[str, Entrant] | dict[str, Course]) -> tuple[str, ...]:
    names = _names(text) if text else tuple(among)
    pick(kind, names, among)
    return names
