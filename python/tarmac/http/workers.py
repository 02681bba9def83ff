"""Several processes on one port: a supervisor that starts them, replaces them and passes the end on.

::

    supervisor --fork--> worker     gets the sockets of its slot: what waits in them survives the worker
               <--pipe-- worker     "I listen", "I have had enough"
               <--row--- worker     a beat of its loop, its counters (board.py)
               --EOF---> worker     the supervisor is gone: drain and leave
               -SIGUSR2> worker     your successor listens: drain
               -SIGTERM> worker     all ends: drain; again: cut off

Signals of the supervisor: SIGTERM and SIGINT end (a second one forces), SIGHUP replaces every worker,
SIGUSR1 has log files opened again, SIGTTIN and SIGTTOU make one worker more or one less.

The first worker starts alone. If it dies before it listens, the program is broken: the supervisor
gives up and returns its status. Later deaths are answered by a restart, quick ones with a growing
pause. Loading the program is the worker's business: a replaced worker runs the code of today.
"""

from __future__ import annotations

import contextlib
import logging
import os
import selectors
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from tarmac.http import sockets
from tarmac.http.board import Board
from tarmac.http.metrics import TOTALS
from tarmac.http.run import Announcer
from tarmac.http.slots import Slot, Worker
from tarmac.http.worker import ENOUGH_MEMORY, ENOUGH_REQUESTS, LEAVE, READY, Job, become_worker

if TYPE_CHECKING:
    from socket import socket

    from tarmac.http.run import Program
    from tarmac.http.settings import Settings
    from tarmac.http.sockets import Address

__all__ = ["supervise"]

_log = logging.getLogger("tarmac.workers")
_WATCHED = tuple(getattr(signal, f"SIG{name}") for name in ("TERM", "INT", "CHLD", "HUP", "USR1", "TTIN", "TTOU"))
# Beyond the time to end, a worker has this long before it is killed.
_GRACE = 6.0
# A worker that hangs has this long to print where.
_LAST_WORDS = 1.0
# How often changed files and silent workers are looked for.
_GLANCE = 0.25


class _Supervisor:
    def __init__(
        self,
        program: Program,
        address: Address,
        settings: Settings,
        count: int,
        changed: Callable[[], bool] | None,
    ) -> None:
        self.program = program
        self.settings = settings
        self.changed = changed
        first = Slot(sockets.bind(address))
        port = sockets.port_of(first.bound)
        self.address = address if address.shared else replace(address, port=port)
        self.url = address.url(port, secure=settings.tls is not None)
        self.slots = [first, *(Slot(self._bind(first)) for _ in range(count - 1))]
        first.due = 0.0
        self.workers: dict[int, Worker] = {}
        self.board = Board(rows=16 + 4 * count)
        self.announcer = Announcer(settings)
        self.announced = False
        self.to_reload: list[Slot] = []
        self.failed = 0
        self.stops = 0
        self.alive_read, self.alive_write = os.pipe()
        self.wake_read, self.wake_write = os.pipe()
        os.set_blocking(self.wake_read, False)
        os.set_blocking(self.wake_write, False)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.wake_read, selectors.EVENT_READ)
        self.hear: dict[int, Callable[[], None]] = {
            signal.SIGTERM: self.stop,
            signal.SIGINT: self.stop,
            signal.SIGHUP: self.reload,
            signal.SIGUSR1: lambda: self._tell_all(signal.SIGUSR1),
            signal.SIGTTIN: self.grow,
            signal.SIGTTOU: self.shrink,
        }

    def run(self) -> int:
        """Watch until every worker has gone for good; the status to exit with."""
        before = {number: signal.signal(number, lambda *_: None) for number in _WATCHED}
        old_wake = signal.set_wakeup_fd(self.wake_write, warn_on_full_buffer=False)
        try:
            while self.workers or not self.stopping:
                self._start_due()
                self._wait()
                self._reap()
                self._look_after()
        finally:
            signal.set_wakeup_fd(old_wake)
            for number, handler in before.items():
                signal.signal(number, handler)
            self._clean_up()
        return self.failed

    @property
    def stopping(self) -> bool:
        return self.stops > 0 or self.failed != 0

    # What signals ask for.

    def stop(self) -> None:
        """Drain; at the second time, cut off."""
        self.stops += 1
        self._pass_on()

    def reload(self) -> None:
        """Replace every worker, one after the other."""
        if self.announced and not self.stopping:
            _log.info("replacing %d workers", len(self.slots))
            self.announcer.notifier.reloading()
            for slot in self.slots:
                if slot.fresh is not None:  # it may have loaded the program of before
                    self._send_away(slot.fresh, LEAVE)
                    slot.fresh = None
            self.to_reload = list(self.slots)
            self._go_on_reloading()

    def grow(self) -> None:
        """One worker more."""
        self.slots.append(Slot(self._bind(self.slots[0]), due=0.0))

    def shrink(self) -> None:
        """One worker less, but never none."""
        if len(self.slots) == 1:
            return
        slot = self.slots.pop()
        self.to_reload = [other for other in self.to_reload if other is not slot]
        for worker in (slot.serving, slot.fresh):
            if worker is not None:
                # Nobody follows in the slot: who waits in its own sockets is accepted first.
                self._send_away(worker, LEAVE if self.address.shared else signal.SIGTERM)
        slot.close()

    # Starting.

    def _start_due(self) -> None:
        now = time.monotonic()
        for slot in [] if self.stopping else self.slots:
            if slot.due is not None and slot.due <= now and slot.fresh is None:
                self._fork(slot)

    def _fork(self, slot: Slot) -> None:
        row = self.board.free()
        if row is None:
            return  # many still drain: when one has gone, there is room
        slot.due = None
        if not slot.bound:
            slot.bound = self._bind(self.slots[0])
        sockets.let_in(slot.bound)
        told_read, told_write = os.pipe()
        os.set_blocking(told_read, False)
        sys.stdout.flush()
        sys.stderr.flush()
        process = os.fork()
        if process == 0:
            os.close(told_read)
            self._leave_all_but(slot)
            bound = [one.dup() for one in slot.bound]
            slot.close()
            pipes = {"alive_pipe": self.alive_read, "told_pipe": told_write}
            become_worker(Job(self.program, self.address, self.settings, bound, self.board, row, **pipes))
        os.close(told_write)
        row.take(process)
        slot.fresh = self.workers[process] = Worker(process, time.monotonic(), told_read, row, slot)
        self.selector.register(told_read, selectors.EVENT_READ, slot.fresh)

    def _leave_all_but(self, mine: Slot) -> None:
        """In the child: let go of all that is the supervisor's or another worker's."""
        signal.set_wakeup_fd(-1)
        for number in _WATCHED:
            signal.signal(number, signal.SIG_DFL)
        self.selector.close()
        for worker in self.workers.values():
            os.close(worker.pipe)
        for slot in self.slots:
            if slot is not mine:
                slot.close()
        for descriptor in (self.alive_write, self.wake_read, self.wake_write):
            os.close(descriptor)

    def _bind(self, pattern: Slot) -> list[socket]:
        """Sockets for another slot: TCP is bound once more, everything else is shared."""
        return [one.dup() for one in pattern.bound] if self.address.shared else sockets.bind(self.address)

    # Hearing.

    def _wait(self) -> None:
        """Sleep until a signal, a word of a worker, or until something is due."""
        for key, _ in self.selector.select(self._patience()):
            if key.fd == self.wake_read:
                for number in os.read(self.wake_read, 512):
                    self.hear.get(number, lambda: None)()
            else:
                self._listen_to(key.data)

    def _patience(self) -> float:
        now = time.monotonic()
        times = [slot.due for slot in self.slots if slot.due is not None and slot.fresh is None]
        times += [worker.kill_at for worker in self.workers.values() if worker.kill_at is not None]
        nearest = min((max(at - now, 0.0) for at in times), default=1.0)
        glances = self.changed is not None or self.settings.worker_timeout is not None
        most = self.announcer.notifier.watchdog or 1.0
        return min(nearest, _GLANCE if glances else 1.0, most)

    def _listen_to(self, worker: Worker) -> None:
        said = os.read(worker.pipe, 16)
        if not said:
            self.selector.unregister(worker.pipe)  # it ends; its death is told by a signal
        if READY in said:
            self._welcome(worker)
        for word, why in ((ENOUGH_REQUESTS, "has served enough"), (ENOUGH_MEMORY, "holds too much memory")):
            if word in said and worker.slot.serving is worker and not self.stopping:
                _log.info("worker %d %s: another one takes over", worker.process, why)
                worker.slot.due = time.monotonic()

    def _welcome(self, worker: Worker) -> None:
        """A worker listens: the one before it in its slot may leave."""
        slot = worker.slot
        worker.ready = True
        if slot.fresh is not worker:
            return
        slot.fresh = None
        slot.serving, before = worker, slot.serving
        if before is not None:
            self._send_away(before, LEAVE)
        if not self.announced:
            self.announced = True
            self.announcer.announce(self.url)
            for other in self.slots:
                if other is not slot and other.due is None:
                    other.due = 0.0
        if self.to_reload and self.to_reload[0] is slot:
            self.to_reload.pop(0)
            self._go_on_reloading(finished=not self.to_reload)

    def _go_on_reloading(self, *, finished: bool = False) -> None:
        if self.to_reload:
            self.to_reload[0].due = time.monotonic()
        elif finished:
            _log.info("all workers are new")
            self.announcer.notifier.ready()

    # Ending.

    def _pass_on(self) -> None:
        if self.stops <= 1:
            self.announcer.stopping()
            if self.address.uds is not None:
                sockets.remove_unix(self.address.uds)
            for slot in self.slots:
                slot.due = None
                slot.close()  # the workers hold them until nobody waits in them any more
        for worker in self.workers.values():
            self._send_away(worker, signal.SIGTERM, forced=self.stops > 1)

    def _send_away(self, worker: Worker, how: signal.Signals, *, forced: bool = False) -> None:
        worker.kill_at = time.monotonic() + _GRACE + (0 if forced else self.settings.time_to_end)
        worker.send(how)

    def _tell_all(self, number: signal.Signals) -> None:
        for worker in self.workers.values():
            if worker.ready:
                worker.send(number)

    def _reap(self) -> None:
        for worker in list(self.workers.values()):
            process, status = os.waitpid(worker.process, os.WNOHANG)
            if process:
                del self.workers[process]
                self._hear_last_words(worker)
                self._bury(worker, os.waitstatus_to_exitcode(status))

    def _hear_last_words(self, worker: Worker) -> None:
        with contextlib.suppress(BlockingIOError, KeyError):
            self._listen_to(worker)
        with contextlib.suppress(KeyError):
            self.selector.unregister(worker.pipe)
        os.close(worker.pipe)

    def _bury(self, worker: Worker, code: int) -> None:
        slot = worker.slot
        self.board.bury(worker.row, TOTALS)
        how = f"signal {-code}" if code < 0 else f"status {code}"
        if slot.serving is worker:
            slot.serving = None
        elif slot.fresh is worker:
            slot.fresh = None
            if slot.serving is not None and slot in self.to_reload:
                _log.error("a new worker ended with %s before it listened: the old ones go on", how)
                self.to_reload.clear()
                self.announcer.notifier.ready()
                return
        else:
            return  # it was on its way
        if not self.stopping:
            self._replace(worker, code, how)

    def _replace(self, worker: Worker, code: int, how: str) -> None:
        slot = worker.slot
        if not self.announced:
            if self.changed is None:
                self.failed = code if code > 0 else 1
                self._pass_on()
            return  # or a change of the program starts the next one
        pause = slot.backoff.after(time.monotonic() - worker.started)
        _log.warning("worker %d ended with %s; another one starts in %.1f s", worker.process, how, pause)
        if slot.backoff.is_loop:
            _log.error("%d workers in a row died young: the program is broken", slot.backoff.young)
            if not self.address.shared and any(other.serving for other in self.slots):
                slot.close()  # its share of new connections goes to the others
        if slot.fresh is None:
            slot.due = time.monotonic() + pause

    # Looking.

    def _look_after(self) -> None:
        now = time.monotonic()
        for worker in self.workers.values():
            self._look_at(worker, now)
        if self.announcer.notifier.watchdog is not None and any(slot.serving for slot in self.slots):
            self.announcer.notifier.alive()
        if self.changed is not None and not self.stopping and self.changed():
            self._take_change()

    def _look_at(self, worker: Worker, now: float) -> None:
        patience = self.settings.worker_timeout
        if worker.kill_at is not None and now >= worker.kill_at:
            worker.send(signal.SIGKILL)
        elif patience is not None and not worker.hangs and worker.row.silence() > patience:
            _log.error("worker %d has not turned its loop for %g s: killed", worker.process, patience)
            worker.hangs = True
            worker.kill_at = now + _LAST_WORDS
            worker.send(signal.SIGABRT)

    def _take_change(self) -> None:
        if self.announced:
            self.reload()
        elif self.slots[0].fresh is None:
            self.slots[0].due = 0.0

    def _clean_up(self) -> None:
        self.selector.close()
        for descriptor in (self.alive_read, self.alive_write, self.wake_read, self.wake_write):
            os.close(descriptor)
        for slot in self.slots:
            slot.close()


def supervise(
    program: Program,
    address: Address,
    settings: Settings,
    count: int,
    *,
    changed: Callable[[], bool] | None = None,
) -> None:
    """Keep *count* workers alive until SIGTERM or SIGINT; return when all have drained.

    When ``changed()`` turns true, all are replaced; a program that cannot start waits for that then.
    Raises ``SystemExit`` when the first worker could not start.
    """
    status = _Supervisor(program, address, settings, count, changed).run()
    if status:
        raise SystemExit(status)
