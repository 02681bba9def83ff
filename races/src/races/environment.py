"""An environment for each entrant: made by uv on first use, kept under a hash of its contents."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from races.entrant import PROJECT_ENVIRONMENT, Entrant
from races.errors import CannotRunHere
from races.paths import Paths

BUILD_PATIENCE = 600
OWN_VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
SYSTEM_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
LIST_VERSIONS = (
    "import importlib.metadata as m, json, sys;"
    "print(json.dumps({'python': sys.version.split()[0],"
    " **{d.name: d.version for d in m.distributions()}}))"
)


@dataclass(frozen=True, slots=True)
class Environment:
    """A Python with what the entrant needs, and what exactly is in it."""

    python: Path
    versions: dict[str, str]


def prepare(entrant: Entrant, paths: Paths) -> Environment:
    """The entrant's environment, built when it is not there yet; CannotRunHere says what lacks."""
    if entrant.environment == PROJECT_ENVIRONMENT:
        return describe(Path(sys.executable))
    folder = paths.environments / f"{entrant.folder.name}-{fingerprint(entrant)}"
    if not (folder / "complete").exists():
        build(entrant, folder, find_uv(paths.project))
        remove_outdated(folder)
    return describe(folder / "bin" / "python")


def fingerprint(entrant: Entrant) -> str:
    """Changes with the requirements, the wished-for Pythons and the lab's own Python."""
    digest = hashlib.sha256(" ".join([OWN_VERSION, *entrant.python]).encode())
    if entrant.requirements_file.exists():
        digest.update(entrant.requirements_file.read_bytes())
    return digest.hexdigest()[:12]


def build(entrant: Entrant, folder: Path, tool: Sequence[str]) -> None:
    """Make the environment beside its final place, so that an interrupted build never looks done."""
    unfinished = folder.with_name(folder.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    interpreter = find_python(entrant)
    run([*tool, "venv", "--quiet", "--python", interpreter, str(unfinished)])
    if entrant.requirements_file.exists():
        python = str(unfinished / "bin" / "python")
        requirements = str(entrant.requirements_file)
        run([*tool, "pip", "install", "--quiet", "--python", python, "-r", requirements])
    (unfinished / "complete").touch()
    unfinished.rename(folder)


def remove_outdated(folder: Path) -> None:
    """Delete the environments that this one replaces: same name, other fingerprint."""
    name, _, _ = folder.name.rpartition("-")
    for other in folder.parent.iterdir():
        if other != folder and re.fullmatch(rf"{re.escape(name)}-[0-9a-f]{{12}}", other.name):
            shutil.rmtree(other, ignore_errors=True)


def find_uv(project: Path) -> list[str]:
    """Uv where the project's set-up puts it, beside this Python, on the path, or as a module."""
    for place in (project / ".venv-tools" / "bin" / "uv", Path(sys.executable).with_name("uv")):
        if place.exists():
            return [str(place)]
    if found := shutil.which("uv"):
        return [found]
    probe = subprocess.run([sys.executable, "-m", "uv", "--version"], capture_output=True, check=False)
    if probe.returncode == 0:
        return [sys.executable, "-m", "uv"]
    raise CannotRunHere("uv is missing: pip install uv")


def find_python(entrant: Entrant) -> str:
    """The lab's own Python if it will do, so that all race on one; else the first that is here."""
    if not entrant.python or OWN_VERSION in entrant.python:
        return sys.executable
    for version in entrant.python:
        if found := installed_python(version):
            return found
    raise CannotRunHere(f"needs Python {' or '.join(entrant.python)}, which is not here")


def installed_python(version: str) -> str | None:
    """`pythonX.Y` on the path, or among pyenv's versions."""
    if found := shutil.which(f"python{version}"):
        probe = subprocess.run([found, "-c", ""], capture_output=True, check=False)
        if probe.returncode == 0:  # a pyenv shim may stand on the path and refuse to run
            return found
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = sorted(root.glob(f"versions/{version}.*/bin/python"))
    return str(candidates[-1]) if candidates else None


def describe(python: Path) -> Environment:
    """Ask the environment itself what it holds."""
    answer = subprocess.run([str(python), "-c", LIST_VERSIONS], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise CannotRunHere(f"{python} does not run: {answer.stderr.strip()}")
    versions: dict[str, str] = json.loads(answer.stdout)
    return Environment(python, versions)


def run(command: Sequence[str]) -> None:
    """Run a building step; its last words become the reason when it fails."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=BUILD_PATIENCE,
        env={**os.environ, **certificates()},
    )  # fmt: skip
    if done.returncode != 0:
        reason = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise CannotRunHere(f"environment could not be made: {' | '.join(reason[-4:])}")


def certificates() -> dict[str, str]:
    """The machine's own certificates, where it has them: a proxy's stands in no bundled list."""
    return {"UV_SYSTEM_CERTS": "1"} if SYSTEM_CERTIFICATES.exists() else {}
