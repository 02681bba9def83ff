"""The command `races`: its words, its options, its exit statuses."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from races import commands
from races.errors import CannotRunHere, LabError, UsageError
from races.plan import QUICK_ROUNDS
from races.status import Status

Number = TypeVar("Number", int, float)
Command = Callable[[argparse.Namespace], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the status is 0 for done, 1 failed, 2 usage, and what compare says."""
    options = parser().parse_args(arguments)
    command: Command = options.command
    try:
        return command(options)
    except UsageError as error:
        print(f"races: {error}", file=sys.stderr)
        return Status.USAGE
    except CannotRunHere as error:
        print(f"races: cannot run here: {error}", file=sys.stderr)
        return Status.CANNOT_RUN_HERE
    except LabError as error:
        print(f"races: {error}", file=sys.stderr)
        return Status.FAILED
    except KeyboardInterrupt:
        return Status.INTERRUPTED


def parser() -> argparse.ArgumentParser:
    """All commands. Without one, the quick race."""
    top = argparse.ArgumentParser(
        prog="races",
        description="Race web stacks against each other on this machine. "
        "Without a command: a quick race, under five minutes, and a report.",
    )
    _show_options(top)
    top.set_defaults(command=commands.quick)
    words = top.add_subparsers(title="commands", metavar="COMMAND")
    _add_run(words)
    _add(words, "list", commands.list_all, "entrants, courses, load generators")
    check = _add(words, "check", commands.check, "right answers, without load")
    check.add_argument("--entrants", metavar="A,B", help="default: all")
    check.add_argument("--courses", "--course", metavar="A,B", help="default: all")
    _add(words, "doctor", commands.doctor, "what this machine lacks and how to get it")
    compare = _add(
        words, "compare", commands.compare,
        "exit status 0 same or faster, 1 slower, 2 usage, 3 inconclusive, 4 wrong answers",
    )  # fmt: skip
    compare.add_argument("old", type=Path, metavar="old.json")
    compare.add_argument("new", type=Path, metavar="new.json")
    compare.add_argument("--metric", choices=("rate", "cpu"), default="rate", help="what decides (default: rate)")
    audit = _add(words, "audit", commands.audit, "do the wrk outputs of an article agree with themselves")
    audit.add_argument("article", type=Path, metavar="article.txt")
    report = _add(words, "report", commands.report, "one HTML file from a result")
    report.add_argument("result", type=Path, nargs="?", metavar="result.json")
    return top


def _add_run(words: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    run = _add(words, "run", commands.run, "a race of your choice")
    run.add_argument("--courses", "--course", metavar="A,B", required=True)
    run.add_argument("--entrants", metavar="A,B", required=True, help="the first is the reference")
    run.add_argument("--rounds", type=_positive(int), default=QUICK_ROUNDS)
    run.add_argument("--reference", metavar="NAME", help="what the others are compared with")
    run.add_argument("--generator", choices=tuple(commands.GENERATORS), help="default: the first that is here")
    run.add_argument("--seconds", type=_positive(float), help="length of a heat")
    run.add_argument("--warmup", type=_positive(float), help="seconds of load before it counts")
    run.add_argument("--connections", type=_positive(int))
    run.add_argument("--depth", type=_positive(int), help="requests in flight on a connection")
    run.add_argument("--budget", type=_positive(float), metavar="SECONDS", help="end after the round that reaches it")
    run.add_argument("--seed", type=int, default=1, help="of the draw of the order")
    run.add_argument("--no-twin", action="store_true", help="race without the noise floor")
    _show_options(run)


def _add(
    words: argparse._SubParsersAction[argparse.ArgumentParser], name: str, command: Command, text: str
) -> argparse.ArgumentParser:
    added = words.add_parser(name, help=text, description=text)
    added.set_defaults(command=command)
    return added


def _show_options(to: argparse.ArgumentParser) -> None:
    to.add_argument("--plain", action="store_true", help="lines instead of the live table")
    to.add_argument("--ndjson", action="store_true", help="one JSON object a line")


def _positive(kind: Callable[[str], Number]) -> Callable[[str], Number]:
    def read(text: str) -> Number:
        value = kind(text)
        if value <= 0:
            raise argparse.ArgumentTypeError("must be above 0")
        return value

    return read
