"""Every kind of client against one server for a long time: every answer checked, memory and descriptors watched.

    python benchmarks/soak.py --minutes 20 --document   and write docs/soak.svg and docs/soak.md
    python benchmarks/soak.py --minutes 1               a look

Exit status: 0 all held, 1 something did not.
"""

import argparse
import asyncio
import itertools
import json
import statistics
import sys
import time
from dataclasses import asdict, dataclass

from harness.errors import Broken
from harness.paths import BENCHMARKS, PROJECT, project_python
from harness.plot import Series, svg
from harness.processes import Child, free_port, listens, start_server
from harness.rough_clients import Crowd, answer, get, wire

DOCS = PROJECT / "docs"
# Memory grows while caches, pools and the allocator's heaps fill; between the third and the last quarter it may not.
GROWTH = 1.10
SLACK = 4 * 1024 * 1024
QUIET_SECONDS = 20.0


@dataclass(frozen=True)
class Sample:
    """The server at one moment."""

    seconds: float
    resident: int
    descriptors: int
    connections: int
    tasks: int
    requests: int


async def main() -> int:
    arguments = parse()
    port, own = free_port(), free_port()
    with start_server(command(port, own), f"http://127.0.0.1:{port}/") as child:
        before = await sample(child, port, own, 0.0)
        crowd = Crowd(port)
        if arguments.only:
            crowd.kinds = {name: crowd.kinds[name] for name in arguments.only.split(",")}
        samples, started = [before], time.monotonic()
        load = asyncio.create_task(crowd.run(arguments.minutes * 60))
        while not load.done():
            await asyncio.wait({load}, timeout=arguments.every)
            samples.append(await sample(child, port, own, time.monotonic() - started))
        await load
        after = await settled(child, port, own, before, started)
        faults = judge(samples, before, after, crowd)
    report(samples, before, after, crowd, faults, document=arguments.document)
    return 1 if faults else 0


def judge(samples: list[Sample], before: Sample, after: Sample, crowd: Crowd) -> list[str]:
    """Everything that must not be."""
    faults = [f"{len(crowd.wrong)} wrong answers, such as: {crowd.wrong[0]}"] if crowd.wrong else []
    faults += [f"{name}: not one went through" for name in crowd.kinds if not crowd.done[name]]
    quarter = max(len(samples) // 4, 1)
    early = statistics.median(one.resident for one in samples[2 * quarter : 3 * quarter] or samples)
    late = statistics.median(one.resident for one in samples[-quarter:])
    if late > early * GROWTH + SLACK:
        faults.append(f"memory grew from {early / 2**20:.1f} to {late / 2**20:.1f} MiB")
    for name in ("descriptors", "connections", "tasks"):
        if getattr(after, name) > getattr(before, name):
            faults.append(f"{name}: {getattr(before, name)} before, {getattr(after, name)} left afterwards")
    return faults


async def settled(child: Child, port: int, own: int, before: Sample, started: float) -> Sample:
    """The server when its clients have gone; what they left behind shows after a while."""
    deadline = time.monotonic() + QUIET_SECONDS
    while True:
        found = await sample(child, port, own, time.monotonic() - started)
        same = found.connections <= before.connections and found.descriptors <= before.descriptors
        if (same and found.tasks <= before.tasks) or time.monotonic() > deadline:
            return found
        await asyncio.sleep(0.5)


async def sample(child: Child, port: int, own: int, seconds: float) -> Sample:
    if not listens(own):
        raise Broken(f"the server has gone: {child.log_tail()}")
    page = (await ask(own, b"/metrics")).decode()
    rows = [row.rpartition(" ") for row in page.splitlines() if not row.startswith("#")]
    found = {name: float(number) for name, _, number in rows}
    return Sample(
        seconds=round(seconds, 1),
        resident=int(found["process_resident_memory_bytes"]),
        descriptors=int(found["process_open_fds"]),
        connections=int(found["tarmac_http_connections"]),
        tasks=int(await ask(port, b"/tasks")),
        requests=int(found["tarmac_http_request_seconds_count"]),
    )


async def ask(port: int, path: bytes) -> bytes:
    async with wire(port) as (reader, writer):
        writer.write(get(path))
        return (await answer(reader))[1]


def command(port: int, own: int) -> list[str]:
    words = ["run", "rough_site:app", "--port", str(port), "--metrics-port", str(own)]
    return [str(project_python()), "-m", "tarmac", *words, "--app-dir", str(BENCHMARKS / "subjects")]


def report(
    samples: list[Sample], before: Sample, after: Sample, crowd: Crowd, faults: list[str], *, document: bool
) -> None:
    minutes = samples[-1].seconds / 60
    text = table(samples, before, after, crowd, minutes)
    print(text)
    for fault in faults:
        print(f"FAILED {fault}")
    folder = PROJECT / "results" / "soak"
    folder.mkdir(parents=True, exist_ok=True)
    record = {"samples": [asdict(one) for one in samples], "done": crowd.done, "wrong": crowd.wrong, "faults": faults}
    (folder / f"{time.strftime('%Y%m%d-%H%M%S')}.json").write_text(json.dumps(record, indent=1))
    picture = svg(f"{minutes:.0f} minutes of every kind of client", series(samples))
    (folder / "soak.svg").write_text(picture)
    if document and not faults:
        write_page(picture, text, minutes)


def series(samples: list[Sample]) -> list[Series]:
    rates = [
        (after.seconds, (after.requests - before.requests) / max(after.seconds - before.seconds, 0.1))
        for before, after in itertools.pairwise(samples)
    ]
    return [
        Series("resident memory, MiB", [(one.seconds, one.resident / 2**20) for one in samples]),
        Series("open descriptors", [(one.seconds, one.descriptors) for one in samples]),
        Series("connections", [(one.seconds, one.connections) for one in samples]),
        Series("tasks", [(one.seconds, one.tasks) for one in samples]),
        Series("requests per second", rates),
    ]


def table(samples: list[Sample], before: Sample, after: Sample, crowd: Crowd, minutes: float) -> str:
    resident = [one.resident / 2**20 for one in samples]
    rows = [
        ("minutes", f"{minutes:.1f}"),
        ("requests answered", f"{samples[-1].requests:,}"),
        ("answers checked", f"{crowd.done['requests']:,}"),
        ("WebSocket messages echoed", f"{crowd.done['messages']:,}"),
        *((f"clients: {name}", f"{crowd.done[name]:,}") for name in crowd.kinds),
        ("wrong answers", f"{len(crowd.wrong)}"),
        (
            "resident memory, MiB: first, median, last",
            f"{resident[0]:.1f}, {statistics.median(resident):.1f}, {resident[-1]:.1f}",
        ),
        ("descriptors before and after", f"{before.descriptors}, {after.descriptors}"),
        ("tasks before and after", f"{before.tasks}, {after.tasks}"),
    ]
    return "\n".join(["| what | number |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])


def write_page(picture: str, text: str, minutes: float) -> None:
    (DOCS / "soak.svg").write_text(picture)
    page = (
        "# Soak\n\n"
        f"{minutes:.0f} minutes of keep-alive, pipelined, uploading, aborting, malformed and WebSocket clients against "
        "one process, with every answer checked.\n"
        "`benchmarks/soak.py --minutes 20 --document` repeats it and writes this page.\n\n"
        f"{text}\n\n![memory, descriptors, connections, tasks and requests over time](soak.svg)\n"
    )
    (DOCS / "soak.md").write_text(page)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=20.0, help="how long (20)")
    parser.add_argument("--every", type=float, default=1.0, metavar="SECONDS", help="between two samples (1)")
    parser.add_argument("--only", metavar="KINDS", help="of the clients that the table names, such as uploads,aborts")
    parser.add_argument("--document", action="store_true", help="write docs/soak.svg and docs/soak.md")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
