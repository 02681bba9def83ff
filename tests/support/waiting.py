"""Waiting for a condition of the outside world, with a deadline and a reason."""

from __future__ import annotations

import contextlib
import socket
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LOCALHOST = "127.0.0.1"


def wait_for(condition: Callable[[], object], *, timeout: float = 10.0, what: str = "the condition") -> None:
    """Poll until the condition holds; raise TimeoutError naming what was waited for."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            message = f"waited {timeout:g} s in vain for {what}"
            raise TimeoutError(message)
        time.sleep(0.01)


def free_port() -> int:
    """Return a TCP port of 127.0.0.1 that nobody listens on right now."""
    with socket.socket() as probe:
        probe.bind((LOCALHOST, 0))
        port: int = probe.getsockname()[1]
        return port


def answers(port: int, *, host: str = LOCALHOST, greeting: int = 0) -> bool:
    """Tell whether the port accepts a connection and, if asked, greets with so many bytes."""
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=1) as connection:
        return not greeting or len(connection.recv(greeting, socket.MSG_WAITALL)) == greeting
    return False
