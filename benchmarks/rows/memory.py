"""M1: memory of an idle worker that serves the sticker site."""

from harness.fleet import Fleet
from harness.meter import resident_bytes
from harness.options import Options
from harness.processes import fetch
from harness.results import Claim, Run, Sample
from harness.site import Site

ROWS = ("M1",)

IDLE = "idle worker with the site"
EVERY_PAGE = ("/", "/good", "/bad", "/ugly", "/about")

CLAIMS = (
    Claim(
        "M1",
        "resident memory of an idle worker with the site loaded",
        IDLE,
        "tarmac",
        None,
        60.0,
        metric="value",
        unit="MiB",
    ),
)


def measure(run: Run, options: Options) -> None:
    """Every page is asked for once, so that templates and modules are in."""
    run.claims.extend(CLAIMS)
    with Site() as site, Fleet(run) as fleet:
        fleet.add("tarmac", site.command("tarmac", "tarantool"), "/good")
        fleet.add("aiohttp + asynctnt", site.command("aiohttp", "tarantool-asynctnt"), "/good")
        experiment = run.experiment(IDLE, "worker", "MiB")
        for name, server in fleet.running.items():
            for path in EVERY_PAGE:
                fetch(server.base + path)
            experiment.add(name, Sample(operations=1, cpu=0.0, rate=0.0, value=resident_bytes(server.pid) / 2**20))
