"""Which core runs what: the server alone on one core, everything else on the others."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Placement:
    """Core numbers for each role. Load and store may share; the server never does if it can."""

    server: tuple[int, ...]
    load: tuple[int, ...]
    store: tuple[int, ...]

    @property
    def load_shares_with_store(self) -> bool:
        return bool(set(self.load) & set(self.store))

    @property
    def sentence(self) -> str:
        """How the report says it."""
        return (
            f"server on core {_listed(self.server)}, load on core {_listed(self.load)}, "
            f"store on core {_listed(self.store)}"
        )


def place(cores: list[int] | None = None) -> Placement:
    """Decide from the cores this process may use: 1, 2, or 3 and more."""
    available = sorted(os.sched_getaffinity(0)) if cores is None else cores
    if len(available) == 1:
        only = (available[0],)
        return Placement(only, only, only)
    if len(available) == 2:  # noqa: PLR2004
        first, second = available
        return Placement((first,), (second,), (second,))
    return Placement((available[0],), (available[1],), (available[2],))


def _listed(cores: tuple[int, ...]) -> str:
    return ", ".join(str(core) for core in cores)
