"""A private Tarantool for each heat, started from a prepared snapshot, counted by its console."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from races.errors import CannotRunHere, LabError
from races.process import POLL, Group, free_port
from races.stores.console import ask
from races.stores.site import INIT, load_data, prepared, require_site

SCRIPT = Path(__file__).with_name("tarantool.lua")
WAL = "write"
SHORT_FOLDER = "/tmp"  # noqa: S108 - what is made in it is private
START_PATIENCE = 20.0
COUNTERS = (
    "(function() local all = {} for name, value in pairs(box.stat()) do"
    " all[name:lower()] = value.total end return all end)()"
)


class TarantoolKind:
    """Tarantool with the site's schema and stickers."""

    title = "Tarantool"

    def check(self, project: Path) -> str:
        """Its version, and how durable its writes are."""
        program = _program()
        require_site(project)
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
        version = re.search(r"Tarantool (\S+)", said.stdout)
        return f"{version.group(1) if version else 'unknown'}, wal_mode={WAL}"

    def start(self, project: Path, folder: Path, cores: Sequence[int]) -> TarantoolStore:
        """From the snapshot with all stickers and no sessions."""
        snapshots = prepared(project, "tarantool", lambda home: _make(project, home, cores))
        home = folder / "tarantool"
        shutil.copytree(snapshots, home)
        return TarantoolStore(project, home, cores)


class TarantoolStore:
    """A running instance in a folder of its own."""

    def __init__(self, project: Path, home: Path, cores: Sequence[int]) -> None:
        self.port = free_port()
        # A socket's path may not be longer than 107 bytes: neither the project's nor TMPDIR will do.
        self.nook = tempfile.TemporaryDirectory(prefix="races-", dir=SHORT_FOLDER)
        self.console = Path(self.nook.name) / "console"
        self.command = [_program(), str(SCRIPT)]
        self.placeholders: Mapping[str, str] = {
            "store_port": str(self.port),
            "store_url": f"tarantool://stickers:stickers@127.0.0.1:{self.port}",
            "store_url_many": f"tarantool://stickers_many:stickers@127.0.0.1:{self.port}",
        }
        self.group = Group(
            self.command,
            cores=cores,
            log=home / "log",
            environment={
                **os.environ,
                "RACES_INIT": str(project / INIT),
                "RACES_CONSOLE": str(self.console),
                "STICKERS_DIR": str(home),
                "STICKERS_LISTEN": f"127.0.0.1:{self.port}",
                "STICKERS_WAL": WAL,
            },
            folder=home,
        )
        try:
            self.group.wait_for_port(self.port, START_PATIENCE)
            self._wait_for_console()
        except BaseException:
            self.stop()
            raise

    @property
    def admin_url(self) -> str:
        return f"tarantool://stickers_admin:stickers@127.0.0.1:{self.port}"

    def counters(self) -> Mapping[str, int]:
        """`box.stat`: operations of every kind, those inside stored procedures too."""
        counted: dict[str, int] = ask(self.console, COUNTERS)
        return counted

    def cpu(self) -> float:
        return self.group.cpu()

    def peak_memory(self) -> int:
        return self.group.peak_memory()

    def stop(self) -> None:
        self.group.stop()
        self.nook.cleanup()

    def _wait_for_console(self) -> None:
        """It opens a moment after the port."""
        deadline = time.monotonic() + START_PATIENCE
        while not self.console.exists():
            if time.monotonic() > deadline or self.group.exit_status() is not None:
                raise LabError(f"Tarantool opened no console: {self.group.last_words()}")
            time.sleep(POLL)


def _make(project: Path, home: Path, cores: Sequence[int]) -> None:
    """Load the stickers, take a snapshot, keep nothing else."""
    workshop = home / "workshop"
    workshop.mkdir()
    store = TarantoolStore(project, workshop, cores)
    try:
        _load(project, store.admin_url)
        ask(store.console, "box.snapshot()")
    finally:
        store.stop()
    newest = max(workshop.glob("*.snap"))
    newest.rename(home / newest.name)
    shutil.rmtree(workshop)


def _load(project: Path, url: str) -> None:
    """With the project's connector or, where that is not built, with asynctnt."""
    try:
        load_data(project, "--store", "tarantool", "--url", url)
    except LabError as first:
        try:
            load_data(project, "--store", "tarantool-asynctnt", "--url", url)
        except LabError as second:
            raise LabError(f"{first}; {second}") from second


def _program() -> str:
    program = shutil.which("tarantool")
    if program is None:
        raise CannotRunHere("no tarantool program (Debian: apt install tarantool)")
    return program
