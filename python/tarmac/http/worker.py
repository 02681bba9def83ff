"""The life of one worker, from just after the fork to its exit status.

It tells its supervisor three things over a pipe: that it listens, and that it wants to be replaced
because it has served or holds enough. It shows on the board that its loop turns.
"""

from __future__ import annotations

import asyncio
import faulthandler
import os
import random
import signal
import sys
import threading
import time
import traceback
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn

from tarmac.errors import ConfigurationError
from tarmac.http.metrics import resident_bytes
from tarmac.http.run import run_here
from tarmac.waiting import reactor_for

if TYPE_CHECKING:
    import socket

    from tarmac.http.board import Board, Row
    from tarmac.http.metrics import Meter
    from tarmac.http.run import Program
    from tarmac.http.serve import Server
    from tarmac.http.settings import Settings
    from tarmac.http.sockets import Address

__all__ = ["ENOUGH_MEMORY", "ENOUGH_REQUESTS", "LEAVE", "READY", "Job", "become_worker"]

READY, ENOUGH_REQUESTS, ENOUGH_MEMORY = b"R", b"N", b"M"
# Drain, while your successor accepts from the same sockets.
LEAVE = signal.SIGUSR2
# Beyond the time to end, an orphan has this long.
_GRACE = 5.0


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker is given."""

    program: Program
    address: Address
    settings: Settings
    bound: list[socket.socket]
    board: Board
    row: Row
    alive_pipe: int  # its other end is the supervisor's, and closes with it
    told_pipe: int


def become_worker(job: Job) -> NoReturn:
    """Work until a signal ends it; never returns."""
    status = 1
    try:
        # SIGINT and SIGHUP reach the whole terminal group: the supervisor alone answers them.
        for ignored in (signal.SIGINT, signal.SIGHUP):
            signal.signal(ignored, signal.SIG_IGN)
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # until there is a log file to open again
        if sys.__stderr__ is not None:
            faulthandler.enable(sys.__stderr__)  # a worker that hangs shows where when it is killed
        threading.Thread(target=_end_with_supervisor, args=(job,), daemon=True).start()
        _work(job)
        status = 0
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else 1
    except ConfigurationError as error:
        print(f"tarmac: {error}", file=sys.stderr)  # noqa: T201 - one line is enough for what the message explains
    except BaseException:  # noqa: BLE001 - nothing may run past the fork
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _work(job: Job) -> None:
    app = job.program()
    # The name of a Unix socket is the supervisor's to remove.
    address = replace(job.address, uds=None, uds_mode=None, uds_owner=None)
    run_here(app, address, job.bound, job.settings, _Pulse(job))


class _Pulse:
    """Shows that the loop turns, and looks whether the worker has had enough."""

    stop_signals = (signal.SIGTERM,)
    leave_signal = LEAVE

    def __init__(self, job: Job) -> None:
        self._job = job
        self._meter: Meter | None = None
        settings = job.settings
        self._most_memory = settings.max_rss
        self._most_requests = settings.max_requests
        if self._most_requests is not None:
            self._most_requests += random.randint(0, settings.max_requests_jitter)  # noqa: S311 - no secret
        self._interval = min(0.5, (settings.worker_timeout or 60.0) / 4)

    def ready(self, server: Server) -> None:
        """Tell the supervisor, and beat from now on."""
        self._meter = server.app.meter
        if self._meter is not None:
            self._meter.share(self._job.board, self._job.row)
        self._loop = asyncio.get_running_loop()
        self._beat()
        os.write(self._job.told_pipe, READY)

    def stopping(self) -> None:
        """Nothing more is asked for; the heart beats on through the drain."""
        self._most_requests = self._most_memory = None

    def _beat(self) -> None:
        self._job.row.beat()
        if self._meter is not None:
            self._meter.show()
        self._loop.call_later(self._interval, self._beat)
        if self._most_requests is not None and self._requests() >= self._most_requests:
            self._ask(ENOUGH_REQUESTS)
        elif self._most_memory is not None and resident_bytes() >= self._most_memory:
            self._ask(ENOUGH_MEMORY)

    def _requests(self) -> int:
        return reactor_for(self._loop).stats()["requests"]

    def _ask(self, what: bytes) -> None:
        self._most_requests = self._most_memory = None
        os.write(self._job.told_pipe, what)


def _end_with_supervisor(job: Job) -> None:
    """A thread of its own, so that it also ends a worker whose loop hangs."""
    os.read(job.alive_pipe, 1)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(job.settings.time_to_end + _GRACE)
    os.kill(os.getpid(), signal.SIGKILL)
