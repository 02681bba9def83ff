"""``app.run(reload=True)``: the script runs anew in a new worker whenever a source file changes.

The script ends in ``app.run(...)``. When a worker runs it for its application, that call does not serve, but
hands the application over.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tarmac.errors import ConfigurationError
from tarmac.http.reloading import Watcher
from tarmac.http.run import run_program

if TYPE_CHECKING:
    from tarmac.compat.japronto.app import Application
    from tarmac.http.app import App
    from tarmac.http.settings import Settings
    from tarmac.http.sockets import Address

__all__ = ["hand_over", "run_reloading"]

_state: dict[str, bool] = {"asked": False}


class _HandedOver(BaseException):
    """Ends a script at its ``app.run``; no ``except Exception`` of the script may stop it."""

    def __init__(self, application: Application) -> None:
        super().__init__()
        self.application = application


def hand_over(application: Application) -> None:
    """Return at once, unless a worker runs the script to learn of *application*."""
    if _state["asked"]:
        raise _HandedOver(application)


def run_reloading(address: Address, settings: Settings, workers: int) -> None:
    """Serve what the running script serves, as it is now, and as it will be."""
    script = getattr(sys.modules["__main__"], "__file__", None)
    if script is None:
        message = "reload=True needs a program in a file"
        raise ConfigurationError(message)
    folder = Path(script).resolve().parent
    run_program(lambda: _service_of(script, folder), address, settings, workers, changed=Watcher([str(folder)]))


def _service_of(script: str, folder: Path) -> App:
    _forget_modules(folder)
    _state["asked"] = True
    try:
        runpy.run_path(script, run_name="__main__")
    except _HandedOver as handed:
        return handed.application.service()
    finally:
        _state["asked"] = False
    message = f"{script} ended without app.run()"
    raise ConfigurationError(message)


def _forget_modules(folder: Path) -> None:
    """What the supervisor imported from *folder* is imported anew."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name != "__main__" and file and Path(file).resolve().is_relative_to(folder):
            del sys.modules[name]
