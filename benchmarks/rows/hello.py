"""H1 to H6: hello world against the C floor and other servers."""

import subprocess
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from harness import wrk
from harness.environments import PROJECT, extra_packages, python_of
from harness.errors import Broken, Unavailable
from harness.meter import Meter
from harness.options import Options
from harness.paths import BENCHMARKS, VAR
from harness.processes import ending, fetch, free_port, start_server
from harness.results import Claim, Run
from harness.slots import Turn, alternate, http_slot, say

ROWS = ("H1", "H2", "H3", "H4", "H5", "H6")

KEEP_ALIVE = "hello, keep-alive, 100 connections"
PIPELINED = "hello, 24 pipelined, 100 connections"
YIELD = "hello after asyncio.sleep(0), 100 connections"
LATENCY = "hello, one connection"

CLAIMS = (
    Claim("H1", "hello, sync handler, keep-alive", KEEP_ALIVE, "tarmac", "japronto", 1.0),
    Claim("H2", "hello, sync, 24 pipelined", PIPELINED, "tarmac", "japronto", 0.75),
    Claim("H3", "hello, async without suspension, 24 pipelined", PIPELINED, "tarmac async", "tarmac", 4.0),
    Claim("H4", "async handler that awaits asyncio.sleep(0)", YIELD, "tarmac", "aiohttp", 0.5),
    Claim("H5", "hello: stdlib asyncio against uvloop", KEEP_ALIVE, "tarmac", "tarmac on uvloop", 1.15),
    Claim("H5", "hello 24 pipelined: stdlib asyncio against uvloop", PIPELINED, "tarmac", "tarmac on uvloop", 1.15),
    Claim("H5", "sleep(0): stdlib asyncio against uvloop", YIELD, "tarmac", "tarmac on uvloop", 1.15),
    Claim("H6", "one connection, latency p50", LATENCY, "tarmac", "uvicorn", 1.0, metric="p50"),
)


@dataclass(frozen=True)
class Hello:
    """A hello server: its environment (None is the compiled floor), its file, arguments after the port, lent packages."""

    name: str
    environment: str | None
    file: str
    arguments: tuple[str, ...] = ()
    lent: str | None = None


SERVERS = (
    Hello("floor", None, "floor.c"),
    Hello("tarmac", PROJECT, "hello_tarmac.py"),
    Hello("tarmac on uvloop", PROJECT, "hello_tarmac.py", ("uvloop",), lent="uvloop"),
    Hello("japronto", "japronto", "hello_japronto.py"),
    Hello("mrhttp", "mrhttp", "hello_mrhttp.py"),
    Hello("uvicorn", "uvicorn", "hello_uvicorn.py"),
    Hello("aiohttp", "aiohttp", "hello_aiohttp.py"),
    Hello("granian", "granian", "hello_granian.py"),
)

# Experiment -> load, and who takes part: label -> (server, path).
COURSES = {
    KEEP_ALIVE: (wrk.Load(), {server.name: (server.name, "/") for server in SERVERS}),
    PIPELINED: (
        wrk.Load(depth=24),
        {
            **{name: (name, "/") for name in ("floor", "tarmac", "tarmac on uvloop", "japronto", "mrhttp")},
            "tarmac async": ("tarmac", "/async"),
            "japronto async": ("japronto", "/async"),
            "mrhttp async": ("mrhttp", "/async"),
        },
    ),
    YIELD: (wrk.Load(), {name: (name, "/yield") for name in ("tarmac", "tarmac on uvloop", "aiohttp")}),
    LATENCY: (wrk.Load(connections=1), {name: (name, "/") for name in ("floor", "tarmac", "uvicorn")}),
}


@dataclass(frozen=True)
class Running:
    base: str
    meter: Meter


def measure(run: Run, options: Options) -> None:
    claims = [claim for claim in CLAIMS if options.wants(claim.row)]
    run.claims.extend(claims)
    courses = {claim.experiment: COURSES[claim.experiment] for claim in claims}
    wanted = {server for _, entries in courses.values() for server, _ in entries.values()}
    wrk.require()
    with ending([]) as children, ExitStack() as meters:
        running: dict[str, Running] = {}
        for server in SERVERS:
            if server.name not in wanted:
                continue
            try:
                base = f"http://127.0.0.1:{free_port()}"
                child = start_server(_command(server, base), base + "/", environment=_environment(server))
                children.append(child)
                _check(base + "/")
            except (Unavailable, Broken) as error:
                run.skip(server.name, str(error))
                say(f"skipped {server.name}: {error}")
                continue
            running[server.name] = Running(base, Meter(child.pid))
            meters.callback(running[server.name].meter.close)
        for name, (load, entries) in courses.items():
            turns = [_turn(label, running[server], path, load) for label, (server, path) in entries.items() if server in running]
            alternate(run.experiment(name), turns, options.rounds)


def _turn(label: str, server: Running, path: str, load: wrk.Load) -> Turn:
    url = server.base + path
    _check(url)
    return Turn(label, lambda: http_slot(server.meter, url, load))


def _check(url: str) -> None:
    body = fetch(url)
    if body != b"Hello world!":
        raise Broken(f"{url} answered {body!r}")


def _command(server: Hello, base: str) -> list[str | Path]:
    port = base.rpartition(":")[2]
    if server.environment is None:
        return [compiled_floor(), port]
    return [python_of(server.environment), BENCHMARKS / "subjects" / server.file, port, *server.arguments]


def _environment(server: Hello) -> dict[str, str]:
    return {"PYTHONPATH": str(extra_packages(server.lent))} if server.lent else {}


def compiled_floor() -> Path:
    """The floor server, compiled when its source is newer."""
    source, binary = BENCHMARKS / "floor" / "floor.c", VAR / "floor"
    if not binary.exists() or binary.stat().st_mtime < source.stat().st_mtime:
        binary.parent.mkdir(parents=True, exist_ok=True)
        try:
            done = subprocess.run(["cc", "-O2", "-o", str(binary), str(source)], capture_output=True, text=True, check=False)
        except FileNotFoundError as error:
            raise Unavailable("the floor needs a C compiler (Debian: apt-get install gcc libc6-dev)") from error
        if done.returncode:
            raise Broken(f"the floor does not compile: {done.stderr.strip()}")
    return binary
