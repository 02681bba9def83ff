"""No store: for entrants that keep nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path


class NoStore:
    """Both the kind and the store itself: there is nothing to tell apart."""

    title = "no store"
    placeholders: Mapping[str, str] = {}
    command: Sequence[str] = ()

    def check(self, project: Path) -> str:
        del project
        return ""

    def start(self, project: Path, folder: Path, cores: Sequence[int]) -> NoStore:
        del project, folder, cores
        return self

    def counters(self) -> Mapping[str, int]:
        return {}

    def cpu(self) -> float:
        return 0.0

    def peak_memory(self) -> int:
        return 0

    def stop(self) -> None:
        """Nothing runs."""
