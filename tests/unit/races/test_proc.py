"""Reading /proc: hostile process names, whole groups, the machine's own times."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from races import proc

TICK = proc.TICKS_PER_SECOND


def stat_line(pid: int, name: str, group: int, *ticks: int) -> str:
    user, system, child_user, child_system = ticks
    return (
        f"{pid} ({name}) S 1 {group} {group} 0 -1 4194304 99 0 0 0 {user} {system} {child_user} {child_system} 20 0 1"
    )


def fake_proc(root: Path, *processes: tuple[int, str, int, int]) -> Path:
    for pid, name, group, ticks in processes:
        folder = root / str(pid)
        folder.mkdir()
        (folder / "stat").write_text(stat_line(pid, name, group, ticks, 0, 0, 0))
        (folder / "status").write_text(f"Name:\t{name}\nVmHWM:\t    {pid} kB\n")
    (root / "meminfo").write_text("not a process")
    return root


@pytest.mark.parametrize("name", ["python", "a b", "x) S 9 9 9 (y", "()", ") R 1"])
def test_a_name_cannot_break_the_line(name: str) -> None:
    """The name is chosen by the program; the last bracket of the line ends it."""
    stat = proc.parse_stat(stat_line(42, name, 7, 150, 50, 30, 20))
    assert (42, name, "S", 7) == (stat.pid, stat.name, stat.state, stat.group)
    assert pytest.approx((200 / TICK, 50 / TICK)) == (stat.cpu, stat.reaped_children_cpu)


def test_a_group_is_the_sum_of_its_processes(tmp_path: Path) -> None:
    root = fake_proc(tmp_path, (10, "server", 10, 100), (11, "worker", 10, 300), (12, "other", 12, 999))
    assert pytest.approx(400 / TICK) == proc.group_cpu(10, root)
    assert (10 + 11) * 1024 == proc.group_peak_memory(10, root)


def test_a_process_that_ends_meanwhile_is_left_out(tmp_path: Path) -> None:
    root = fake_proc(tmp_path, (10, "server", 10, 100))
    (root / "13").mkdir()
    assert [10] == [stat.pid for stat in proc.group_members(10, root)]


def test_a_reaped_child_counts_once() -> None:
    """A real child burns CPU and is reaped: its time stands in the parent's line, and only there."""
    code = (
        "import os, subprocess, sys\n"
        "subprocess.run([sys.executable, '-c', 'sum(range(6_000_000))'], check=True)\n"
        "print(sum(os.times()[:4]), flush=True)\n"
        "input()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        told = float(process.stdout.readline())
        seen = proc.group_cpu(process.pid)
        process.communicate("\n")
    assert told > 0.05
    assert pytest.approx(told, abs=0.05) == seen


def test_memory_of_a_status_without_memory_is_nothing() -> None:
    """Kernel threads have no VmHWM."""
    assert proc.parse_peak_memory("Name:\tkthreadd\n") == 0
    assert 5120 * 1024 == proc.parse_peak_memory("Name:\tx\nVmHWM:\t  5120 kB\nVmRSS:\t 1 kB\n")


def test_interrupts_are_nobodys_work() -> None:
    """User nice system idle iowait irq softirq steal guest: 1+2+3 busy, 8 stolen, 4+5 idle."""
    text = "cpu  100 200 300 400 500 600 700 800 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\nintr 5\n"
    cores = proc.parse_core_times(text)
    assert {"cpu", "cpu0"} == set(cores)
    assert pytest.approx((600 / TICK, 800 / TICK, 900 / TICK)) == (
        cores["cpu"].busy,
        cores["cpu"].steal,
        cores["cpu"].idle,
    )


def test_the_machine_is_at_least_as_busy_as_this_process() -> None:
    own = os.times()
    assert proc.machine_times().busy >= own.user
