"""M2: the time that importing tarmac takes in a fresh process."""

import subprocess

from harness.environments import PROJECT, python_of
from harness.options import Options
from harness.results import Claim, Run, Sample
from harness.slots import say

ROWS = ("M2",)

IMPORT = "import in a fresh process"
SERVER, DATABASE, BOTH = "from tarmac import App, serve", "from tarmac import tarantool", "server and connector"

CLAIMS = (Claim("M2", "import of tarmac, server and connector", IMPORT, BOTH, None, 60.0, metric="value", unit="ms"),)

STATEMENTS = {
    "import asyncio (for comparison)": "import asyncio",
    SERVER: SERVER,
    DATABASE: DATABASE,
    BOTH: f"{SERVER}; {DATABASE}",
}
PROCESSES = 5  # in a round
CLOCK = "import time; started = time.perf_counter(); {}; print((time.perf_counter() - started) * 1000)"


def measure(run: Run, options: Options) -> None:
    run.claims.extend(CLAIMS)
    python = str(python_of(PROJECT))
    experiment = run.experiment(IMPORT, "import", "ms")
    say(f"{IMPORT}: {', '.join(STATEMENTS)}")
    for _ in range(options.rounds * PROCESSES):
        for name, statement in STATEMENTS.items():
            done = subprocess.run([python, "-c", CLOCK.format(statement)], capture_output=True, text=True, check=True)
            experiment.add(name, Sample(operations=1, cpu=0.0, rate=0.0, value=float(done.stdout)))
