"""Tells when source files change, for ``tarmac run --reload``: looks at their times, needs nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["Watcher"]

_ENDINGS = (".py", ".pyi", ".html", ".jinja", ".j2", ".toml", ".lua")
_IGNORED = frozenset({"__pycache__", "node_modules", "site-packages", "venv", "target"})


class Watcher:
    """Call it now and then: true once after files changed and have come to rest."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._folders = [Path(folder) for folder in folders]
        self._known = self._snapshot()
        self._moving: dict[str, int] | None = None

    def __call__(self) -> bool:
        """Whether there is something new. An editor that writes several files is waited for."""
        now = self._snapshot()
        if now == self._known:
            self._moving = None
            return False
        if now != self._moving:
            self._moving = now
            return False
        self._known = now
        self._moving = None
        return True

    def _snapshot(self) -> dict[str, int]:
        return {path: changed for folder in self._folders for path, changed in _times(folder)}


def _times(folder: Path) -> Iterator[tuple[str, int]]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return  # gone between two looks
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in _IGNORED and not entry.name.startswith("."):
                yield from _times(Path(entry.path))
        elif entry.name.endswith(_ENDINGS):
            try:
                yield entry.path, entry.stat().st_mtime_ns
            except OSError:
                continue
