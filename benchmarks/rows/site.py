"""P3: the sticker site's pages as a visitor gets them, templates and session included."""

import urllib.request
from collections.abc import Callable

from harness import wrk
from harness.errors import Broken
from harness.fleet import Fleet, Running
from harness.options import Options
from harness.results import Claim, Run, Sample
from harness.site import Site
from harness.slots import Turn, alternate, http_slot

ROWS = ("P3",)

GOOD, INDEX = "site: good page with template", "site: index page with template"
PAGES = {GOOD: "/good", INDEX: "/"}
TARMAC, AIOHTTP, STARLETTE = "site on tarmac", "site on aiohttp + asynctnt", "site on uvicorn (Starlette) + asynctnt"

CLAIMS = tuple(Claim("P3", name.removeprefix("site: "), name, TARMAC, AIOHTTP, 0.5) for name in PAGES)


def measure(run: Run, options: Options) -> None:
    run.claims.extend(CLAIMS)
    wrk.require()
    with Site() as site, Fleet(run) as fleet:
        fleet.add(TARMAC, site.command("tarmac", "tarantool"), "/good")
        fleet.add(AIOHTTP, site.command("aiohttp", "tarantool-asynctnt", "--uvloop"), "/good", lent="uvloop")
        fleet.add(STARLETTE, site.command("starlette", "tarantool-asynctnt", "--uvloop"), "/good", lent="uvloop")
        for page, path in PAGES.items():
            turns = [Turn(name, _slot(server, path)) for name, server in fleet.running.items()]
            alternate(run.experiment(page), turns, options.rounds)


def _slot(server: Running, path: str) -> Callable[[], Sample]:
    """A returning visitor: the session cookie of a first visit is sent along."""

    def slot() -> Sample:
        load = wrk.Load(cookie=_cookie(server.base + path))
        return http_slot(server.meter, server.base + path, load)

    return slot


def _cookie(url: str) -> str:
    with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - our own server
        given = answer.headers.get_all("Set-Cookie")
        body = answer.read()
    if not given or b"<html" not in body:
        raise Broken(f"{url} gave no cookie or no page")
    return "; ".join(cookie.partition(";")[0] for cookie in given)
