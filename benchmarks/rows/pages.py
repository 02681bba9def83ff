"""P1, P2 and P4: database pages without a template, against uvicorn and aiohttp with asynctnt."""

from collections.abc import Callable

from harness import wrk
from harness.environments import PROJECT
from harness.errors import Broken
from harness.fleet import Entry, Fleet, Running
from harness.options import Options
from harness.processes import fetch
from harness.results import Claim, Run, Sample
from harness.slots import Turn, alternate, http_slot
from harness.tarantool import Tarantool

ROWS = ("P1", "P2", "P4")

GOOD = "page: one select of nine rows"
THREE = "page: three selects in a row"
INDEX = "index page, nine requests"
PROCEDURE = "index page, one stored procedure"
PAGES = {GOOD: "/good", THREE: "/three", INDEX: "/index", PROCEDURE: "/procedure"}
LINES = {GOOD: 9, THREE: 27, INDEX: 2, PROCEDURE: 2}

AIOHTTP, UVICORN = "aiohttp + asynctnt", "uvicorn + asynctnt"

CLAIMS = (
    Claim("P1", "page of one select, no template", GOOD, "tarmac", AIOHTTP, 0.33),
    Claim("P1", "three selects in a row, no template", THREE, "tarmac", AIOHTTP, 0.33),
    Claim("P2", "index page, many requests", INDEX, "tarmac", AIOHTTP, 0.33),
    Claim(
        "P4",
        "index in one stored procedure against many requests",
        PROCEDURE,
        "tarmac",
        "tarmac",
        0.6,
        theirs_experiment=INDEX,
    ),
)
NEEDED = {"P1": (GOOD, THREE), "P2": (INDEX,), "P4": (INDEX, PROCEDURE)}


ENTRIES = (
    Entry("tarmac", PROJECT, "pages_tarmac.py"),
    Entry("tarmac on uvloop", PROJECT, "pages_tarmac.py", ("uvloop",), lent="uvloop"),
    Entry(UVICORN, "uvicorn", "pages_uvicorn.py"),
    Entry(AIOHTTP, "aiohttp", "pages_aiohttp.py"),
)


def measure(run: Run, options: Options) -> None:
    run.claims.extend(claim for claim in CLAIMS if options.wants(claim.row))
    wrk.require()
    wanted = [page for page in PAGES if any(page in NEEDED[row] for row in ROWS if options.wants(row))]
    with Tarantool() as tarantool, Fleet(run) as fleet:
        for entry in ENTRIES:
            fleet.add_entry(entry, "/good", tarantool.port)
        for page in wanted:
            turns = [Turn(name, _slot(page, server, tarantool)) for name, server in fleet.running.items()]
            alternate(run.experiment(page), turns, options.rounds)


def _slot(page: str, server: Running, tarantool: Tarantool) -> Callable[[], Sample]:
    url = server.base + PAGES[page]

    def slot() -> Sample:
        body = fetch(url) or b""
        if len(body.splitlines()) != LINES[page]:
            raise Broken(f"{url} answered {body[:200]!r}")
        tarantool.evaluate("bench.clear_pages()")
        sample = http_slot(server.meter, url, wrk.Load())
        if page in (INDEX, PROCEDURE):
            _compare(page, sample, tarantool.evaluate("box.space.sessions:len()"))
        return sample

    return slot


def _compare(page: str, sample: Sample, sessions: float) -> None:
    """Every page counted has left its session; pages cut off at the end of the slot may have left one too."""
    cut_off = wrk.Load().connections * 2
    if not sample.operations <= sessions <= sample.operations + cut_off:
        raise Broken(f"{page}: {sample.operations} pages left {sessions:.0f} sessions")
