"""What a supervised server survives: killed, hung and crashing workers, reloads and ends under load."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import sys
from collections import Counter
from typing import TYPE_CHECKING, Self

import pytest
from support.http import Wire, request
from support.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.process import Process

    Tarmac = Callable[..., tuple[Process, int]]

pytestmark = pytest.mark.live

PROGRAM = """
import asyncio, os, time
from tarmac import App

app = App()
VERSION = "one"

@app.get("/")
async def pid(request):
    return f"{os.getpid()} {VERSION}"

@app.get("/slow")
async def slow(request):
    await asyncio.sleep(0.05)
    return f"{os.getpid()} {VERSION}"

@app.get("/busy")
def busy(request):
    time.sleep(0.003)
    return f"{os.getpid()} {VERSION}"

@app.get("/hang")
def hang(request):
    time.sleep(600)

@app.get("/eat")
def eat(request):
    app.state.eaten = bytearray(os.urandom(1) * 200_000_000)
    return "full"
"""

LISTENING = r"^listening on http://127\.0\.0\.1:(\d+)$"


@pytest.fixture
def tarmac(run_process: Callable[..., Process], tmp_path: Path) -> Tarmac:
    """Give `tarmac(*options)`; it runs the program and tells the process and its port."""
    (tmp_path / "program.py").write_text(PROGRAM)

    def start(*options: str) -> tuple[Process, int]:
        command = ["tarmac", "run", "program:app", "--app-dir", str(tmp_path), "--port", "0", *options]
        process = run_process(sys.executable, "-m", *command, env={"PYTHONDONTWRITEBYTECODE": "1"})
        return process, int(process.wait_for_line(LISTENING)[1])

    return start


class Load:
    """Clients that ask without a pause, on lasting and on fresh connections; every outcome is counted.

    ``closed`` is a goodbye where no request was under way, as it is allowed after an answer that said
    ``Connection: close``. ``refused`` is a connection that never began. ``lost`` is everything else.
    """

    def __init__(
        self, port: int, *, paths: tuple[str, ...] = ("/", "/slow"), clients: int = 12, lasts: int = 2
    ) -> None:
        self.port = port
        self.outcomes: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()
        self.losses: list[str] = []
        self._paths = paths
        self._clients = clients
        self._lasts = lasts  # so many of three keep their connections
        self._on = True

    async def __aenter__(self) -> Self:
        self._tasks = [
            asyncio.create_task(self._client(self._paths[number % len(self._paths)], lasting=number % 3 < self._lasts))
            for number in range(self._clients)
        ]
        await self.more(200)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._on = False
        await asyncio.gather(*self._tasks)

    async def more(self, answers: int) -> None:
        """Wait until so many more answers have come."""
        goal = self.outcomes["answered"] + answers
        async with asyncio.timeout(20):
            while self.outcomes["answered"] < goal:  # noqa: ASYNC110 - a counter has no bell
                await asyncio.sleep(0.005)

    async def until_alone(self) -> None:
        """Wait until nobody accepts any more."""
        async with asyncio.timeout(20):
            while not self.outcomes["refused"]:  # noqa: ASYNC110 - a counter has no bell
                await asyncio.sleep(0.005)

    async def _client(self, path: str, *, lasting: bool) -> None:
        while self._on:
            try:
                async with asyncio.timeout(10), Wire(self.port) as wire:
                    await self._talk(wire, path, lasting=lasting)
            except ConnectionRefusedError:
                self.outcomes["refused"] += 1
                return

    async def _talk(self, wire: Wire, path: str, *, lasting: bool) -> None:
        while self._on:
            try:
                answer = await wire.get(path)
            except (OSError, EOFError) as error:
                self.outcomes["lost"] += 1
                self.losses.append(f"{path} {lasting} {error!r}")
                return
            assert 200 == answer.status
            self.outcomes["answered"] += 1
            self.seen[answer.body.decode()] += 1
            if not lasting or answer.header("Connection") == "close":
                return


def processes(load: Load) -> set[int]:
    return {int(body.split()[0]) for body in load.seen}


def test_a_killed_worker_is_replaced_and_the_others_go_on(tarmac: Tarmac):
    """Only requests that the dead one held are lost."""
    process, port = tarmac("--workers", "2")

    async def scenario() -> Load:
        async with Load(port) as load:
            while len(processes(load)) < 2:
                await load.more(50)
            victim = min(processes(load))
            load.seen.clear()
            os.kill(victim, signal.SIGKILL)
            while len(processes(load) - {victim}) < 2:
                await load.more(50)
        return load

    load = asyncio.run(scenario())
    assert load.outcomes["lost"] <= 12, load.losses  # one for each client at most
    assert 0 == load.outcomes["refused"]
    assert re.search(r"ended with signal 9; another one starts", process.output)
    assert 0 == process.stop()


@pytest.mark.parametrize("options", [(), ("--workers", "1"), ("--workers", "2")], ids=" ".join)
def test_the_end_under_load_loses_nothing(tarmac: Tarmac, options):
    """Every request of a connection that was accepted is answered; then connections are refused."""
    process, port = tarmac(*options)

    async def scenario() -> Load:
        async with Load(port) as load:
            process.send(signal.SIGTERM)
            await load.until_alone()
        return load

    load = asyncio.run(scenario())
    assert (0, []) == (process.wait(10), load.losses)
    assert load.outcomes["refused"]


@pytest.mark.parametrize("options", [(), ("--workers", "2")], ids=" ".join)
def test_who_waits_to_be_accepted_at_the_end_is_answered(tarmac: Tarmac, options):
    """A listening socket that is closed resets what waits in its queue: it is emptied before."""
    process, port = tarmac(*options)

    async def scenario() -> Load:
        async with Load(port, paths=("/busy",), clients=60, lasts=0) as load:
            process.send(signal.SIGTERM)
            await load.until_alone()
        return load

    load = asyncio.run(scenario())
    assert (0, []) == (process.wait(10), load.losses)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_reload_under_load_loses_nothing_and_runs_new_code(tarmac: Tarmac, workers, tmp_path: Path):
    process, port = tarmac("--workers", workers)

    async def scenario() -> Load:
        async with Load(port) as load:
            for version in ("two", "three"):
                (tmp_path / "program.py").write_text(PROGRAM.replace('"one"', f'"{version}"'))
                process.send(signal.SIGHUP)
                found = sum(body.endswith(version) for body in load.seen)
                while found < int(workers):
                    await load.more(50)
                    found = sum(body.endswith(version) for body in load.seen)
                await asyncio.to_thread(wait_for, lambda: len(children(process.pid)) == int(workers), timeout=20)
            load.seen.clear()
            await load.more(100)
        return load

    load = asyncio.run(scenario())
    assert [] == load.losses
    assert 0 == load.outcomes["refused"]
    assert {"three"} == {body.split()[1] for body in load.seen}
    assert 0 == process.stop()


def test_a_reload_of_a_broken_program_keeps_the_old_one(tarmac: Tarmac, tmp_path: Path):
    process, port = tarmac("--workers", "2")
    (tmp_path / "program.py").write_text("this is no Python")
    process.send(signal.SIGHUP)
    process.wait_for_line("before it listened: the old ones go on")
    assert "SyntaxError" in process.output
    assert b"one" in ask(port)
    (tmp_path / "program.py").write_text(PROGRAM.replace('"one"', '"two"'))
    process.send(signal.SIGHUP)
    wait_for(lambda: b"two" in ask(port), what="the mended program")
    assert 0 == process.stop()


def test_workers_are_replaced_after_enough_requests_without_a_loss(tarmac: Tarmac):
    process, port = tarmac("--workers", "1", "--max-requests", "300", "--max-requests-jitter", "10")

    async def scenario() -> Load:
        async with Load(port) as load:
            while len(processes(load)) < 3:
                await load.more(50)
        return load

    load = asyncio.run(scenario())
    assert [] == load.losses
    assert min(sum(count for body, count in load.seen.items() if body.startswith(f"{pid} ")) for pid in processes(load))
    assert 0 == process.stop()


def test_a_worker_that_holds_too_much_memory_is_replaced(tarmac: Tarmac):
    process, port = tarmac("--max-rss", "150MB")
    before = ask(port)
    assert b"full" == ask(port, "/eat")
    wait_for(lambda: ask(port) != before, what="another worker")
    assert 0 == process.stop()


def test_a_worker_that_hangs_is_killed_and_says_where(tarmac: Tarmac):
    process, port = tarmac("--workers", "1", "--worker-timeout", "0.5")
    before = ask(port)
    with pytest.raises((OSError, EOFError)):
        ask(port, "/hang")
    assert before != ask(port)
    assert "has not turned its loop for 0.5 s: killed" in process.output
    assert re.search(r'program\.py", line \d+ in hang', process.output)
    assert 0 == process.stop()


def test_a_crash_loop_is_told_and_ends_when_the_cause_does(tarmac: Tarmac, tmp_path: Path):
    process, port = tarmac("--workers", "2")
    (tmp_path / "program.py").write_text("raise SystemExit(3)")
    before = ask(port)
    for worker in children(process.pid):
        os.kill(worker, signal.SIGKILL)
    process.wait_for_line("5 workers in a row died young: the program is broken", timeout=30)
    (tmp_path / "program.py").write_text(PROGRAM)
    wait_for(lambda: answered(port), timeout=20, what="a worker of the mended program")
    assert before != ask(port)
    assert 0 == process.stop()


def test_workers_are_added_and_taken_away(tarmac: Tarmac):
    process, port = tarmac("--workers", "1")
    process.send(signal.SIGTTIN)
    wait_for(lambda: len(children(process.pid)) == 2)
    wait_for(lambda: len({ask(port) for _ in range(20)}) == 2, what="two workers that answer")
    process.send(signal.SIGTTOU)
    process.send(signal.SIGTTOU)
    wait_for(lambda: len(children(process.pid)) == 1)
    assert b"one" in ask(port)
    assert 0 == process.stop()


def children(process: int) -> list[int]:
    """The workers of a supervisor."""
    with open(f"/proc/{process}/task/{process}/children") as file:  # noqa: PTH123 - no file on a disk
        return [int(word) for word in file.read().split()]


def answered(port: int) -> bool:
    with contextlib.suppress(OSError, EOFError, TimeoutError):
        return bool(ask(port))
    return False


def ask(port: int, path: str = "/") -> bytes:
    async def exchange() -> bytes:
        async with Wire(port) as wire:
            wire.send(request(path, headers="Connection: close\r\n"))
            return (await wire.answer()).body

    return asyncio.run(exchange())
