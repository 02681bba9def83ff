"""The tutorial, page by page: a guest book in a database, its tests, and how it is put to work."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest
from support import waiting
from support.pages import Service, program
from support.sources import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.process import Process
    from support.tarantool import OwnTarantool

pytestmark = pytest.mark.live

DATABASE = "docs/tutorial/database.md"
TESTS = "docs/tutorial/tests.md"
DEPLOYMENT = "docs/tutorial/deployment.md"
TARMAC = [sys.executable, "-m", "tarmac"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder with the programs of the pages."""
    (tmp_path / "guests.py").write_text(program(DATABASE, 0))
    (tmp_path / "test_guests.py").write_text(program(TESTS, 0))
    return tmp_path


@pytest.fixture
def run(run_process: Callable[..., Process], folder: Path, own_tarantool: OwnTarantool) -> Callable[..., Process]:
    """Give `run(*command)`: in that folder, with a database."""
    environment = {"TARANTOOL_URL": own_tarantool.url, "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    return lambda *command, **more: run_process(*command, cwd=folder, env={**environment, **more})


def commands(page: str) -> list[list[str]]:
    """What a page has people type, without the prompt."""
    return [shlex.split(line) for line in re.findall(r"^\$ (.+)$", (ROOT / page).read_text(), re.MULTILINE)]


def test_the_guest_book_keeps_what_guests_say(folder, run, free_port):
    text = (folder / "guests.py").read_text()
    (folder / "guests.py").write_text(text.replace("port=8080", f"port={free_port}"))
    (start, sign, look) = commands(DATABASE)
    assert ["python", "guests.py"] == start
    process = run(sys.executable, *start[1:])
    process.wait_for_port(free_port)
    service = Service(free_port, process)
    fields = dict(field.split("=") for field in (sign[2], sign[4]))
    assert 303 == service.ask("/", **fields)[0]
    shown = re.search(r"^(\[\{.*)$", (ROOT / DATABASE).read_text(), re.MULTILINE)
    assert shown
    assert (200, shown[1]) == service.ask(look[1].removeprefix("http://127.0.0.1:8080"))
    assert "<b>Ann</b> I was here" in service.ask("/")[1]
    assert 400 == service.ask("/", name=" ")[0]
    assert "Guest book" in service.ask("/docs")[1]


def test_the_tests_of_the_tutorial_pass(run):
    (command,) = commands(TESTS)
    process = run(sys.executable, "-m", *command, "-q", "-p", "no:cacheprovider")
    assert 0 == process.wait(60), process.output
    assert "6 passed" in process.output


def test_a_missing_database_is_told(folder, run, own_tarantool, free_port):
    text = (folder / "guests.py").read_text()
    (folder / "guests.py").write_text(text.replace("port=8080", f"port={free_port}").replace("timeout=5", "timeout=1"))
    process = run(sys.executable, "guests.py")
    process.wait_for_port(free_port)
    own_tarantool.kill()
    status, said = Service(free_port, process).ask("/")
    assert (503, "the book is being fetched, come back in a minute") == (status, said)


def test_the_program_is_looked_at_before_it_is_served(run):
    check, routes, _ = commands(DEPLOYMENT)
    looked = run(*TARMAC, *check[1:])
    assert 0 == looked.wait(), looked.output
    listed = run(*TARMAC, *routes[1:])
    assert 0 == listed.wait()
    assert "/api/guests" in listed.output


def on_other_ports(words: list[str]) -> tuple[list[str], int, int]:
    """The command of a page on ports that are free here; both are told."""
    port, metrics = waiting.free_port(), waiting.free_port()
    moved = [{"8000": str(port), "9100": str(metrics)}.get(word, word) for word in words]
    assert words != moved
    return moved, port, metrics


def served(process: Process, port: int, metrics: int) -> None:
    process.wait_for_line(rf"^listening on http://127\.0\.0\.1:{port}$")
    service = Service(port, process)
    assert 303 == service.ask("/", name="Ann")[0]
    (entry,) = json.loads(service.ask("/api/guests")[1])
    assert "Ann" == entry["name"]
    with urllib.request.urlopen(f"http://127.0.0.1:{metrics}/health", timeout=5) as health:
        assert 200 == health.status
    with urllib.request.urlopen(f"http://127.0.0.1:{metrics}/metrics", timeout=5) as numbers:
        assert b"# TYPE" in numbers.read()
    assert 0 == process.stop()


def test_the_command_that_serves_it(run):
    words, port, metrics = on_other_ports(commands(DEPLOYMENT)[2])
    process = run(*TARMAC, *words[1:])
    served(process, port, metrics)
    assert '"POST / HTTP/1.1" 303' in process.output


def test_the_service_of_systemd(run):
    """The unit's own command, given a socket for its notices as systemd gives one."""
    unit: dict[str, Any] = dict(re.findall(r"^(\w+)=(.*)$", (ROOT / DEPLOYMENT).read_text(), re.MULTILINE))
    assert "notify" == unit["Type"]
    words, port, metrics = on_other_ports(shlex.split(unit["ExecStart"]))
    assert words[0].endswith("/bin/tarmac")
    served(run(*TARMAC, *words[1:]), port, metrics)
