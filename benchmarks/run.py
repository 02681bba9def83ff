"""`make bench`: measures the rows of the targets against other servers and connectors, and against a C floor."""

import argparse
import signal
import sys
import time
from types import ModuleType

from harness import machine, report
from harness.errors import Broken, Unavailable
from harness.options import Options
from harness.results import Run
from harness.slots import say
from rows import connector, echo, files, hello, hosting, idle, importing, load, memory, pages, site

FAMILIES: tuple[ModuleType, ...] = (hello, hosting, echo, files, idle, connector, pages, site, load, memory, importing)

EXAMPLES = """\
examples:
  python benchmarks/run.py                     every row, eight rounds
  python benchmarks/run.py --only H1,H2,T1     some rows
  python benchmarks/run.py --quick             three rounds: a look, not evidence
  python benchmarks/run.py --rounds 16         narrower spreads
  python benchmarks/run.py --document          also rewrite the table in docs/benchmarks.md
  python benchmarks/run.py --list              the rows and what each compares

Competitors are installed on first use, pinned, under var/bench. What cannot be had here is skipped by name.
Exit status: 0 measured, 1 a target was missed, 2 usage, 3 nothing could be measured.
"""


def main() -> int:
    # An end by SIGTERM must run the clean-up that ends the servers too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    arguments = parse()
    rows = [row for family in FAMILIES for row in family.ROWS]
    if arguments.list:
        print("\n".join(report.catalogue([claim for family in FAMILIES for claim in family.CLAIMS])))
        return 0
    only = frozenset(filter(None, arguments.only.upper().split(",")))
    if unknown := only - set(rows):
        print(f"no such row: {', '.join(sorted(unknown))}; there are {', '.join(rows)}", file=sys.stderr)
        return 2
    options = Options(only, arguments.rounds or (3 if arguments.quick else 8), 0.3 if arguments.quick else 0.6)
    run = Run(machine=machine.describe(options))
    try:
        with machine.alone():
            for family in FAMILIES:
                measure(family, run, options)
    except Unavailable as error:
        print(error, file=sys.stderr)
        return 3
    print("\n".join(report.plain(run)))
    print(f"written: {report.write_json(run, time.strftime('%Y%m%d-%H%M%S'))}")
    if arguments.document:
        print(f"written: {report.write_document(run)}")
    return status(run)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks/run.py",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", default="", metavar="ROWS", help="rows to measure, with commas between (H1,T1,P1)")
    parser.add_argument("--rounds", type=int, help="slots of each contender (default 8)")
    parser.add_argument("--quick", action="store_true", help="three rounds and shorter slots")
    parser.add_argument("--document", action="store_true", help="rewrite the table in docs/benchmarks.md")
    parser.add_argument("--list", action="store_true", help="list the rows and end")
    return parser.parse_args()


def measure(family: ModuleType, run: Run, options: Options) -> None:
    """One family; what it lacks is written down under its rows and does not stop the others."""
    rows = [row for row in family.ROWS if options.wants(row)]
    if not rows:
        return
    try:
        family.measure(run, options)
    except (Unavailable, Broken) as error:
        say(f"skipped {', '.join(rows)}: {error}")
        for row in rows:
            run.skip(row, str(error))


def status(run: Run) -> int:
    verdicts = [judged.verdict for judged in run.judged()]
    if all(verdict == "skipped" for verdict in verdicts):
        return 3
    return 1 if "no" in verdicts else 0


if __name__ == "__main__":
    sys.exit(main())
