"""A SQLite file for each heat, copied from a prepared one; counted by its own rows."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from races.stores.site import load_data, prepared, require_site

FILE = "stickers.db"
COUNTS = {
    "clicks": "SELECT value FROM server WHERE name = 'clicks'",
    "users": "SELECT value FROM server WHERE name = 'users'",
    "votes": "SELECT value FROM server WHERE name = 'votes'",
    "sessions": "SELECT count(*) FROM sessions",
    "tokens": "SELECT count(*) FROM secret",
}


class SqliteKind:
    """The embedded store: it lives in the server's process."""

    title = "SQLite"

    def check(self, project: Path) -> str:
        require_site(project)
        return sqlite3.sqlite_version

    def start(self, project: Path, folder: Path, cores: Sequence[int]) -> SqliteStore:
        del cores  # it has no process of its own
        ready = prepared(project, "sqlite", lambda home: load_data(project, "--store", "sqlite", "--data", str(home)))
        shutil.copytree(ready, folder / "data")
        return SqliteStore(folder / "data")


class SqliteStore:
    """A folder with the file."""

    command: Sequence[str] = ()

    def __init__(self, data: Path) -> None:
        self.data = data
        self.placeholders: Mapping[str, str] = {"store_data": str(data)}

    def counters(self) -> Mapping[str, int]:
        """The site's own counters and row counts; SQLite itself keeps none."""
        file = self.data / FILE
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
            return {name: (connection.execute(query).fetchone() or (0,))[0] for name, query in COUNTS.items()}

    def cpu(self) -> float:
        """Its work is done, and counted, in the server's process."""
        return 0.0

    def peak_memory(self) -> int:
        return 0

    def stop(self) -> None:
        """Nothing runs."""
