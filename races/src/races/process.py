"""Start a process group on given cores, wait until it answers, count its CPU, end it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from races import proc
from races.errors import CannotRunHere, LabError
from races.status import Status

STOP_PATIENCE = 3.0
POLL = 0.01
DEATH_PATIENCE = 0.2
CANNOT_RUN_HERE = Status.CANNOT_RUN_HERE


class Group:
    """A program, its children, and the file its output goes to. Use as a context manager."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cores: Sequence[int],
        log: Path,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> None:
        self.command = list(command)
        self.log = log
        with log.open("ab") as output, pinned(cores):
            try:
                self.process = subprocess.Popen(
                    self.command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=None if environment is None else dict(environment),
                    cwd=folder,
                    start_new_session=True,
                )
            except OSError as error:
                raise LabError(f"cannot start {command[0]}: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def id(self) -> int:
        return self.process.pid

    def cpu(self) -> float:
        return proc.group_cpu(self.id)

    def peak_memory(self) -> int:
        return proc.group_peak_memory(self.id)

    def exit_status(self) -> int | None:
        return self.process.poll()

    def wait_for_port(self, port: int, patience: float) -> None:
        """Until something listens on the port; LabError with the log's end if it never does."""
        deadline = time.monotonic() + patience
        while not is_listening(port):
            if self.exit_status() == CANNOT_RUN_HERE:
                raise CannotRunHere(self.last_words(1))
            if self.exit_status() is not None:
                raise LabError(f"{self.command[0]} ended with status {self.exit_status()}: {self.last_words()}")
            if time.monotonic() > deadline:
                raise LabError(f"nothing listens on port {port} after {patience:.0f} s")
            time.sleep(POLL)

    def state(self) -> str:
        """Whether it still runs, and the last it said, for an error message."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(DEATH_PATIENCE)
        status = self.exit_status()
        return f"{'still runs' if status is None else f'ended with status {status}'}: {self.last_words()}"

    def last_words(self, lines: int = 6) -> str:
        """The end of its output."""
        text = self.log.read_text(errors="replace").strip().splitlines()
        return " | ".join(text[-lines:]) or "(no output)"

    def stop(self) -> None:
        """TERM to the whole group, then KILL to what is left of it."""
        self._signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(STOP_PATIENCE)
        self._signal(signal.SIGKILL)
        self.process.wait()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.id, number)


@contextlib.contextmanager
def pinned(cores: Sequence[int]) -> Iterator[None]:
    """Let children started in the block inherit these cores; this thread returns to its own."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, set(cores))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextlib.contextmanager
def confined(cores: set[int]) -> Iterator[None]:
    """Keep all threads of the lab itself (the live table has one) off the server's core."""
    threads = [int(thread.name) for thread in Path("/proc/self/task").iterdir()]
    before = {thread: os.sched_getaffinity(thread) for thread in threads}
    for thread in threads:
        os.sched_setaffinity(thread, cores)
    try:
        yield
    finally:
        for thread, old in before.items():
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(thread, old)


def is_listening(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    """A port that was free a moment ago; whoever takes it first wins, and the lab will notice."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
