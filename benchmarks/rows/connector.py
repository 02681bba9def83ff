"""T1 to T3: the Tarantool connector against asynctnt, one client process each, one private Tarantool."""

from collections.abc import Callable
from dataclasses import dataclass

from harness import strace
from harness.clients import Client
from harness.environments import PROJECT
from harness.errors import Broken, Unavailable
from harness.options import Options
from harness.results import Claim, Experiment, Run, Sample
from harness.slots import Turn, alternate, say
from harness.tarantool import Tarantool

ROWS = ("T1", "T2", "T3")

OPERATIONS = {
    "ping": "ping",
    "select": "select one row",
    "insert": "insert 1.5 KB",
    "update": "update",
    "delete": "delete",
    "call": "call",
}
DEPTHS = (40, 300)
SEQUENTIAL = ("ping", "select", "insert")
CRUMBS = 250_000  # rows to delete in a slot
LEAVE_A_MARK = ("insert", "update", "delete")
TRACED_SECONDS = 2.0
SYSCALLS = "system calls, 100 pings in flight"
SYSCALLS_SEQUENTIAL = "system calls, select one at a time"

OURS = ("tarmac", "tarmac on uvloop")
BEST = "asynctnt"


def course(operation: str, depth: int) -> str:
    return f"{OPERATIONS[operation]}, {depth} in flight" if depth > 1 else f"{OPERATIONS[operation]}, one at a time"


CLAIMS = (
    *(
        Claim(
            "T1", f"{course(operation, depth)}{ours.removeprefix('tarmac')}", course(operation, depth), ours, BEST, 0.5
        )
        for operation in OPERATIONS
        for depth in DEPTHS
        for ours in OURS
    ),
    *(Claim("T2", course(operation, 1), course(operation, 1), "tarmac", BEST, 1.0) for operation in SEQUENTIAL),
    Claim(
        "T3", "writes per operation, 100 in flight", SYSCALLS, "tarmac", None, 0.03, metric="value", unit="writes/op"
    ),
)


@dataclass(frozen=True)
class Entry:
    name: str
    file: str
    environment: str
    loop: str
    lent: str | None = None
    operations: frozenset[str] = frozenset(OPERATIONS)


PING = frozenset({"ping"})
ENTRIES = (
    Entry("tarmac", "client_tarmac.py", PROJECT, "asyncio"),
    Entry("tarmac on uvloop", "client_tarmac.py", PROJECT, "uvloop", lent="uvloop"),
    Entry(BEST, "client_asynctnt.py", "asynctnt", "uvloop"),
    Entry("asynctnt on uvloop 0.23", "client_asynctnt.py", "asynctnt-uvloop-0.23", "uvloop"),
    Entry("asynctnt on asyncio", "client_asynctnt.py", "asynctnt", "asyncio"),
    Entry("a bare future, asyncio", "client_future.py", PROJECT, "asyncio", operations=PING),
    Entry("a bare future, uvloop", "client_future.py", PROJECT, "uvloop", lent="uvloop", operations=PING),
)


def measure(run: Run, options: Options) -> None:
    run.claims.extend(claim for claim in CLAIMS if options.wants(claim.row))
    with Tarantool() as tarantool:
        clients = _start(run, tarantool.port)
        try:
            for operation, depth in _courses(options):
                experiment = run.experiment(course(operation, depth), "operation")
                alternate(experiment, _turns(clients, tarantool, operation, depth, options), options.rounds)
            if options.wants("T3"):
                _count_calls(run.experiment(SYSCALLS, "operation", "writes/op"), clients, "ping", 100)
            if options.wants("T2"):
                _count_calls(run.experiment(SYSCALLS_SEQUENTIAL, "operation", "writes/op"), clients, "select", 1)
        finally:
            for client in clients.values():
                client.close()


def _start(run: Run, port: int) -> dict[str, Client]:
    clients = {}
    for entry in ENTRIES:
        try:
            clients[entry.name] = Client(entry.file, entry.environment, entry.loop, port, lent=entry.lent)
        except (Unavailable, Broken) as error:
            run.skip(entry.name, str(error))
            say(f"skipped {entry.name}: {error}")
    return clients


def _courses(options: Options) -> list[tuple[str, int]]:
    courses = [(operation, depth) for operation in OPERATIONS for depth in DEPTHS] if options.wants("T1") else []
    return courses + ([(operation, 1) for operation in SEQUENTIAL] if options.wants("T2") else [])


def _turns(
    clients: dict[str, Client], tarantool: Tarantool, operation: str, depth: int, options: Options
) -> list[Turn]:
    able = [entry.name for entry in ENTRIES if entry.name in clients and operation in entry.operations]
    return [Turn(name, _slot(clients[name], tarantool, operation, depth, options.slot_seconds)) for name in able]


def _slot(client: Client, tarantool: Tarantool, operation: str, depth: int, seconds: float) -> Callable[[], Sample]:
    limit = CRUMBS if operation == "delete" else None

    def slot() -> Sample:
        if operation in LEAVE_A_MARK:
            tarantool.evaluate(f"bench.prepare('{operation}', {CRUMBS})")
        sample = client.run(operation, depth, seconds, limit)
        if operation in LEAVE_A_MARK:
            left = tarantool.evaluate(f"bench.done('{operation}', {CRUMBS})")
            if left != sample.operations:
                raise Broken(f"{operation}: {sample.operations} operations left {left:.0f} marks")
        return sample

    return slot


def _count_calls(experiment: Experiment, clients: dict[str, Client], operation: str, depth: int) -> None:
    """A run of its own: tracing slows a client down, so no time is taken from it."""
    connectors = {
        entry.name: clients[entry.name] for entry in ENTRIES if entry.name in clients and entry.operations != PING
    }
    say(f"{experiment.name}: {', '.join(connectors)}")
    for name, client in connectors.items():
        try:
            sample, calls = _traced(client, operation, depth)
        except Broken as error:
            experiment.fail(name, str(error))
            continue
        done = sample.operations
        experiment.add(name, Sample(operations=done, cpu=0.0, rate=0.0, value=calls.writes / done))
        experiment.notes.append(
            f"{name}: {calls.total / done:.3f} system calls per operation, {calls.writes / done:.4f} writes"
        )


def _traced(client: Client, operation: str, depth: int) -> tuple[Sample, strace.Calls]:
    samples: list[Sample] = []
    calls = strace.counted(client.child.pid, lambda: samples.append(client.run(operation, depth, TRACED_SECONDS)))
    return samples[0], calls
