"""Fixtures for every test: a real Tarantool, free ports, processes that cannot outlive their test."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import pytest
from support import pages, waiting
from support.process import Process
from support.tarantool import OwnTarantool, Tarantool, installed

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path

PROCESSES = pytest.StashKey[list[Process]]()


@pytest.fixture
def free_port() -> int:
    """Give a TCP port of 127.0.0.1 that nobody listens on."""
    return waiting.free_port()


@pytest.fixture
def run_process(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Give `run(*command, env=..., cwd=...)`; what it started is killed with all its children when the test ends."""
    started: list[Process] = request.node.stash.setdefault(PROCESSES, [])

    def run(*command: str | Path, **options: Any) -> Process:
        process = Process(command, log=tmp_path / f"process-{len(started)}.log", **options)
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()


@pytest.fixture
def serve(run_process: Callable[..., Process], free_port: int, tmp_path: Path) -> Callable[..., pages.Service]:
    """Give `serve(page, number)`: runs the page's nth Python block on a free port."""

    def start(page: str, number: int = 0, **replaced: str) -> pages.Service:
        path = tmp_path / "program.py"
        path.write_text(pages.program(page, number, **{"port=8080": f"port={free_port}", **replaced}))
        process = run_process(sys.executable, path)
        process.wait_for_port(free_port)
        return pages.Service(free_port, process)

    return start


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show what a failed test's processes printed."""
    report = yield
    if report.failed:
        for process in item.stash.get(PROCESSES, []):
            report.sections.append((f"output of {' '.join(process.command)}", process.output))
    return report


@pytest.fixture(scope="session")
def tarantool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tarantool]:
    """Give the session's Tarantool: the one TARANTOOL_URL names, or a private one."""
    if url := os.environ.get("TARANTOOL_URL"):
        yield Tarantool.at(url)
        return
    yield from _own(tmp_path_factory.mktemp("tarantool"))


@pytest.fixture
def own_tarantool(tmp_path: Path) -> Iterator[OwnTarantool]:
    """Give a Tarantool that this test alone may kill, restart or fill."""
    yield from _own(tmp_path)


def _own(folder: Path) -> Iterator[OwnTarantool]:
    if installed() is None:
        pytest.skip("no tarantool on PATH: apt-get install tarantool, or set TARANTOOL_URL to a server")
    server = OwnTarantool(folder=folder)
    try:
        server.start()
        yield server
    finally:
        server.kill()
