"""The site as a process: limits, a store that is down, few stickers, signals, the command line."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sqlite3
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from stickers.tarantool_server import TarantoolServer
from support.site import ENGINES, SiteProcess, Visitor, fill, need, need_tarantool, stickers, tokens_of
from support.waiting import answers, free_port, wait_for

from stickers import catalog

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.live


@pytest.mark.parametrize("engine", ENGINES)
def test_a_session_may_vote_so_often_and_an_address_so_often(engine: str, tmp_path: Path) -> None:
    """Fault: a loop could vote for ever. Three votes in a minute here, sixty for an address."""
    fill(tmp_path, 50)
    with SiteProcess(engine, tmp_path, ("--rate-limit", "3")) as site:
        visitor = site.visitor()
        pairs = [visitor.pair() for _ in range(4)]
        assert [303, 303, 303, 429] == [visitor.vote(*pair).status for pair in pairs]
        other = site.visitor()
        assert 303 == other.vote(*other.pair()).status
        # New sessions do not help: they are limited by address, like the votes.
        statuses = [site.visitor().get("/good").status for _ in range(65)]
        assert 429 == statuses[-1]
        assert 58 <= statuses.count(200) <= 61
        assert 200 == visitor.get("/good").status, "whoever was here before may look on"
        assert [429] == list({other.vote("x", "y").status for _ in range(60)} - {403})


@pytest.mark.parametrize("engine", ENGINES)
def test_behind_a_trusted_proxy(engine: str, tmp_path: Path) -> None:
    """The proxy's word about TLS makes the cookie Secure; its word about the address is kept."""
    fill(tmp_path, 50)
    with SiteProcess(engine, tmp_path, ("--behind-proxy",)) as site:
        headers = {"X_Forwarded_Proto": "https", "X_Forwarded_For": "6.6.6.6, 9.9.9.9"}
        assert "; Secure" in site.visitor().get("/", **headers).headers["Set-Cookie"]
        with contextlib.closing(sqlite3.connect(tmp_path / "stickers.db")) as rows:
            assert [("9.9.9.9",)] == rows.execute("SELECT address FROM sessions").fetchall()


@pytest.mark.parametrize("engine", ENGINES)
def test_few_stickers_and_none(engine: str, tmp_path: Path) -> None:
    """Fault: with fewer than nine stickers the pages fell over."""
    fill(tmp_path, 1)
    with SiteProcess(engine, tmp_path) as site, contextlib.closing(sqlite3.connect(tmp_path / "stickers.db")) as rows:
        visitor = site.visitor()
        assert "not enough stickers" in visitor.get("/").text
        assert 1 == visitor.get("/good").text.count("<li>")
        rows.execute("DELETE FROM stickers")
        rows.commit()
        for path in ("/", "/good", "/bad", "/ugliest", "/about"):
            assert 200 == visitor.get(path).status
        assert 404 == visitor.get("/stickers/mint-ghosts").status


@pytest.mark.parametrize("engine", ENGINES)
def test_a_locked_file_is_a_503_and_comes_back(engine: str, tmp_path: Path) -> None:
    """Fault: a store that was down was a traceback."""
    fill(tmp_path, 50)
    with SiteProcess(engine, tmp_path) as site, contextlib.closing(sqlite3.connect(tmp_path / "stickers.db")) as rows:
        visitor = site.visitor()
        visitor.get("/")
        rows.execute("BEGIN EXCLUSIVE")
        answer = visitor.get("/")
        assert (503, "5") == (answer.status, answer.headers["Retry-After"])
        assert "Traceback" not in answer.text
        assert "sqlite" not in answer.text.lower()
        assert 200 == visitor.get("/about").status
        rows.rollback()
        assert 200 == visitor.get("/").status


@pytest.mark.parametrize(("engine", "store"), [("aiohttp", "tarantool-asynctnt"), ("tarmac", "tarantool")])
def test_tarantool_may_die_and_return(engine: str, store: str, tmp_path: Path) -> None:
    """503 while it is away, no restart of the site needed, and every accepted vote is still there."""
    need_tarantool()
    need("asynctnt" if store == "tarantool-asynctnt" else "tarmac")
    server = TarantoolServer(tmp_path / "tarantool", free_port())
    with server:
        assert 0 == stickers("load", "-s", store, "--count", "50", "--url", server.url("stickers_admin")).returncode
        with SiteProcess(engine, tmp_path, ("--rate-limit", "0", "--url", server.url()), store) as site:
            visitor = site.visitor()
            assert 303 == visitor.vote(*visitor.pair()).status
            server.stop(signal.SIGKILL)
            answer = visitor.get("/good")
            assert 503 == answer.status
            assert "Traceback" not in answer.text
            assert 200 == visitor.get("/ugly").status
            assert 200 == visitor.get("/about").status
            server.start()
            wait_for(lambda: visitor.get("/good").status == 200, timeout=15, what="the store to be back")
            assert "1 " in visitor.get("/good?format=plain").text.splitlines()[0][:2]
            wait_for(lambda: "<dd>1</dd>" in visitor.get("/about").text, timeout=10, what="fresh numbers")


@pytest.mark.parametrize(("engine", "store"), [("aiohttp", "tarantool-asynctnt"), ("tarmac", "tarantool")])
def test_no_acknowledged_vote_is_lost_when_the_store_crashes(engine: str, store: str, tmp_path: Path) -> None:
    """Six visitors vote all the time, Tarantool is killed and started again; wal_mode is write."""
    need_tarantool()
    need("asynctnt" if store == "tarantool-asynctnt" else "tarmac")
    pages, votes = Counter[int](), Counter[int]()
    crash_now, back_again = threading.Event(), threading.Event()

    def vote_all_the_time(visitor: Visitor) -> None:
        accepted_since = 0
        while accepted_since < 30:
            page = visitor.get("/")
            pages[page.status] += 1
            if page.status == 200:
                status = visitor.vote(*tokens_of(page)).status
                votes[status] += 1
                accepted_since += back_again.is_set() and status == 303
            if votes[303] > 100:
                crash_now.set()

    with TarantoolServer(tmp_path / "tarantool", free_port()) as server:
        assert 0 == stickers("load", "-s", store, "--count", "500", "--url", server.url("stickers_admin")).returncode
        with (
            SiteProcess(engine, tmp_path, ("--rate-limit", "0", "--url", server.url()), store) as site,
            ThreadPoolExecutor(6) as crowd,
        ):
            voters = [crowd.submit(vote_all_the_time, site.visitor()) for _ in range(6)]
            assert crash_now.wait(20)
            server.stop(signal.SIGKILL)
            server.start()
            back_again.set()
            assert [None] * 6 == [voter.result(timeout=30) for voter in voters]
        counted = asyncio.run(votes_in(store, server.url()))
    print(f"{engine}: pages {dict(pages)}, votes {dict(votes)}, counted {counted}")
    assert pages.keys() <= {200, 503}
    assert votes.keys() <= {303, 503}
    if store == "tarantool-asynctnt":
        # This driver fails at once; tarmac's waits for the server, and may get through without a refusal.
        assert pages[503] + votes[503] > 0, "the crash was not noticed"
    # What was answered 503 may have been counted: the server died before it could tell.
    assert votes[303] <= counted <= votes[303] + votes[503]


async def votes_in(name: str, url: str) -> int:
    store = catalog.store(name, url=url)
    await store.open()
    try:
        return (await store.statistics()).votes
    finally:
        await store.close()


@pytest.mark.parametrize(("engine", "store"), [("aiohttp", "tarantool-asynctnt"), ("tarmac", "tarantool")])
def test_the_site_starts_before_its_store(engine: str, store: str, tmp_path: Path) -> None:
    """A store that is down at the start is a 503, not an exit."""
    need_tarantool()
    need("asynctnt" if store == "tarantool-asynctnt" else "tarmac")
    server = TarantoolServer(tmp_path / "tarantool", free_port())
    with SiteProcess(engine, tmp_path, ("--url", server.url()), store) as site:
        assert 503 == site.visitor().get("/good").status
        with server:
            wait_for(lambda: site.visitor().get("/good").status == 200, timeout=15, what="the store to be there")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(engine: str, number: int, tmp_path: Path) -> None:
    """Status 0, nothing about it on the terminal."""
    fill(tmp_path, 50)
    with SiteProcess(engine, tmp_path) as site:
        site.visitor().get("/")
        assert site.process is not None
        assert 0 == site.process.stop(number), site.process.output
        assert "Traceback" not in site.process.output


@pytest.mark.parametrize(
    ("engine", "store"),
    [
        ("aiohttp", "tarantool-asynctnt"),
        ("starlette", "tarantool-asynctnt"),
        ("fastapi", "tarantool-asynctnt"),
        ("tarmac", "tarantool"),
    ],
)
def test_a_request_in_flight_is_answered_before_the_end(engine: str, store: str, tmp_path: Path) -> None:
    """SIGTERM comes while the store has not answered yet: the visitor still gets the page."""
    need_tarantool()
    need("asynctnt" if store == "tarantool-asynctnt" else "tarmac")
    with TarantoolServer(tmp_path / "tarantool", free_port()) as server:
        assert 0 == stickers("load", "-s", store, "--count", "20", "--url", server.url("stickers_admin")).returncode
        options = ("--rate-limit", "0", "--url", server.url())
        with (
            SiteProcess(engine, tmp_path, options, store) as site,
            socket.create_connection(("127.0.0.1", site.port), timeout=10) as link,
        ):
            server.send(signal.SIGSTOP)
            link.sendall(b"GET /good HTTP/1.1\r\nHost: here\r\n\r\n")
            # Whoever has answered these two has read what came before them.
            assert [200, 200] == [site.visitor().get("/ugly").status for _ in range(2)]
            assert site.process is not None
            site.process.send(signal.SIGTERM)
            wait_for(lambda: not answers(site.port), what="the site to accept nothing more")
            server.send(signal.SIGCONT)
            assert link.recv(65536).startswith(b"HTTP/1.1 200")
            assert 0 == site.process.wait()


@pytest.mark.parametrize("engine", ENGINES)
def test_uvloop_serves_the_same(engine: str, tmp_path: Path) -> None:
    """The same engine on the other event loop."""
    need("uvloop")
    fill(tmp_path, 50)
    with SiteProcess(engine, tmp_path, ("--uvloop",)) as site:
        assert 200 == site.visitor().get("/good").status


def test_two_workers_share_one_store(tmp_path: Path) -> None:
    """Workers are stateless: a session of one is known to the other, and their votes add up."""
    fill(tmp_path, 50)
    with SiteProcess("tarmac", tmp_path, ("--rate-limit", "0", "--workers", "2")) as site:
        visitor = site.visitor()
        visitor.get("/")

        def vote_often(_: int) -> set[int]:
            return {visitor.vote(*visitor.pair()).status for _ in range(30)}

        with ThreadPoolExecutor(8) as crowd:
            assert [{303}] * 8 == list(crowd.map(vote_often, range(8)))
        wait_for(lambda: "<dd>240</dd>" in visitor.get("/about").text, timeout=10, what="the sum of all votes")
        assert site.process is not None
        assert 0 == site.process.stop()
    refused = stickers("-e", "aiohttp", "--workers", "2", "--data", tmp_path)
    assert (2, True) == (refused.returncode, "several workers need" in refused.stderr)
