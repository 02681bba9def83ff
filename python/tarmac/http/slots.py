"""What a supervisor knows of its workers: slots with sockets, and who serves in them."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tarmac.http.board import Row

__all__ = ["Backoff", "Slot", "Worker"]


class Backoff:
    """How long to wait before a dead worker is replaced: longer for each one that died young."""

    first = 0.1
    longest = 5.0
    grown_up = 10.0
    # So many young deaths in a row are no accident.
    many = 5

    def __init__(self) -> None:
        self.young = 0
        self._pause = 0.0

    @property
    def is_loop(self) -> bool:
        """Whether starting again has not helped for some time."""
        return self.young >= self.many

    def after(self, lived: float) -> float:
        """Seconds to wait after a worker that lived *lived* seconds."""
        if lived >= self.grown_up:
            self.young = 0
            self._pause = 0.0
            return 0.0
        self.young += 1
        pause = self._pause
        self._pause = min(max(pause * 2, self.first), self.longest)
        return pause


@dataclass(slots=True, eq=False)
class Slot:
    """A place for one worker; its sockets stay open while workers come and go."""

    bound: list[socket.socket]
    due: float | None = None  # when a worker is to be started
    serving: Worker | None = None
    fresh: Worker | None = None  # started, and does not listen yet
    backoff: Backoff = field(default_factory=Backoff)

    def close(self) -> None:
        """Give the sockets up."""
        for one in self.bound:
            one.close()
        self.bound = []


@dataclass(slots=True, eq=False)
class Worker:
    """One process."""

    process: int
    started: float
    pipe: int  # what it says
    row: Row
    slot: Slot
    ready: bool = False
    hangs: bool = False
    kill_at: float | None = None

    def send(self, number: signal.Signals) -> None:
        """Send a signal; one that has gone does not mind."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process, number)
