"""Foreign applications on tarmac's server: what kind an object is, and an ``App`` around it.

::

    tarmac.App                          as it is
    ASGI 3    async app(scope, receive, send)
    ASGI 2    app(scope)(receive, send)         adapted
    WSGI      app(environ, start_response)      in threads, see wsgi.py
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Literal

from tarmac import asgi, asgi_websocket
from tarmac._native import Asgi
from tarmac.errors import ConfigurationError
from tarmac.http.app import App

__all__ = ["INTERFACES", "Hosted", "Interface", "adapt", "interface_of"]

Interface = Literal["auto", "tarmac", "asgi", "asgi2", "wsgi"]
INTERFACES: tuple[Interface, ...] = ("auto", "tarmac", "asgi", "asgi2", "wsgi")
_BY_PARAMETERS: dict[int, Interface] = {1: "asgi2", 2: "wsgi", 3: "asgi"}


class Hosted(App):
    """An ``App`` that passes every request without a route of its own to another application.

    *app* is an ASGI or WSGI application; *interface* says which where that cannot be seen. ``root_path`` is
    the prefix under which a proxy serves it (ASGI's ``root_path``, WSGI's ``SCRIPT_NAME``). The ``X-Forwarded-``
    headers of ``trusted_proxies``, addresses or networks, tell client, scheme and host. ``threads`` is the size
    of the pool that runs WSGI. Routes may be added as to any ``App``: they are answered first.
    """

    def __init__(
        self,
        app: Any,
        *,
        interface: Interface = "auto",
        root_path: str = "",
        lifespan: asgi.LifespanMode = "auto",
        trusted_proxies: Sequence[str] = (),
        threads: int = 32,
    ) -> None:
        super().__init__(threads=threads)
        kind = interface_of(app) if interface == "auto" else interface
        if kind == "tarmac":
            message = f"{_name(app)} is served as it is, not hosted"
            raise ConfigurationError(message)
        self.hosted: asgi.ASGIApplication = self._as_asgi_3(app, kind)
        if trusted_proxies:
            from tarmac.asgi_proxies import behind_proxies  # noqa: PLC0415 - only who has proxies pays for it

            self.hosted = behind_proxies(self.hosted, trusted_proxies)
        self._takes_websockets = kind != "wsgi"
        self.root_path = root_path.rstrip("/")
        self.protocol = asgi.LifespanProtocol(self.hosted, "off" if kind == "wsgi" else lifespan)
        self.lifespan(self.protocol.around)

    def native_asgi(self, server: tuple[str, int | None]) -> Asgi:
        """What the native server calls for each request that no route takes."""
        return Asgi(
            self.hosted,
            as_coroutine=asgi.as_coroutine,
            websocket=asgi_websocket.serve if self._takes_websockets else None,
            is_function=_is_asynchronous(self.hosted),
            server=server,
            root_path=self.root_path,
            state=self.protocol.state,
        )

    def _as_asgi_3(self, app: Any, kind: Interface) -> asgi.ASGIApplication:
        if kind == "wsgi":
            from tarmac.wsgi import WSGI  # noqa: PLC0415 - only who hosts WSGI pays for it

            return WSGI(app, executor=self._executor)
        return asgi.from_asgi_2(app) if kind == "asgi2" else app


def adapt(app: Any, interface: Interface = "auto", **options: Any) -> App:
    """*app* as an ``App`` that can be served: itself, or hosted with the *options* of ``Hosted``.

    An object with a method ``__tarmac_app__`` says by it what is served. Raises ``ConfigurationError`` for what
    is no application.
    """
    if (own := getattr(type(app), "__tarmac_app__", None)) is not None:
        app = own(app)
    kind = interface_of(app) if interface == "auto" else interface
    if kind != "tarmac":
        return Hosted(app, interface=kind, **options)
    if not isinstance(app, App):
        message = f"{_name(app)} is not a tarmac.App but {type(app).__name__}"
        raise ConfigurationError(message)
    return app


def interface_of(app: object) -> Interface:
    """What kind of application *app* is. Raises ``ConfigurationError`` where that cannot be told."""
    if isinstance(app, App):
        return "tarmac"
    if not callable(app):
        message = f"{_name(app)} is no application but {type(app).__name__}"
        raise ConfigurationError(message)
    if inspect.isclass(app):
        return _interface_of_class(app)
    if _is_asynchronous(app):
        return "asgi"
    count = _required_parameters(app)
    if count == 0:
        message = f"{_name(app)} takes no arguments: if it makes the application, say --factory"
        raise ConfigurationError(message)
    if count not in _BY_PARAMETERS:
        message = f"{_name(app)} may be anything: say --interface asgi or --interface wsgi"
        raise ConfigurationError(message)
    return _BY_PARAMETERS[count]


def _interface_of_class(app: type) -> Interface:
    """A class is called to make something: an awaitable (ASGI 3) or something to call (ASGI 2)."""
    if hasattr(app, "__await__"):
        return "asgi"
    if issubclass(app, App) or _required_parameters(app) == 0:
        message = f"{_name(app)} is a class: serve an instance of it, or say --factory"
        raise ConfigurationError(message)
    return "asgi2"


def _is_asynchronous(app: Callable[..., Any]) -> bool:
    while isinstance(app, functools.partial):
        app = app.func
    call = app if inspect.isroutine(app) else getattr(type(app), "__call__", None)  # noqa: B004
    return inspect.iscoroutinefunction(call)


def _required_parameters(app: Callable[..., Any]) -> int | None:
    """How many positional arguments *app* must be given; ``None`` where nobody knows."""
    try:
        parameters = inspect.signature(app).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return None
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(one.kind in positional and one.default is one.empty for one in parameters)


def _name(app: object) -> str:
    return getattr(app, "__qualname__", None) or f"an instance of {type(app).__qualname__}"
