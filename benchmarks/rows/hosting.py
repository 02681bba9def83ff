"""H7 and H8: applications of others, hosted by tarmac and by the servers made for them."""

from harness import wrk
from harness.environments import PROJECT
from harness.fleet import Entry, Fleet
from harness.options import Options
from harness.results import Claim, Run
from harness.slots import alternate

from rows.hello import turns

ROWS = ("H7", "H8")

ASGI = "bare ASGI hello, 100 connections"
FASTAPI = "FastAPI, one JSON answer, 100 connections"

CLAIMS = (
    Claim("H7", "bare ASGI hello, hosted", ASGI, "tarmac", "uvicorn", 0.5),
    Claim("H7", "bare ASGI hello, hosted", ASGI, "tarmac", "granian", 0.6),
    Claim("H8", "FastAPI, hosted", FASTAPI, "tarmac with FastAPI", "uvicorn with FastAPI", 0.8),
)

SERVERS = {
    ASGI: (
        Entry("tarmac", PROJECT, "hosted_tarmac.py", ("hello_uvicorn",)),
        Entry("uvicorn", "uvicorn", "hello_uvicorn.py"),
        Entry("granian", "granian", "hello_granian.py"),
    ),
    FASTAPI: (
        Entry("tarmac with FastAPI", PROJECT, "hosted_tarmac.py", ("hosted_fastapi",), lent="fastapi-alone"),
        Entry("uvicorn with FastAPI", "fastapi", "hosted_fastapi.py"),
    ),
}
EXPECTED = {ASGI: b"Hello world!", FASTAPI: b'{"hello":"world"}'}


def measure(run: Run, options: Options) -> None:
    claims = [claim for claim in CLAIMS if options.wants(claim.row)]
    run.claims.extend(claims)
    wrk.require()
    with Fleet(run) as fleet:
        for name in dict.fromkeys(claim.experiment for claim in claims):
            for server in SERVERS[name]:
                fleet.add_entry(server, "/")
            entries = {server.name: (server.name, "/") for server in SERVERS[name]}
            alternate(run.experiment(name), turns(fleet, entries, wrk.Load(), EXPECTED[name]), options.rounds)
