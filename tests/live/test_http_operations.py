"""What surrounds a server: pid file, sockets that systemd opened, words to the service manager, commands."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support.http import Wire
from support.sources import ROOT
from support.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.process import Process

    Run = Callable[..., Process]

pytestmark = pytest.mark.live

HELLO = (sys.executable, "-m", "tarmac", "run", "hello:app", "--app-dir", str(ROOT / "examples"))
LISTENING = r"^listening on http://127\.0\.0\.1:(\d+)$"


def ask(port: int = 0, **where: str) -> bytes:
    async def exchange() -> bytes:
        async with Wire(port, **where) as wire:
            return (await wire.get("/", headers="Connection: close\r\n")).body

    return asyncio.run(exchange())


@pytest.mark.parametrize("workers", [(), ("--workers", "2")], ids=["alone", "supervised"])
def test_the_pid_file_is_there_while_it_serves(run_process: Run, tmp_path: Path, workers):
    path = tmp_path / "tarmac.pid"
    process = run_process(*HELLO, "--port", "0", "--pid-file", str(path), *workers)
    process.wait_for_line(LISTENING)
    assert process.pid == int(path.read_text())
    assert 0 == process.stop()
    assert not path.exists()


def test_a_pid_file_that_is_anothers_by_now_is_left(run_process: Run, tmp_path: Path):
    path = tmp_path / "tarmac.pid"
    process = run_process(*HELLO, "--port", "0", "--pid-file", str(path))
    process.wait_for_line(LISTENING)
    path.write_text("1")
    assert 0 == process.stop()
    assert "1" == path.read_text()


@pytest.mark.parametrize("workers", [(), ("--workers", "2")], ids=["alone", "supervised"])
def test_a_unix_socket_has_the_rights_asked_for(run_process: Run, tmp_path: Path, workers):
    path = tmp_path / "x.sock"
    process = run_process(*HELLO, "--uds", str(path), "--uds-mode", "600", *workers)
    process.wait_for_line("^listening on unix:")
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)
    assert b"Hello world!" == ask(uds=str(path))
    assert 0 == process.stop()
    assert not path.exists()


STARTER = """
import fcntl, os, socket, sys
given = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print("ports", *(one.getsockname()[1] for one in given), flush=True)
copies = [fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, 100) for one in given]
for number, copy in enumerate(copies, 3):
    os.dup2(copy, number, inheritable=True)
os.environ["LISTEN_PID"], os.environ["LISTEN_FDS"] = str(os.getpid()), "2"
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


@pytest.mark.parametrize("workers", [(), ("--workers", "2")], ids=["alone", "supervised"])
def test_sockets_that_systemd_opened_are_served_and_stay_open(run_process: Run, tmp_path: Path, workers):
    """Both of them, at once; and a reload keeps them."""
    (tmp_path / "starter.py").write_text(STARTER)
    process = run_process(sys.executable, str(tmp_path / "starter.py"), *HELLO[1:], *workers)
    ports = process.wait_for_line(r"^ports (\d+) (\d+)$")
    process.wait_for_line("^listening on fd 3 4$")
    assert [b"Hello world!"] * 2 == [ask(int(port)) for port in ports.groups()]
    if workers:
        process.send(signal.SIGHUP)
        process.wait_for_line("all workers are new")
        assert [b"Hello world!"] * 2 == [ask(int(port)) for port in ports.groups()]
    assert 0 == process.stop()


def test_the_service_manager_hears_of_every_change(run_process: Run, tmp_path: Path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(10)

        def hear() -> str:
            while (said := manager.recv(100).decode().split("\n")[0]) == "WATCHDOG=1":
                beats.append(said)
            return said

        beats: list[str] = []
        environment = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "100000"}
        process = run_process(*HELLO, "--port", "0", "--workers", "1", env=environment)
        assert "READY=1" == hear()
        process.send(signal.SIGHUP)
        assert ["RELOADING=1", "READY=1"] == [hear(), hear()]
        assert "WATCHDOG=1" == manager.recv(100).decode()
        process.send(signal.SIGTERM)
        assert "STOPPING=1" == hear()
    assert 0 == process.wait(10)


def test_a_port_that_somebody_listens_on_is_named(run_process: Run):
    first = run_process(*HELLO, "--port", "0")
    port = first.wait_for_line(LISTENING)[1]
    second = run_process(*HELLO, "--port", port)
    assert 1 == second.wait(10)
    assert f"tarmac: cannot listen on 127.0.0.1:{port}: Address already in use" in second.output
    third = run_process(*HELLO, "--port", port, "--reuse-port")
    third.wait_for_line(LISTENING)
    assert (0, 0) == (first.stop(), third.stop())


def tarmac(*words: str, folder: Path) -> tuple[int, str]:
    command = [sys.executable, "-m", "tarmac", *words, "--app-dir", str(folder)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=20)
    return done.returncode, done.stdout + done.stderr


def test_the_table_of_routes_is_printed():
    status, printed = tarmac("routes", "todo:app", folder=ROOT / "examples")
    assert 0 == status
    assert re.search(r"^PATCH +/todos/\{number:int\} +change +todo\.change:\d+$", printed, re.MULTILINE)
    assert re.match(r"method +pattern +name +handler\n", printed)


def test_a_program_is_checked_without_serving_it(tmp_path: Path):
    assert (0, "ok: 2 routes\n") == tarmac("check", "hello:app", folder=ROOT / "examples")
    (tmp_path / "wrong.py").write_text(
        "import tarmac\napp = tarmac.App()\n"
        "app.get('/{x}')(lambda request, x: x)\napp.get('/{y:colour}')(lambda request, y: y)\n"
    )
    status, printed = tarmac("check", "wrong:app", folder=tmp_path)
    assert (1, True) == (status, printed.startswith("tarmac: ")), printed


def test_settings_of_the_projects_file_are_used(run_process: Run, tmp_path: Path):
    settings = f'[tool.tarmac]\napp = "hello:app"\napp-dir = "{ROOT / "examples"}"\nport = 0\nserver-header = false\n'
    (tmp_path / "pyproject.toml").write_text(settings)
    process = run_process(sys.executable, "-m", "tarmac", "run", cwd=tmp_path)
    port = int(process.wait_for_line(LISTENING)[1])

    async def headers() -> list[str]:
        async with Wire(port) as wire:
            return [name for name, _ in (await wire.get("/")).fields]

    assert "Server" not in asyncio.run(headers())
    assert 0 == process.stop()


def test_a_wrong_module_is_told_once_by_the_first_worker(run_process: Run, tmp_path: Path):
    command = ("run", "nothing:app", "--app-dir", str(tmp_path), "--port", "0", "--workers", "3")
    process = run_process(sys.executable, "-m", "tarmac", *command)
    assert 1 == process.wait(10)
    assert 1 == process.output.count("tarmac: there is no module 'nothing'")
    assert "Traceback" not in process.output


def test_workers_that_hang_end_with_their_supervisor(run_process: Run, tmp_path: Path):
    """Also one whose loop does not turn, so that it hears of nothing: after its time to end."""
    (tmp_path / "stuck.py").write_text(
        "import time, tarmac\napp = tarmac.App()\n"
        "@app.get('/')\ndef hang(request):\n    print('hangs', flush=True)\n    time.sleep(600)\n"
    )
    command = ("run", "stuck:app", "--app-dir", str(tmp_path), "--port", "0", "--workers", "1")
    process = run_process(sys.executable, "-m", "tarmac", *command, "--drain", "0", "--timeout-shutdown", "0")
    port = int(process.wait_for_line(LISTENING)[1])
    with socket.create_connection(("127.0.0.1", port)) as wire:
        wire.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        process.wait_for_line("^hangs$")
        (worker,) = (int(word) for word in children(process.pid).split())
        os.kill(process.pid, signal.SIGKILL)
        wait_for(lambda: not running(worker), timeout=15, what="the end of the worker")


def children(process: int) -> str:
    with open(f"/proc/{process}/task/{process}/children") as file:  # noqa: PTH123 - no file on a disk
        return file.read()


def running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
