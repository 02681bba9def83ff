"""How a process serves, beside where: one value that the supervisor and its workers agree on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from tarmac.errors import ConfigurationError
from tarmac.http.tasks import TasksWay, way_of_tasks

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from tarmac._native import Limits
    from tarmac.http.access_log import AccessLog
    from tarmac.http.tls import TLS

__all__ = ["LoopChoice", "LoopName", "Settings", "check_loop"]

LoopName = Literal["asyncio", "uvloop"]
LoopChoice = LoopName | Callable[[], "AbstractEventLoop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a process serves. Times in seconds, sizes in bytes; ``None`` leaves a thing out."""

    loop: LoopChoice = "asyncio"
    drain: float = 5.0
    drain_delay: float = 0.0
    shutdown_timeout: float = 10.0
    linger: float = 0.25
    limits: Limits | None = None
    server_name: str | None = "tarmac"
    date: bool = True
    tasks: TasksWay | None = None
    quiet: bool = False
    access_log: AccessLog | None = None
    metrics_host: str = "127.0.0.1"
    metrics_port: int | None = None
    pid_file: str | None = None
    max_requests: int | None = None
    max_requests_jitter: int = 0
    max_rss: int | None = None
    worker_timeout: float | None = None
    tls: TLS | None = None
    proxy_protocol: bool = False
    server_options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_loop(self.loop)
        way_of_tasks(self.tasks)
        for name in ("drain", "drain_delay", "shutdown_timeout", "linger", "max_requests_jitter"):
            _check(name, getattr(self, name), at_least=0)
        for name in ("max_requests", "max_rss", "worker_timeout", "metrics_port"):
            if (value := getattr(self, name)) is not None:
                _check(name, value, above=0)

    @property
    def time_to_end(self) -> float:
        """Seconds that a server may take to its end, once it is asked for it."""
        return self.drain_delay + self.drain + self.shutdown_timeout

    @property
    def needs_supervisor(self) -> bool:
        """Whether somebody has to replace the worker one day."""
        return not (self.max_requests is self.max_rss is self.worker_timeout is None)


def check_loop(name: str | LoopChoice) -> None:
    """Say early, and in the parent, that a loop cannot be had."""
    if callable(name):
        return
    if name not in {"asyncio", "uvloop"}:
        message = f"the loop is asyncio or uvloop, not {name!r}"
        raise ConfigurationError(message)
    if name == "uvloop":
        try:
            import uvloop  # noqa: F401, PLC0415 - an optional extra
        except ImportError:
            message = "uvloop is not installed: pip install 'tarmac[uvloop]'"
            raise ConfigurationError(message) from None


def _check(name: str, value: float, *, at_least: float | None = None, above: float | None = None) -> None:
    if at_least is not None and value < at_least:
        message = f"{name} is at least {at_least}, not {value}"
        raise ConfigurationError(message)
    if above is not None and value <= above:
        message = f"{name} is more than {above}, not {value}; leave it out to switch it off"
        raise ConfigurationError(message)
