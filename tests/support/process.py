"""A child process in a group of its own: its output is kept, and nothing of it outlives the test."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from typing import TYPE_CHECKING, Self

from support.waiting import answers, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path


class Process:
    """Runs a command with its output in a file; use it as a context manager."""

    def __init__(
        self, command: Sequence[str | Path], *, log: Path, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> None:
        """Start the command at once; `env` is added to the present environment."""
        self.command = [str(part) for part in command]
        self.log = log
        with log.open("ab") as output:
            self._child = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **(env or {})},
                cwd=cwd,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """The process id, which is its group's id too."""
        return self._child.pid

    @property
    def status(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return self._child.poll()

    @property
    def output(self) -> str:
        """Everything printed so far, standard error included."""
        return self.log.read_text(errors="replace")

    def wait(self, timeout: float = 10.0) -> int:
        """Return the exit status once the process has ended by itself."""
        return self._child.wait(timeout)

    def wait_for_port(self, port: int, *, greeting: int = 0, timeout: float = 10.0) -> None:
        """Return once the port answers; raise at once if the process ends before."""
        self._wait(lambda: answers(port, greeting=greeting), f"port {port}", timeout)

    def wait_for_line(self, pattern: str, *, timeout: float = 10.0) -> re.Match[str]:
        """Return the first match of a regular expression in the output."""
        found: list[re.Match[str]] = []

        def seen() -> bool:
            found.extend(re.finditer(pattern, self.output, re.MULTILINE))
            return bool(found)

        self._wait(seen, f"{pattern!r} in the output", timeout)
        return found[0]

    def send(self, number: int) -> None:
        """Send a signal to the process alone; its children are its own affair."""
        self._child.send_signal(number)

    def stop(self, number: int = signal.SIGTERM, *, timeout: float = 10.0) -> int:
        """Ask the process to end and return its status; the group is killed when it does not."""
        if self.status is None:
            self.send(number)
        try:
            return self.wait(timeout)
        finally:
            self.kill()

    def kill(self) -> None:
        """Kill the whole group, whatever its members think of signals."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._child.wait()

    def _wait(self, condition: Callable[[], bool], what: str, timeout: float) -> None:
        def settled() -> bool:
            if self.status is not None:
                message = f"{self.command[0]} ended with status {self.status} before {what}:\n{self.output}"
                raise RuntimeError(message)
            return condition()

        wait_for(settled, timeout=timeout, what=f"{what} of {' '.join(self.command)}:\n{self.output}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
