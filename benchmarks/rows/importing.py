"""M2: the CPU time that importing tarmac takes in a fresh process: the wall clock where nobody else is at work."""

import subprocess

from harness.environments import PROJECT, python_of
from harness.options import Options
from harness.processes import SUBJECT_CORE, pinned
from harness.results import Claim, Run, Sample
from harness.slots import say

ROWS = ("M2",)

IMPORT = "import in a fresh process"
SERVER, DATABASE, BOTH = "from tarmac import App, serve", "from tarmac import tarantool", "server and connector"

CLAIMS = tuple(
    Claim("M2", f"import of tarmac: {what}", IMPORT, what, None, 60.0, metric="value", unit="ms")
    for what in (SERVER, BOTH)
)

STATEMENTS = {
    "import asyncio (for comparison)": "import asyncio",
    SERVER: SERVER,
    DATABASE: DATABASE,
    BOTH: f"{SERVER}; {DATABASE}",
}
PROCESSES = 5  # in a round
CLOCK = "import time; started = time.process_time(); {}; print((time.process_time() - started) * 1000)"


def measure(run: Run, options: Options) -> None:
    run.claims.extend(CLAIMS)
    python = str(python_of(PROJECT))
    experiment = run.experiment(IMPORT, "import", "ms")
    say(f"{IMPORT}: {', '.join(STATEMENTS)}")
    for _ in range(options.rounds * PROCESSES):
        for name, statement in STATEMENTS.items():
            command = pinned([python, "-c", CLOCK.format(statement)], SUBJECT_CORE)
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            experiment.add(name, Sample(operations=1, cpu=0.0, rate=0.0, value=float(done.stdout)))
