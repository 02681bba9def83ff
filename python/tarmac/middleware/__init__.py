"""Middleware ready to use: ``app.add_middleware(tarmac.middleware.CORS(origins=[...]))``.

Each stands in a file of its own, which is loaded when its name is first used.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from tarmac.middleware.timeout import Timeout

__all__ = ["Timeout"]

_HOMES = {
    "Timeout": "timeout",
}


def _load(name: str) -> object:
    if name in _HOMES:
        value: object = getattr(_import_module(f"tarmac.middleware.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    message = f"module 'tarmac.middleware' has no attribute {name!r}"
    raise AttributeError(message, name=name)


if not _TYPE_CHECKING:  # a checker must see the names above, not a door through which every name passes
    __getattr__ = _load


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
