"""Slow clients (slowhttptest) against a server under normal load: the load goes on, the slow ones are closed in time.

    python benchmarks/slow_clients.py                   headers, body and reading, 500 connections each
    python benchmarks/slow_clients.py --only headers    one of them
    python benchmarks/slow_clients.py --connections 200 --seconds 12

Exit status: 0 all held, 1 something did not, 3 a tool is missing.
"""

import argparse
import shutil
import sys
import time
from dataclasses import dataclass, field

from harness.errors import Broken, Unavailable
from harness.paths import BENCHMARKS, project_python
from harness.processes import OTHER_CORE, Child, fetch, free_port, pinned, start_server
from harness.wrk import Load, press, require

# A slow client sends or takes something every PAUSE seconds; the server's patience is DEADLINE.
PAUSE = 10
DEADLINE = 4
# After its deadline a client may stay until the wheel of timers has come round, and a little for a busy machine.
GRACE = 3
LIMITS = {"header": DEADLINE, "body": DEADLINE, "write": DEADLINE}


@dataclass(frozen=True)
class Attack:
    """One kind of slowness, as slowhttptest plays it, and how the server counts it."""

    name: str
    options: tuple[str, ...]
    path: str
    counted: str


ATTACKS = (
    Attack("headers", ("-H", "-x", "24"), "/", 'tarmac_http_timeouts_total{kind="header"}'),
    Attack("body", ("-B", "-s", "8192", "-x", "10"), "/upload", 'tarmac_http_timeouts_total{kind="body"}'),
    Attack(
        "reading",
        ("-X", "-w", "512", "-y", "1024", "-n", str(PAUSE), "-z", "32"),
        "/big",
        'tarmac_http_timeouts_total{kind="write"}',
    ),
)


@dataclass
class Outcome:
    """What one attack did to the normal load, and what became of the attackers."""

    before: float
    during: float
    errors: int
    most_connections: int
    closed_in_time: int
    left: int
    faults: list[str] = field(default_factory=list)


def main() -> int:
    arguments = parse()
    try:
        require()
        require_slow()
        chosen = [attack for attack in ATTACKS if arguments.only in {"", attack.name}]
        outcomes = [(attack, endure(attack, arguments)) for attack in chosen]
    except Unavailable as error:
        print(f"skipped: {error}")
        return 3
    except Broken as error:
        print(f"broken: {error}", file=sys.stderr)
        return 1
    for attack, outcome in outcomes:
        print(line(attack, outcome))
        for fault in outcome.faults:
            print(f"  FAILED {attack.name}: {fault}")
    return 1 if any(outcome.faults for _, outcome in outcomes) else 0


def require_slow() -> None:
    if shutil.which("slowhttptest") is None:
        raise Unavailable("slowhttptest is not installed (Debian: apt-get install slowhttptest)")


def endure(attack: Attack, arguments: argparse.Namespace) -> Outcome:
    """A fresh server, a measure of calm, then the same load beside the attackers."""
    port, own = free_port(), free_port()
    base = f"http://127.0.0.1:{port}"
    with start_server(command(port, own), base + "/"):
        calm = press(base + "/", Load(connections=20, seconds=3))
        first = numbers(own)
        watch = Watch(own, attack, first)
        with slow(attack, base, arguments):
            watch.wait_for_crowd(arguments.connections // 2)
            stormy = press(base + "/", Load(connections=20, seconds=arguments.seconds))
            watch.wait_for_end()
    outcome = Outcome(
        before=calm.requests / calm.seconds,
        during=stormy.requests / stormy.seconds,
        errors=calm.errors + stormy.errors,
        most_connections=watch.most,
        closed_in_time=watch.counted,
        left=watch.left,
    )
    judge(outcome, arguments.connections)
    return outcome


def judge(outcome: Outcome, connections: int) -> None:
    if outcome.during < outcome.before / 2:
        outcome.faults.append(f"the normal load fell from {outcome.before:.0f} to {outcome.during:.0f} requests/s")
    if outcome.errors:
        outcome.faults.append(f"{outcome.errors} normal requests failed")
    if outcome.most_connections < connections / 2:
        outcome.faults.append(
            f"at most {outcome.most_connections} slow clients were there at a time: the attack was none"
        )
    if outcome.closed_in_time < connections * 0.95:
        outcome.faults.append(f"only {outcome.closed_in_time} of {connections} were closed for their slowness")
    if outcome.left:
        outcome.faults.append(f"{outcome.left} were still there {DEADLINE + GRACE} s after the last one came")


def line(attack: Attack, outcome: Outcome) -> str:
    share = outcome.during / outcome.before
    calm = f"{outcome.before:7.0f} -> {outcome.during:7.0f}"
    return (
        f"{attack.name:8} up to {outcome.most_connections} slow clients at a time: {calm} "
        f"requests/s ({share:.2f}), {outcome.errors} errors, {outcome.closed_in_time} closed for slowness, "
        f"{outcome.left} left"
    )


def command(port: int, own: int) -> list[str]:
    timeouts = [f"--timeout-{name}={seconds}" for name, seconds in LIMITS.items()]
    places = ["--port", str(port), "--metrics-port", str(own), "--app-dir", str(BENCHMARKS / "subjects")]
    return [str(project_python()), "-m", "tarmac", "run", "rough_site:app", *places, *timeouts]


def slow(attack: Attack, base: str, arguments: argparse.Namespace) -> Child:
    count = str(arguments.connections)
    words = [
        "nice",
        "-n",
        "19",
        "slowhttptest",
        *attack.options,
        "-c",
        count,
        "-r",
        count,
        "-l",
        "60",
        "-p",
        "5",
        "-v",
        "0",
    ]
    words += ["-i", str(PAUSE)] if attack.name != "reading" else []
    return Child(pinned([*words, "-u", base + attack.path], OTHER_CORE), core=OTHER_CORE)


def numbers(port: int) -> dict[str, float]:
    """The server's own numbers."""
    page = fetch(f"http://127.0.0.1:{port}/metrics")
    if page is None:
        raise Broken("the server tells no numbers any more")
    rows = [row.rpartition(" ") for row in page.decode().splitlines() if not row.startswith("#")]
    return {name: float(number) for name, _, number in rows}


class Watch:
    """Follows the numbers of connections and of those that were closed for slowness, as the server tells them."""

    def __init__(self, port: int, attack: Attack, first: dict[str, float]) -> None:
        self.most = 0
        self.left = 0
        self.counted = 0
        self._port = port
        self._name = attack.counted
        self._first = first[attack.counted]
        self._crowd_at = 0.0

    def look(self) -> int:
        """The slow clients that are there now."""
        found = numbers(self._port)
        self.counted = int(found[self._name] - self._first)
        here = int(found["tarmac_http_connections"])
        self.most = max(self.most, here)
        return here

    def wait_for_crowd(self, count: int) -> None:
        """Return when so many have come."""
        deadline = time.monotonic() + 20
        while self.most < count and time.monotonic() < deadline:
            self.look()
            time.sleep(0.05)
        self._crowd_at = time.monotonic()

    def wait_for_end(self) -> None:
        """Give the last of them their deadline, then count who is left."""
        deadline = self._crowd_at + DEADLINE + GRACE
        while (left := self.look()) and time.monotonic() < deadline:
            time.sleep(0.1)
        self.left = left


def parse() -> argparse.Namespace:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--connections", type=int, default=500, help="slow clients of each kind (500)")
    parser.add_argument("--seconds", type=int, default=3, help="of normal load beside them (3)")
    parser.add_argument("--only", default="", choices=["", *(attack.name for attack in ATTACKS)], help="one kind")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
