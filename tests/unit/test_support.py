"""The test support itself: processes die with their group, a killed database keeps its data."""

from __future__ import annotations

import os
import signal
import sys

import pytest
from support.waiting import answers, wait_for


def alive(pid: int) -> bool:
    """Tell whether a process runs; a zombie does not."""
    try:
        with open(f"/proc/{pid}/stat") as stat:  # noqa: PTH123
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_killed_process_takes_its_children_with_it(run_process):
    """Killing the group ends a grandchild that ignores SIGTERM."""
    script = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import signal, time;"
        ' signal.signal(signal.SIGTERM, signal.SIG_IGN); print("deaf"); time.sleep(60)\'])\n'
        "print('child', child.pid)\n"
        "time.sleep(60)"
    )
    process = run_process(sys.executable, "-c", script)
    child = int(process.wait_for_line(r"^child (\d+)$")[1])
    process.wait_for_line("^deaf$")
    assert alive(child)
    process.kill()
    wait_for(lambda: not alive(child), what="the grandchild's end")


def test_waiting_for_a_process_that_ends_shows_its_output(run_process):
    process = run_process(sys.executable, "-c", "print('no licence'); raise SystemExit(3)")
    with pytest.raises(RuntimeError, match=r"status 3[^!]*no licence"):
        process.wait_for_line("never printed")


def test_stop_returns_the_status_of_the_signal(run_process):
    process = run_process(sys.executable, "-c", "import time; print('up'); time.sleep(60)")
    process.wait_for_line("^up$")
    assert process.stop() == -signal.SIGTERM


def test_free_port_is_free(free_port):
    assert not answers(free_port)


@pytest.mark.live
def test_a_restarted_tarantool_keeps_what_was_written(own_tarantool):
    """After kill -9 and a start, the row, the port and the user are there."""
    own_tarantool.lua("box.schema.space.create('kept'):create_index('primary')")
    own_tarantool.lua("box.space.kept:insert{1, 'here'}")
    before = own_tarantool.process.pid
    own_tarantool.restart()
    assert own_tarantool.process.pid != before
    assert "here" in own_tarantool.lua("return box.space.kept:get{1}")


@pytest.mark.live
@pytest.mark.skipif("TARANTOOL_URL" in os.environ, reason="TARANTOOL_URL names a server whose start is not ours")
def test_the_session_has_one_tarantool(tarantool):
    assert answers(tarantool.port, greeting=128)
    assert tarantool.url == f"tarantool://app:secret@127.0.0.1:{tarantool.port}"
