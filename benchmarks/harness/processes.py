"""Starts, pins, awaits and ends the processes of a benchmark; none outlives it."""

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from harness.errors import Broken

CORES = sorted(os.sched_getaffinity(0))
SUBJECT_CORE = CORES[0]  # the process that is measured
OTHER_CORE = CORES[-1]  # load, or database

START_SECONDS = 20.0


class Child:
    """A pinned child process in a group of its own; its output goes to a file that is shown if it fails."""

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        core: int,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        interactive: bool = False,
    ) -> None:
        self.command = [str(part) for part in command]
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by end()
        self.popen = subprocess.Popen(
            pinned(self.command, core),
            stdin=subprocess.PIPE if interactive else subprocess.DEVNULL,
            stdout=subprocess.PIPE if interactive else self._log,
            stderr=self._log,
            env={**os.environ, **(environment or {})},
            cwd=folder,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        return self.popen.pid

    def log_tail(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "no output"

    def wait_until(self, ready: Callable[[], bool], what: str) -> None:
        """Wait for *ready*; a child that ends or is late is ``Broken``, with what it printed."""
        deadline = time.monotonic() + START_SECONDS
        while not ready():
            if self.popen.poll() is not None:
                raise Broken(f"{what} ended with status {self.popen.returncode}: {self.log_tail()}")
            if time.monotonic() > deadline:
                raise Broken(f"{what} was not ready in {START_SECONDS:.0f} s: {self.log_tail()}")
            time.sleep(0.02)

    def end(self) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self._gone(0.0):
                break
            self._signal(number)
            self._gone(3.0)
        # Workers of a master that died first are still in the group.
        self._signal(signal.SIGKILL)
        self._log.close()

    def _gone(self, seconds: float) -> bool:
        try:
            self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.popen.pid, number)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()


def pinned(command: Sequence[str], core: int) -> list[str]:
    """The command line that runs *command* on one core, from its first instruction."""
    return ["taskset", "--cpu-list", str(core), *command]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def fetch(url: str) -> bytes | None:
    """The body of a 200 answer, or None while nothing answers. Another status is ``Broken``."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - our own server
            body: bytes = answer.read()
            return body
    except urllib.error.HTTPError as error:
        raise Broken(f"{url} answered {error.code}") from error
    except (OSError, http.client.HTTPException):
        return None


def start_server(
    command: Sequence[str | Path], url: str | None, *, port: int = 0, environment: Mapping[str, str] | None = None
) -> Child:
    """A server on the subject's core that answers *url*, or that listens on *port* where there is none."""
    child = Child(command, core=SUBJECT_CORE, environment=environment)
    try:
        answers = (lambda: listens(port)) if url is None else (lambda: fetch(url) is not None)
        child.wait_until(answers, " ".join(Path(part).name for part in child.command[:3]))
    except BaseException:
        child.end()
        raise
    return child
