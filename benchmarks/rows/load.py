"""L1: our load generator against wrk, both on one core against the C floor."""

import json
import os
import resource
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from harness import floor, wrk
from harness.errors import Broken, Unavailable
from harness.fleet import Fleet
from harness.options import Options
from harness.paths import PROJECT, project_python
from harness.processes import OTHER_CORE, pinned
from harness.results import Claim, Run, Sample
from harness.slots import Turn, alternate

ROWS = ("L1",)

KEEP_ALIVE, PIPELINED = "load generators, keep-alive, 100 connections", "load generators, 24 pipelined, 100 connections"
DEPTHS = {KEEP_ALIVE: 1, PIPELINED: 24}
BODY_LENGTH = len("Hello world!")

CLAIMS = tuple(
    Claim(
        "L1",
        f"{name.removeprefix('load generators, ')}: answers checked per second of the generator's core",
        name,
        "tarmac-load",
        "wrk",
        1.0,
        metric="value",
        at_least=True,
        unit="/s",
    )
    for name in DEPTHS
)


def measure(run: Run, options: Options) -> None:
    run.claims.extend(CLAIMS)
    wrk.require()
    program = tarmac_load()
    with Fleet(run) as fleet:
        fleet.add("floor", lambda port: [floor.compiled(), port], "/")
        if "floor" not in fleet.running:
            return
        url = fleet.running["floor"].base + "/"
        for name, depth in DEPTHS.items():
            turns = [Turn("wrk", _wrk(url, depth)), Turn("tarmac-load", _ours(program, url, depth))]
            alternate(run.experiment(name, value_unit="answers per core second"), turns, options.rounds)


def tarmac_load() -> Path:
    """The program, as `make setup` or cargo made it."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", PROJECT / "target"))
    known = [project_python().with_name("tarmac-load"), target / "release" / "tarmac-load"]
    found = next((path for path in known if path.exists()), None) or shutil.which("tarmac-load")
    if not found:
        raise Unavailable("tarmac-load is not built: run `make setup` or `cargo build --release -p load`")
    return Path(found)


def _wrk(url: str, depth: int) -> Callable[[], Sample]:
    def slot() -> Sample:
        pressed = wrk.press(url, wrk.Load(depth=depth))
        return _sample(pressed.requests, pressed.seconds, pressed.generator_cpu_seconds, pressed.errors)

    return slot


def _ours(program: Path, url: str, depth: int) -> Callable[[], Sample]:
    command = [str(program), "--json", "-c", "100", "-p", str(depth), "-d", "1", "--warmup", "0"]
    expected = ["--expect-length", str(BODY_LENGTH)]

    def slot() -> Sample:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            pinned([*command, *expected, url], OTHER_CORE),
            capture_output=True,
            text=True,
            check=False,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise Broken(f"tarmac-load ended with status {done.returncode}: {done.stderr.strip()}")
        result = json.loads(done.stdout)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        wrong = sum(result["wrong"].values()) + sum(result["errors"].values())
        return _sample(result["ok"], result["seconds"], used, wrong)

    return slot


def _sample(requests: int, seconds: float, used: float, errors: int) -> Sample:
    """Here the generator is the subject: CPU is its own."""
    return Sample(
        operations=requests,
        cpu=used * 1e6 / max(requests, 1),
        rate=requests / seconds,
        value=requests / used,
        subject_share=used / seconds,
        errors=errors,
    )
