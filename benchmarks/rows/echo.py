"""H9: WebSocket echoes of 64 bytes over 100 connections."""

import json
import resource
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from harness.environments import PROJECT
from harness.errors import Broken
from harness.fleet import Entry, Fleet, Running
from harness.options import Options
from harness.processes import OTHER_CORE, pinned
from harness.results import Claim, Run, Sample
from harness.slots import STARVED, Turn, alternate

from rows.load import tarmac_load

ROWS = ("H9",)

ECHO = "WebSocket echo of 64 bytes, 100 connections"
UVICORN, PICOWS, RAW = "uvicorn + websockets", "picows", "picows without str"

CLAIMS = (
    Claim("H9", "WebSocket echo against uvicorn", ECHO, "tarmac", UVICORN, 0.4),
    Claim("H9", "WebSocket echo against picows", ECHO, "tarmac", PICOWS, 1.0),
)

SERVERS = (
    Entry("tarmac", PROJECT, "echo_tarmac.py"),
    Entry("tarmac on uvloop", PROJECT, "echo_tarmac.py", ("uvloop",), lent="uvloop"),
    Entry(UVICORN, "uvicorn-websockets", "echo_uvicorn.py"),
    Entry(PICOWS, "picows", "echo_picows.py"),
    Entry(RAW, "picows", "echo_picows.py", ("raw",)),
)


def measure(run: Run, options: Options) -> None:
    run.claims.extend(CLAIMS)
    program = tarmac_load()
    with Fleet(run) as fleet:
        for server in SERVERS:
            fleet.add_entry(server, None if server.environment == "picows" else "/ready")
        turns = [Turn(name, _slot(program, running)) for name, running in fleet.running.items()]
        alternate(run.experiment(ECHO), turns, options.rounds)


def _slot(program: Path, server: Running) -> Callable[[], Sample]:
    command = pinned([str(program), "echo", "-c", "100", "-s", "64", "-d", "1", server.base + "/"], OTHER_CORE)

    def slot() -> Sample:
        before, loader, started = server.meter.read(), _children_cpu(), time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        used, wall = server.meter.read().since(before), time.perf_counter() - started
        if done.returncode:
            raise Broken(
                f"tarmac-load ended with status {done.returncode}: {done.stderr.strip() or done.stdout.strip()}"
            )
        result = json.loads(done.stdout)
        subject, generator = used.microseconds / 1e6 / wall, (_children_cpu() - loader) / wall
        return Sample(
            operations=result["ok"],
            cpu=used.microseconds / result["ok"],
            rate=result["ok"] / result["seconds"],
            instructions=None if used.instructions is None else used.instructions / result["ok"],
            p50=result["p50"] / 1000,
            subject_share=subject,
            generator_share=generator,
            errors=result["wrong"] + result["lost"],
            starved=max(subject, generator) < STARVED,
        )

    return slot


def _children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
