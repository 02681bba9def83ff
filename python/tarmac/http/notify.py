"""What systemd says and wants to hear: sockets it opened, readiness, reloads, a sign of life.

Outside systemd every function here does nothing. The protocols: sd_listen_fds(3), sd_notify(3).
"""

from __future__ import annotations

import os
import socket
import time

__all__ = ["Notifier", "listen_descriptors"]

_FIRST = 3  # SD_LISTEN_FDS_START


def listen_descriptors() -> tuple[int, ...]:
    """The descriptors that were opened for this very process; asked once, they are ours."""
    process = os.environ.pop("LISTEN_PID", "")
    count = os.environ.pop("LISTEN_FDS", "")
    os.environ.pop("LISTEN_FDNAMES", None)
    if process != str(os.getpid()) or not count.isdigit():
        return ()
    found = tuple(range(_FIRST, _FIRST + int(count)))
    for descriptor in found:
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - the standard library calls it so
    return found


class Notifier:
    """Tells the service manager how we are; silent where none listens."""

    def __init__(self) -> None:
        self._where = os.environ.pop("NOTIFY_SOCKET", "")
        self.watchdog = _watchdog_interval()  # seconds between signs of life, or None

    def ready(self) -> None:
        """Requests are answered."""
        self._say("READY=1")

    def reloading(self) -> None:
        """New workers are on their way; `ready` ends it."""
        self._say("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self) -> None:
        """The drain has begun."""
        self._say("STOPPING=1")

    def alive(self) -> None:
        """The watchdog may rest."""
        self._say("WATCHDOG=1")

    def _say(self, *lines: str) -> None:
        if not self._where:
            return
        where = "\0" + self._where[1:] if self._where.startswith("@") else self._where
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
            channel.setblocking(False)  # noqa: FBT003 - the standard library calls it so
            try:
                channel.sendto("\n".join(lines).encode(), where)
            except OSError:
                return  # a manager that does not listen must not stop the service


def _watchdog_interval() -> float | None:
    process = os.environ.pop("WATCHDOG_PID", str(os.getpid()))
    microseconds = os.environ.pop("WATCHDOG_USEC", "")
    if process != str(os.getpid()) or not microseconds.isdigit() or int(microseconds) == 0:
        return None
    return int(microseconds) / 2e6
