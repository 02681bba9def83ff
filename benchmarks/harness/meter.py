"""What a process and its children have used: CPU time and, where they can be counted, instructions."""

import os
from dataclasses import dataclass
from pathlib import Path

from harness.counters import InstructionCounter, why_not


@dataclass(frozen=True)
class Usage:
    """CPU microseconds (user + system) and user-mode instructions (None without counters)."""

    microseconds: float
    instructions: int | None

    def since(self, before: "Usage") -> "Usage":
        counted = self.instructions is not None and before.instructions is not None
        instructions = (self.instructions or 0) - (before.instructions or 0) if counted else None
        return Usage(self.microseconds - before.microseconds, instructions)


class Meter:
    """Reads the usage of a process tree. Open it after the warm-up, when the tree has its shape."""

    def __init__(self, process: int) -> None:
        self._processes = family(process)
        threads = [thread for member in self._processes for thread in _threads(member)]
        self._counter = InstructionCounter(threads) if why_not() is None else None

    def read(self) -> Usage:
        microseconds = sum(cpu_microseconds(member) for member in self._processes)
        return Usage(microseconds, self._counter.read() if self._counter else None)

    def close(self) -> None:
        if self._counter:
            self._counter.close()


def family(process: int) -> list[int]:
    """The process and all its descendants."""
    parents = {int(entry.name): _parent(int(entry.name)) for entry in Path("/proc").iterdir() if entry.name.isdigit()}
    members = [process]
    for member in members:
        members.extend(child for child, parent in parents.items() if parent == member)
    return members


def cpu_microseconds(process: int) -> float:
    """User + system time: the scheduler's nanoseconds, or the 10 ms ticks of /proc/PID/stat without them."""
    precise = sum(_scheduled(process, thread) for thread in _threads(process))
    return precise / 1000 if precise else _ticks(process) * 1e6 / os.sysconf("SC_CLK_TCK")


def resident_bytes(process: int) -> int:
    """Resident memory of the process and its descendants."""
    return sum(_resident(member) for member in family(process))


def _resident(process: int) -> int:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:"))


def _threads(process: int) -> list[int]:
    try:
        return [int(entry.name) for entry in Path(f"/proc/{process}/task").iterdir()]
    except FileNotFoundError:
        return []


def _scheduled(process: int, thread: int) -> int:
    try:
        return int(Path(f"/proc/{process}/task/{thread}/schedstat").read_text().split()[0])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def _ticks(process: int) -> int:
    fields = _stat(process)
    return int(fields[11]) + int(fields[12])


def _parent(process: int) -> int:
    try:
        return int(_stat(process)[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def _stat(process: int) -> list[str]:
    """Fields of /proc/PID/stat after the name, which may itself hold spaces and parentheses."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
