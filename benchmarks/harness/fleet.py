"""The servers of one family: all started and alive at once, one core for all, each with its meter."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.environments import extra_packages, python_of
from harness.errors import Broken, Unavailable
from harness.meter import Meter
from harness.paths import BENCHMARKS
from harness.processes import free_port, start_server
from harness.results import Run
from harness.slots import say


@dataclass(frozen=True)
class Entry:
    """A server: its environment, its file under ``subjects``, arguments after the ports, and lent packages."""

    name: str
    environment: str
    file: str
    arguments: tuple[str, ...] = ()
    lent: str | None = None


@dataclass(frozen=True)
class Running:
    """A live server."""

    base: str
    meter: Meter
    pid: int


class Fleet:
    """Servers by name; those that cannot start are skipped with a reason."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._stack = ExitStack()
        self.running: dict[str, Running] = {}

    def add(
        self, name: str, command: Callable[[str], Sequence[str | Path]], ready: str | None, *, lent: str | None = None
    ) -> None:
        """Start ``command(port)`` and wait until the path *ready* answers 200; None: until it listens."""
        try:
            port = free_port()
            base = f"http://127.0.0.1:{port}"
            extra = {"PYTHONPATH": str(extra_packages(lent))} if lent else {}
            url = None if ready is None else base + ready
            child = start_server(command(str(port)), url, port=port, environment=extra)
        except (Unavailable, Broken) as error:
            self._run.skip(name, str(error))
            say(f"skipped {name}: {error}")
            return
        self._stack.callback(child.end)
        meter = Meter(child.pid)
        self._stack.callback(meter.close)
        self.running[name] = Running(base, meter, child.pid)

    def add_entry(self, entry: Entry, ready: str | None, *ports: int) -> None:
        def command(port: str) -> list[str | Path]:
            file = BENCHMARKS / "subjects" / entry.file
            return [python_of(entry.environment), file, port, *map(str, ports), *entry.arguments]

        self.add(entry.name, command, ready, lent=entry.lent)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
