"""CPU time and memory of whole process groups, and of the machine, read from /proc."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class ProcessStat:
    """The fields of one `/proc/PID/stat` line that the lab needs; times in seconds."""

    pid: int
    name: str
    state: str
    group: int
    cpu: float
    reaped_children_cpu: float


@dataclass(frozen=True, slots=True)
class CoreTimes:
    """What one core (or all of them) did since boot, in seconds."""

    busy: float
    steal: float
    idle: float


def parse_stat(line: str) -> ProcessStat:
    """Parse a stat line. The name may hold spaces and parentheses, so the last `)` ends it."""
    opening, closing = line.index("("), line.rindex(")")
    rest = line[closing + 2 :].split()
    ticks = [int(value) for value in rest[11:15]]
    return ProcessStat(
        pid=int(line[:opening]),
        name=line[opening + 1 : closing],
        state=rest[0],
        group=int(rest[2]),
        cpu=(ticks[0] + ticks[1]) / TICKS_PER_SECOND,
        reaped_children_cpu=(ticks[2] + ticks[3]) / TICKS_PER_SECOND,
    )


def group_members(group: int, proc: Path = PROC) -> list[ProcessStat]:
    """Every living process of the group; processes that end while we look are left out."""
    members: list[ProcessStat] = []
    for folder in proc.iterdir():
        if not folder.name.isdigit():
            continue
        try:
            stat = parse_stat((folder / "stat").read_text())
        except (OSError, ValueError):
            continue
        if stat.group == group:
            members.append(stat)
    return members


def group_cpu(group: int, proc: Path = PROC) -> float:
    """User plus system seconds of the group, with the children it has already reaped.

    A reaped child's time stands in exactly one living ancestor, so nothing counts twice.
    """
    return sum(stat.cpu + stat.reaped_children_cpu for stat in group_members(group, proc))


def group_peak_memory(group: int, proc: Path = PROC) -> int:
    """Sum of the peak resident sizes (VmHWM) of the group's processes, in bytes."""
    total = 0
    for stat in group_members(group, proc):
        try:
            status = (proc / str(stat.pid) / "status").read_text()
        except OSError:
            continue
        total += parse_peak_memory(status)
    return total


def parse_peak_memory(status: str) -> int:
    """`VmHWM:     5120 kB` of a `/proc/PID/status` text, in bytes; 0 where it is missing."""
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def parse_core_times(text: str) -> dict[str, CoreTimes]:
    """`/proc/stat` as {'cpu': all, 'cpu0': ...}. Interrupt time is nobody's, so it is left out.

    The kernel handles loopback packets in soft interrupts: counting them as foreign work
    would make every race look disturbed.
    """
    cores: dict[str, CoreTimes] = {}
    for line in text.splitlines():
        if not line.startswith("cpu"):
            break
        name, *values = line.split()
        user, nice, system, idle, iowait, _irq, _softirq, steal = (
            int(value) / TICKS_PER_SECOND for value in values[:8]
        )
        cores[name] = CoreTimes(busy=user + nice + system, steal=steal, idle=idle + iowait)
    return cores


def machine_times() -> CoreTimes:
    """What all cores together did since boot."""
    return parse_core_times((PROC / "stat").read_text())["cpu"]
