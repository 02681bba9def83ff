"""What a server tells of itself: numbers for Prometheus, its health, a line for each request."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import sys
from typing import TYPE_CHECKING

import pytest
import tarmac
from support.http import Wire, connected, request, served
from support.loops import on_every_loop, until
from support.waiting import free_port, wait_for
from tarmac import App, Limits
from tarmac.http.metrics import NAMES, TOTALS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.process import Process

pytestmark = pytest.mark.live

PROGRAM = """
import asyncio, os
from tarmac import App

app = App()
app.metrics()
app.health()

@app.get("/")
def hello(request):
    return str(os.getpid())
"""

LISTENING = r"^listening on http://127\.0\.0\.1:(\d+)$"


def site() -> App:
    app = App()
    app.metrics()
    app.get("/")(lambda request: "hello")
    app.state.go_on = asyncio.Event()

    @app.get("/slow")
    async def slow(request):
        await app.state.go_on.wait()
        return "done"

    @app.get("/stream")
    async def stream(request):
        return tarmac.stream([b"abc", b"de"])

    return app


def samples(page: bytes) -> dict[str, float]:
    lines = [line.rpartition(" ") for line in page.decode().splitlines() if not line.startswith("#")]
    return {name: float(number) for name, _, number in lines}


async def numbers(wire: Wire) -> dict[str, float]:
    answer = await wire.get("/metrics")
    assert "text/plain; version=0.0.4; charset=utf-8" == answer.header("Content-Type")
    return samples(answer.body)


@on_every_loop
async def test_every_answer_is_counted_by_method_and_class():
    async with connected(site()) as wire:
        for path, method in (("/", "GET"), ("/", "GET"), ("/", "HEAD"), ("/nothing", "GET"), ("/", "POST")):
            await wire.get(path, method=method)
        found = await numbers(wire)
    counted = {name: count for name, count in found.items() if name.startswith("tarmac_http_requests_total") and count}
    assert {
        'tarmac_http_requests_total{method="GET",status="2xx"}': 2,
        'tarmac_http_requests_total{method="HEAD",status="2xx"}': 1,
        'tarmac_http_requests_total{method="GET",status="4xx"}': 1,
        'tarmac_http_requests_total{method="POST",status="4xx"}': 1,
    } == counted
    assert 5 == found["tarmac_http_request_seconds_count"] == found['tarmac_http_request_seconds_bucket{le="+Inf"}']
    assert 1 == found["tarmac_workers"]
    assert found["process_resident_memory_bytes"] > 10_000_000
    assert found["process_open_fds"] > 3


@on_every_loop
async def test_the_page_is_what_prometheus_reads():
    """Each family has its help and its type once, before its samples; buckets only grow."""
    async with connected(site()) as wire:
        page = (await wire.get("/metrics")).body.decode()
    families = re.findall(r"^# HELP (\S+) .+\n# TYPE \1 (counter|gauge|histogram)$", page, re.MULTILINE)
    assert len(families) == len(set(families)) == page.count("# TYPE") == page.count("# HELP")
    assert len(NAMES) == len(samples(page.encode()))
    buckets = [count for name, count in samples(page.encode()).items() if "_bucket" in name]
    assert sorted(buckets) == buckets
    assert {NAMES[place].partition("{")[0] for place in range(len(NAMES)) if place not in TOTALS} == {
        name for name, kind in families if kind == "gauge"
    }


@on_every_loop
async def test_what_runs_waits_is_refused_or_leaves_is_told():
    app = site()
    async with served(app, limits=Limits(connections=3, header_timeout=0.05)) as server, Wire(server.port) as asker:
        before = await numbers(asker)
        assert (1, 1) == (before["tarmac_http_connections"], before["tarmac_http_requests_in_flight"])
        async with Wire(server.port) as wire:
            wire.send("GET / HTTP/9\r\n\r\n")
            await wire.rest()
        async with Wire(server.port) as wire:
            wire.send("GET / HT")
            await wire.rest()
        async with Wire(server.port) as wire:
            wire.send(request("/slow"))
            await until(lambda: server.requests_in_flight == 1)
            assert 2 == (await numbers(asker))["tarmac_http_requests_in_flight"]
            async with Wire(server.port), Wire(server.port) as fourth:
                await fourth.rest()
            wire.reset()
        await until(lambda: server.connections == 1)
        app.state.go_on.set()
        after = await numbers(asker)
    for name in (
        'tarmac_http_refused_total{reason="version"}',
        'tarmac_http_refused_total{reason="connections"}',
        'tarmac_http_timeouts_total{kind="header"}',
        "tarmac_http_clients_left_total",
    ):
        assert (0, 1) == (before[name], after[name]), name


@pytest.fixture
def run(run_process: Callable[..., Process], tmp_path: Path) -> Callable[..., tuple[Process, int]]:
    """Give `run(*options)`; it tells the process and its port."""
    (tmp_path / "program.py").write_text(PROGRAM)

    def start(*options: str) -> tuple[Process, int]:
        command = ["tarmac", "run", "program:app", "--app-dir", str(tmp_path), "--port", "0", *options]
        process = run_process(sys.executable, "-m", *command)
        return process, int(process.wait_for_line(LISTENING)[1])

    return start


def get(port: int, path: str, headers: str = "") -> tuple[int, bytes]:
    async def exchange() -> tuple[int, bytes]:
        async with Wire(port) as wire:
            answer = await wire.get(path, headers=f"{headers}Connection: close\r\n")
            return answer.status, answer.body

    return asyncio.run(exchange())


def answered(port: int, path: str = "/metrics") -> int:
    return int(samples(get(port, path)[1])['tarmac_http_requests_total{method="GET",status="2xx"}'])


def test_each_worker_answers_for_all_also_for_those_that_have_gone(run):
    process, port = run("--workers", "2")
    seen = set()

    def both_have_answered() -> bool:
        seen.add(get(port, "/")[1])
        return len(seen) == 2

    wait_for(both_have_answered, what="an answer of each worker: the kernel spreads connections")
    for _ in range(40):
        get(port, "/")
    wait_for(lambda: samples(get(port, "/metrics")[1])["tarmac_workers"] == 2, what="two workers")
    before = answered(port)
    wait_for(lambda: answered(port) > 40, what="the numbers of both")
    process.send(signal.SIGHUP)
    process.wait_for_line("all workers are new")
    wait_for(lambda: samples(get(port, "/metrics")[1])["tarmac_workers"] == 2, what="two workers again")
    after = [answered(port) for _ in range(10)]
    assert min(after) >= before, "what the old ones counted stays"
    assert 0 == process.stop()


def test_numbers_and_health_have_a_port_of_their_own(run):
    own = free_port()
    process, port = run("--metrics-port", str(own), "--workers", "2")
    assert {200} == {get(port, "/")[0] for _ in range(5)}
    wait_for(lambda: answered(own) >= 5, what="the numbers of both")
    assert (200, "ok") == ((answer := get(own, "/health"))[0], json.loads(answer[1])["status"])
    assert 404 == get(own, "/")[0]
    assert 0 == process.stop()


def test_health_tells_of_the_end_while_requests_are_still_taken(run):
    process, port = run("--drain-delay", "600")
    assert 200 == get(port, "/health")[0]
    process.send(signal.SIGTERM)
    wait_for(lambda: get(port, "/health")[0] == 503, what="the news")
    assert (200, "stopping") == (get(port, "/")[0], json.loads(get(port, "/health")[1])["status"])
    process.send(signal.SIGTERM)
    assert 0 == process.wait(5)


@on_every_loop
async def test_checks_decide_on_health():
    app = App()
    wrong: dict[str, object] = {"result": True}

    def disk():
        return wrong["result"]

    async def database():
        if isinstance(error := wrong["result"], Exception):
            raise error

    app.health("/fit", disk, database)
    async with connected(app) as wire:
        assert 200 == (await wire.get("/fit")).status
        wrong["result"] = OSError("gone")
        answer = await wire.get("/fit")
        assert (503, {"database": "OSError: gone"}) == (answer.status, json.loads(answer.body)["failed"])
        wrong["result"] = False
        answer = await wire.get("/fit")
        assert (503, {"disk": "false"}) == (answer.status, json.loads(answer.body)["failed"])
