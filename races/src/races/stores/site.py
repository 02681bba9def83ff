"""The voting site's files as the stores need them: where its code is, and its data set, made once."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from races.errors import CannotRunHere, LabError

SOURCE = Path("stickers", "src")
INIT = SOURCE / "stickers" / "tarantool" / "init.lua"
DATA_MAKERS = ("generator.py", "drawing.py", "load.py", "parts.toml", "stores", "tarantool")
"""Parts of the site that decide what a data set holds: when they change, it is made anew."""

PATIENCE = 180


def require_site(project: Path) -> None:
    """CannotRunHere when the checkout lacks the site."""
    if not (project / INIT).exists():
        raise CannotRunHere("the voting site (stickers/) is not in this checkout")


def prepared(project: Path, kind: str, make: Callable[[Path], None]) -> Path:
    """The folder with the data set of a store, made by `make` when it is missing or outdated."""
    home = project / "var" / "race-data"
    home.mkdir(parents=True, exist_ok=True)
    folder = home / f"{kind}-{fingerprint(project)}"
    with _alone(home / f"{kind}.lock"):
        if not folder.exists():
            for outdated in home.glob(f"{kind}-*"):
                shutil.rmtree(outdated)
            unfinished = home / f"{kind}.unfinished"
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            make(unfinished)
            unfinished.rename(folder)
    return folder


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def fingerprint(project: Path) -> str:
    """Changes with the code that makes the data."""
    digest = hashlib.sha256()
    home = project / SOURCE / "stickers"
    for name in DATA_MAKERS:
        part = home / name
        for file in sorted(part.rglob("*")) if part.is_dir() else [part]:
            if file.is_file() and file.suffix in {".py", ".lua", ".sql", ".toml"}:
                digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:12]


def load_data(project: Path, *options: str) -> None:
    """`stickers load` with these options, in the lab's own environment."""
    command = [sys.executable, "-m", "stickers", "load", *options]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(project / SOURCE)},
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    if done.returncode != 0:
        raise LabError(f"stickers load failed: {(done.stderr or done.stdout).strip()[-600:]}")
