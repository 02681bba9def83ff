"""HTTP/1.1 server and Tarantool connector for Python on one native reactor.

::

    from tarmac import App

    app = App()

    @app.get("/")
    def hello(request):
        return "Hello world!"

    app.run(port=8080)

The database stands in ``tarmac.tarantool``. Names are loaded when they are first used.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

from tarmac import _native

if _TYPE_CHECKING:
    from tarmac import errors, middleware, tarantool, testing
    from tarmac._native import Headers, Limits, Request, Response, WebSocket
    from tarmac.errors import (
        BadRequest,
        ConfigurationError,
        Conflict,
        Disconnected,
        Forbidden,
        HTTPError,
        InvalidInput,
        NotFound,
        TarmacError,
        Unauthorized,
        WebSocketClosed,
    )
    from tarmac.http.app import App
    from tarmac.http.conditional import conditional
    from tarmac.http.events import ServerSentEvent, sse
    from tarmac.http.files import file
    from tarmac.http.forms import Form
    from tarmac.http.responses import html, json, redirect, text
    from tarmac.http.routing import Middleware, Router
    from tarmac.http.run import run
    from tarmac.http.serve import Server, serve
    from tarmac.http.streams import stream
    from tarmac.http.tasks import after
    from tarmac.http.tls import TLS
    from tarmac.http.uploads import UploadFile

__all__ = [
    "TLS",
    "App",
    "BadRequest",
    "ConfigurationError",
    "Conflict",
    "Disconnected",
    "Forbidden",
    "Form",
    "HTTPError",
    "Headers",
    "InvalidInput",
    "Limits",
    "Middleware",
    "NotFound",
    "Request",
    "Response",
    "Router",
    "Server",
    "ServerSentEvent",
    "TarmacError",
    "Unauthorized",
    "UploadFile",
    "WebSocket",
    "WebSocketClosed",
    "__version__",
    "after",
    "conditional",
    "errors",
    "file",
    "html",
    "json",
    "middleware",
    "redirect",
    "run",
    "serve",
    "sse",
    "stream",
    "tarantool",
    "testing",
    "text",
]

__version__ = _native.__version__

_HOMES = {
    "App": "http.app",
    "Form": "http.forms",
    "Headers": "_native",
    "Limits": "_native",
    "Middleware": "http.routing",
    "Request": "_native",
    "Response": "_native",
    "Router": "http.routing",
    "Server": "http.serve",
    "ServerSentEvent": "http.events",
    "TLS": "http.tls",
    "UploadFile": "http.uploads",
    "WebSocket": "_native",
    "after": "http.tasks",
    "conditional": "http.conditional",
    "file": "http.files",
    "html": "http.responses",
    "json": "http.responses",
    "redirect": "http.responses",
    "run": "http.run",
    "serve": "http.serve",
    "sse": "http.events",
    "stream": "http.streams",
    "text": "http.responses",
}
_MODULES = ("errors", "http", "middleware", "openapi", "tarantool", "testing")


def _load(name: str) -> object:
    """Find a public name at its first use: `import tarmac` stays quick (a test holds it to that)."""
    if name in _MODULES:
        return _import_module(f"tarmac.{name}")
    if name in __all__:
        home = _HOMES.get(name, "errors")
        value = getattr(_import_module(f"tarmac.{home}"), name)
        globals()[name] = value
        return value
    message = f"module 'tarmac' has no attribute {name!r}"
    raise AttributeError(message, name=name)


if not _TYPE_CHECKING:  # a checker must see the names above, not a door through which every name passes
    __getattr__ = _load


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if _native.debug_build:
    import warnings as _warnings

    _warnings.warn("tarmac runs on a debug build of its core: every measurement is wrong", stacklevel=2)
