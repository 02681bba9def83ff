"""What serves the site: one file per engine, each with `run(site, address)`."""

from dataclasses import dataclass
from typing import Final

__all__ = ["DRAIN_SECONDS", "Address"]

DRAIN_SECONDS: Final = 5.0
"""How long requests in flight may take to finish after SIGTERM."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen, on which event loop, and how loud to log."""

    host: str = "127.0.0.1"
    port: int = 8080
    uvloop: bool = False
    log_level: str = "warning"
    workers: int = 1
