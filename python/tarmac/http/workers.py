"""Several processes on one port: a supervisor that starts them, restarts the dead and passes the end on.

::

    supervisor --fork--> worker      binds its own socket with SO_REUSEPORT (a Unix socket is shared)
               <--byte-- worker      "I listen"
               --EOF---> worker      the supervisor is gone: drain and leave
               -SIGTERM> worker      drain; again: cut off

A worker that dies before anybody ever listened is a defect of the program: the supervisor gives up and
returns its status. Later deaths are answered by a restart, quick ones with a growing pause.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import select
import signal
import sys
import time
import traceback
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn

from tarmac.http import sockets
from tarmac.http.run import announce_url, run_here

if TYPE_CHECKING:
    from tarmac.http.app import App
    from tarmac.http.run import Settings
    from tarmac.http.serve import Server
    from tarmac.http.sockets import Address

__all__ = ["Backoff", "supervise"]

_log = logging.getLogger("tarmac.workers")
_WATCHED = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)
# Beyond the drain, a worker has this long to shut down before it is killed.
_GRACE = 5.0


class Backoff:
    """How long to wait before a dead worker is replaced: longer for each one that died young."""

    first = 0.1
    longest = 5.0
    grown_up = 10.0

    def __init__(self) -> None:
        self._pause = 0.0

    def after(self, lived: float) -> float:
        """Seconds to wait after a worker that lived *lived* seconds."""
        if lived >= self.grown_up:
            self._pause = 0.0
            return 0.0
        pause = self._pause
        self._pause = min(max(pause * 2, self.first), self.longest)
        return pause


@dataclass(slots=True)
class _Worker:
    process: int
    started: float
    ready_pipe: int


class _Supervisor:
    def __init__(self, app: App, address: Address, settings: Settings, count: int) -> None:
        self.app = app
        self.settings = settings
        self.count = count
        self.reserved = sockets.bind(address)
        port = sockets.port_of(self.reserved)
        self.address = address if address.shared else replace(address, port=port)
        self.url = address.url(port)
        self.workers: dict[int, _Worker] = {}
        self.backoff = Backoff()
        self.announced = False
        self.failed = 0
        self.signals = 0
        self.kill_at: float | None = None
        self.due: list[float] = [0.0] * count  # when the missing workers are to be started
        self.alive_read, self.alive_write = os.pipe()

    def run(self) -> int:
        """Watch until every worker has gone for good; the status to exit with."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
        try:
            while self.workers or not self.stopping:
                self._start_due()
                self._wait()
                self._reap()
                self._kill_late()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            self._clean_up()
        return self.failed

    @property
    def stopping(self) -> bool:
        return self.signals > 0 or self.failed != 0

    def _start_due(self) -> None:
        if self.stopping:
            self.due.clear()
            return
        now = time.monotonic()
        for _ in [at for at in self.due if at <= now]:
            self._fork()
        self.due = [at for at in self.due if at > now]

    def _fork(self) -> None:
        ready_read, ready_write = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        process = os.fork()
        if process == 0:
            os.close(ready_read)
            os.close(self.alive_write)
            _become_worker(self, ready_write)
        os.close(ready_write)
        os.set_blocking(ready_read, False)
        self.workers[process] = _Worker(process, time.monotonic(), ready_read)

    def _wait(self) -> None:
        """Sleep until a signal, or until something is due; readiness is looked at in between."""
        came = signal.sigtimedwait(_WATCHED, self._patience())
        self._hear_ready()
        if came is not None and came.si_signo in {signal.SIGTERM, signal.SIGINT}:
            self.signals += 1
            self._pass_on()

    def _patience(self) -> float:
        now = time.monotonic()
        times = [*self.due, *([self.kill_at] if self.kill_at else [])]
        nearest = min((max(at - now, 0.0) for at in times), default=1.0)
        return min(nearest, 1.0 if self.announced else 0.02)

    def _hear_ready(self) -> None:
        if self.announced or not self.workers:
            return
        pipes = {worker.ready_pipe for worker in self.workers.values()}
        for pipe in select.select(pipes, [], [], 0)[0]:
            with contextlib.suppress(BlockingIOError):
                if os.read(pipe, 1):
                    self.announced = True
        if self.announced and not self.settings.quiet:
            announce_url(self.url)

    def _pass_on(self) -> None:
        self.kill_at = time.monotonic() + (self.settings.drain if self.signals == 1 else 0) + _GRACE
        for process in self.workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)

    def _reap(self) -> None:
        for worker in list(self.workers.values()):
            process, status = os.waitpid(worker.process, os.WNOHANG)
            if process:
                del self.workers[process]
                self._bury(worker, os.waitstatus_to_exitcode(status))

    def _bury(self, worker: _Worker, code: int) -> None:
        if not self.announced and os.read(worker.ready_pipe, 1):
            self.announced = True
        os.close(worker.ready_pipe)
        if self.stopping:
            return
        if not self.announced:
            self.failed = code if code > 0 else 1
            self._pass_on()
            return
        pause = self.backoff.after(time.monotonic() - worker.started)
        how = f"signal {-code}" if code < 0 else f"status {code}"
        _log.warning("worker %d ended with %s; another one starts in %.1f s", worker.process, how, pause)
        self.due.append(time.monotonic() + pause)

    def _kill_late(self) -> None:
        if self.kill_at is None or time.monotonic() < self.kill_at:
            return
        for process in self.workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def _clean_up(self) -> None:
        for descriptor in (self.alive_read, self.alive_write):
            os.close(descriptor)
        for one in self.reserved:
            one.close()
        if self.address.uds is not None:
            sockets.remove_unix(self.address.uds)


def supervise(app: App, address: Address, settings: Settings, count: int) -> None:
    """Keep *count* workers alive until SIGTERM or SIGINT; return when all have drained.

    Raises ``SystemExit`` when no worker could start.
    """
    status = _Supervisor(app, address, settings, count).run()
    if status:
        raise SystemExit(status)


def _become_worker(supervisor: _Supervisor, ready_pipe: int) -> NoReturn:
    """The life of a worker, from just after the fork to its exit status."""
    status = 1
    try:
        # SIGINT reaches the whole terminal group: the supervisor alone answers it, with SIGTERM.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)
        _work(supervisor, ready_pipe)
        status = 0
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else 1
    except BaseException:  # noqa: BLE001 - nothing may run past the fork
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _work(supervisor: _Supervisor, ready_pipe: int) -> None:
    settings = replace(supervisor.settings, stop_signals=(signal.SIGTERM,), quiet=True)
    if supervisor.address.shared:
        bound = [one.dup() for one in supervisor.reserved]
    else:
        bound = sockets.bind(supervisor.address)
        for one in supervisor.reserved:
            one.close()

    def ready(_: Server) -> None:
        asyncio.get_running_loop().add_reader(supervisor.alive_read, _orphaned, supervisor.alive_read)
        os.write(ready_pipe, b"!")

    # The name of a Unix socket is the supervisor's to remove.
    run_here(supervisor.app, replace(supervisor.address, uds=None), bound, settings, ready=ready)


def _orphaned(pipe: int) -> None:
    """The supervisor's end of the pipe is closed: it is gone, and so must we."""
    asyncio.get_running_loop().remove_reader(pipe)
    os.kill(os.getpid(), signal.SIGTERM)
