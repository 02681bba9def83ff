"""Environments of the contenders: one virtual environment per stack, pinned, made on demand under var/bench."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.errors import Unavailable
from harness.paths import PROJECT as CHECKOUT
from harness.paths import VAR, project_python

PROJECT = "project"  # the environment that holds tarmac itself
NEW = ("3.13", "3.12", "3.11")


@dataclass(frozen=True)
class Environment:
    """A stack: the Pythons that run it, best first, and its exact packages."""

    name: str
    pythons: tuple[str, ...]
    packages: tuple[str, ...]
    probe: str


_AIOHTTP = ("aiohttp==3.14.5", "uvloop==0.22.1", "asynctnt==2.4.0")
_UVICORN = ("uvicorn==0.54.0", "httptools==0.9.0", "uvloop==0.22.1", "asynctnt==2.4.0")
_FASTAPI = ("fastapi==0.165.0", "starlette==1.10.0", "pydantic==2.14.3")

ENVIRONMENTS = {
    environment.name: environment
    for environment in (
        Environment("japronto", ("3.6", "3.7"), ("japronto==0.1.2", "uvloop==0.14.0"), "japronto"),
        Environment("mrhttp", ("3.11",), ("mrhttp==0.13", "mrpacker==1.15", "uvloop==0.17.0"), "mrhttp"),
        Environment("uvicorn", NEW, _UVICORN, "uvicorn, httptools, uvloop, asynctnt"),
        Environment("fastapi", NEW, (*_FASTAPI, *_UVICORN[:3]), "fastapi, uvicorn, httptools, uvloop"),
        Environment("fastapi-alone", (), _FASTAPI, "fastapi"),
        Environment(
            "uvicorn-websockets", NEW, (*_UVICORN, "websockets==17.4"), "uvicorn, httptools, uvloop, websockets"
        ),
        Environment("picows", NEW, ("picows==2.3.1", "uvloop==0.22.1"), "picows, uvloop"),
        Environment("aiohttp", NEW, _AIOHTTP, "aiohttp, uvloop, asynctnt"),
        Environment("granian", NEW, ("granian==2.8.7",), "granian"),
        Environment("asynctnt", NEW, ("asynctnt==2.4.0", "uvloop==0.22.1"), "asynctnt, uvloop"),
        Environment("asynctnt-uvloop-0.23", NEW, ("asynctnt==2.4.0", "uvloop==0.23.0"), "asynctnt, uvloop"),
        Environment("uvloop", (), ("uvloop==0.22.1",), "uvloop"),
    )
}


def python_of(name: str) -> Path:
    """The interpreter of environment *name*, made now if it is not there. Raises ``Unavailable``."""
    if name == PROJECT:
        return _python_with_tarmac()
    return _made(ENVIRONMENTS[name], _interpreter(ENVIRONMENTS[name]))


def extra_packages(name: str) -> Path:
    """A folder of packages to lend to the project's Python, such as uvloop. Raises ``Unavailable``."""
    python = _made(ENVIRONMENTS[name], _python_with_tarmac().resolve())
    found = _output([str(python), "-c", "import sysconfig; print(sysconfig.get_path('platlib'))"])
    return Path(found)


def _python_with_tarmac() -> Path:
    python = project_python()
    if not python.exists():
        raise Unavailable(f"the project's environment is not there ({python.parent.parent.name}): run `make setup`")
    problem = _import_problem(python, "tarmac")
    if problem:
        raise Unavailable(f"tarmac does not import: {problem}")
    return python


def _made(environment: Environment, interpreter: Path) -> Path:
    folder = VAR / environment.name
    python = folder / "bin" / "python"
    stamp = folder / "pins.txt"
    pins = "\n".join((str(interpreter), *environment.packages)) + "\n"
    if python.exists() and stamp.exists() and stamp.read_text() == pins:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    print(f"making the environment {environment.name}: {' '.join(environment.packages)}", file=sys.stderr, flush=True)
    _install(folder, interpreter, environment.packages)
    problem = _import_problem(python, environment.probe)
    if problem:
        raise Unavailable(f"{environment.name} was installed and does not import: {problem}")
    stamp.write_text(pins)
    return python


def _install(folder: Path, interpreter: Path, packages: tuple[str, ...]) -> None:
    python = folder / "bin" / "python"
    uv = _uv()
    # uv serves Python 3.8 and newer; the Pythons of 2017 bring venv and pip themselves.
    if uv and _output([str(interpreter), "-c", "import sys; print(sys.version_info >= (3, 8))"]) == "True":
        _quietly([uv, "venv", "--quiet", "--python", str(interpreter), str(folder)])
        _quietly([uv, "pip", "install", "--quiet", "--python", str(python), *packages])
    else:
        _quietly([str(interpreter), "-m", "venv", str(folder)])
        _quietly([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages])


def _interpreter(environment: Environment) -> Path:
    for version in environment.pythons:
        for candidate in _candidates(version):
            if _runs(candidate, version):
                return candidate.resolve()
    raise Unavailable(f"{environment.name} needs Python {' or '.join(environment.pythons)}, not found here")


def _candidates(version: str) -> Iterator[Path]:
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR", Path.home() / ".local/share/uv/python"))
    yield from sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}"), reverse=True)
    yield from sorted(uv.glob(f"cpython-{version}.*/bin/python{version}"), reverse=True)
    for folder in os.get_exec_path():
        yield Path(folder) / f"python{version}"


def _runs(candidate: Path, version: str) -> bool:
    if not candidate.exists():
        return False
    command = [str(candidate), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    # A pyenv shim may stand for a Python that is not active: only what runs counts.
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == 0 and done.stdout.strip() == version


def _uv() -> str | None:
    own = [folder / "uv" for folder in (project_python().parent, CHECKOUT / ".venv-tools" / "bin")]
    return next((str(path) for path in own if path.exists()), None) or shutil.which("uv")


def _import_problem(python: Path, modules: str) -> str | None:
    done = subprocess.run([str(python), "-c", f"import {modules}"], capture_output=True, text=True, check=False)
    return last_line(done.stderr) if done.returncode else None


def _quietly(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"`{' '.join(command[:4])} ...` failed: {last_line(done.stderr)}")


def _output(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "no message"
