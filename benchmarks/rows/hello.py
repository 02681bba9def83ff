"""H1 to H6: hello world against the C floor and other servers."""

from harness import floor, wrk
from harness.environments import PROJECT
from harness.errors import Broken
from harness.fleet import Entry, Fleet, Running
from harness.options import Options
from harness.processes import fetch
from harness.results import Claim, Run, Sample
from harness.slots import Turn, alternate, http_slot

ROWS = ("H1", "H2", "H3", "H4", "H5", "H6")

KEEP_ALIVE = "hello, keep-alive, 100 connections"
PIPELINED = "hello, 24 pipelined, 100 connections"
YIELD = "hello after asyncio.sleep(0), 100 connections"
LATENCY = "hello, one connection"

FLOOR = "floor"

CLAIMS = (
    Claim("H1", "hello, sync handler, keep-alive", KEEP_ALIVE, "tarmac", "japronto", 1.0),
    Claim("H1", "hello, sync handler, keep-alive, against the floor", KEEP_ALIVE, "tarmac", FLOOR, 1.15),
    Claim("H2", "hello, sync, 24 pipelined", PIPELINED, "tarmac", "japronto", 0.75),
    Claim("H2", "hello, sync, 24 pipelined, against the floor", PIPELINED, "tarmac", FLOOR, 1.5),
    Claim("H2", "hello, sync, 24 pipelined, against mrhttp", PIPELINED, "tarmac", "mrhttp", 0.75),
    Claim("H3", "hello, async without suspension, 24 pipelined", PIPELINED, "tarmac async", "tarmac", 1.5),
    Claim("H3", "the same against Japronto's", PIPELINED, "tarmac async", "japronto async", 1.0),
    Claim("H4", "async handler that awaits asyncio.sleep(0)", YIELD, "tarmac", "aiohttp", 0.3),
    Claim("H5", "hello: stdlib asyncio against uvloop", KEEP_ALIVE, "tarmac", "tarmac on uvloop", 1.08),
    Claim("H5", "hello 24 pipelined: stdlib asyncio against uvloop", PIPELINED, "tarmac", "tarmac on uvloop", 1.08),
    Claim("H5", "sleep(0): stdlib asyncio against uvloop", YIELD, "tarmac", "tarmac on uvloop", 1.08),
    Claim("H6", "one connection, latency p50", LATENCY, "tarmac", FLOOR, 1.25, metric="p50"),
)

SERVERS = (
    Entry("tarmac", PROJECT, "hello_tarmac.py"),
    Entry("tarmac on uvloop", PROJECT, "hello_tarmac.py", ("uvloop",), lent="uvloop"),
    Entry("japronto", "japronto", "hello_japronto.py"),
    Entry("mrhttp", "mrhttp", "hello_mrhttp.py"),
    Entry("uvicorn", "uvicorn", "hello_uvicorn.py"),
    Entry("aiohttp", "aiohttp", "hello_aiohttp.py"),
    Entry("granian", "granian", "hello_granian.py"),
)

# Experiment -> load, and who takes part: label -> (server, path).
COURSES = {
    KEEP_ALIVE: (wrk.Load(), {name: (name, "/") for name in (FLOOR, *(server.name for server in SERVERS))}),
    PIPELINED: (
        wrk.Load(depth=24),
        {
            **{name: (name, "/") for name in (FLOOR, "tarmac", "tarmac on uvloop", "japronto", "mrhttp")},
            "tarmac async": ("tarmac", "/async"),
            "japronto async": ("japronto", "/async"),
            "mrhttp async": ("mrhttp", "/async"),
        },
    ),
    YIELD: (wrk.Load(), {name: (name, "/yield") for name in ("tarmac", "tarmac on uvloop", "aiohttp")}),
    LATENCY: (wrk.Load(connections=1), {name: (name, "/") for name in (FLOOR, "tarmac", "uvicorn")}),
}


def measure(run: Run, options: Options) -> None:
    claims = [claim for claim in CLAIMS if options.wants(claim.row)]
    run.claims.extend(claims)
    courses = {claim.experiment: COURSES[claim.experiment] for claim in claims}
    wanted = {server for _, entries in courses.values() for server, _ in entries.values()}
    wrk.require()
    with Fleet(run) as fleet:
        if FLOOR in wanted:
            fleet.add(FLOOR, lambda port: [floor.compiled(), port], "/")
        for server in SERVERS:
            if server.name in wanted:
                fleet.add_entry(server, "/")
        for name, (load, entries) in courses.items():
            alternate(run.experiment(name), turns(fleet, entries, load), options.rounds)


def turns(
    fleet: Fleet, entries: dict[str, tuple[str, str]], load: wrk.Load, expected: bytes = b"Hello world!"
) -> list[Turn]:
    """A turn for each server that runs, which has to answer with the *expected* body."""
    found = [(label, fleet.running.get(server), path) for label, (server, path) in entries.items()]
    return [_turn(label, server, path, load, expected) for label, server, path in found if server]


def _turn(label: str, server: Running, path: str, load: wrk.Load, expected: bytes) -> Turn:
    url = server.base + path

    def slot() -> Sample:
        _check(url, expected)
        return http_slot(server.meter, url, load)

    return Turn(label, slot)


def _check(url: str, expected: bytes) -> None:
    body = fetch(url)
    if body != expected:
        raise Broken(f"{url} answered {body!r}")
