"""What a store is to the lab: started fresh for a heat, counted, stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol


class Store(Protocol):
    """A running store. `placeholders` go into the entrant's command."""

    @property
    def placeholders(self) -> Mapping[str, str]:
        """Names and values for entrant files."""

    @property
    def command(self) -> Sequence[str]:
        """How it was started; empty when nothing was."""

    def counters(self) -> Mapping[str, int]:
        """Operations since the start by kind; empty where the store cannot tell."""

    def cpu(self) -> float:
        """CPU seconds so far of the store's own processes."""

    def peak_memory(self) -> int:
        """Bytes."""

    def stop(self) -> None:
        """End it and forget its data."""


class StoreKind(Protocol):
    """How a kind of store is found here and started."""

    @property
    def title(self) -> str:
        """For people."""

    def check(self, project: Path) -> str:
        """Its version; CannotRunHere when it is missing."""

    def start(self, project: Path, folder: Path, cores: Sequence[int]) -> Store:
        """A fresh one with the race's data, ready to answer."""
