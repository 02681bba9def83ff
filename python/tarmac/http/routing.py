"""Routes as the program writes them: decorators, class views, prefixes, names.

Matching is the native router's business; here stands what has to be known before a request comes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, Unpack

from tarmac._native import WebSocketOptions
from tarmac.errors import ConfigurationError, NoSuchRoute
from tarmac.http.routes import (
    METHODS,
    CallNext,
    Endpoint,
    Middleware,
    Route,
    RouteOptions,
    build_path,
    by_method,
    check_middleware,
    check_signature,
    is_asynchronous,
    name_of,
    with_options,
)

if TYPE_CHECKING:
    from os import PathLike

    from tarmac.http.static import StaticOptions

__all__ = ["METHODS", "CallNext", "Endpoint", "Middleware", "Route", "RouteOptions", "Router", "build_path"]

_E = TypeVar("_E", bound=Endpoint)
_M = TypeVar("_M", bound=Middleware)


class Router:
    """A table of routes; ``App`` is one, and a part of a site may be another, included with a prefix."""

    def __init__(self, *, prefix: str = "") -> None:
        check_prefix(prefix)
        self.prefix = prefix
        self.routes: list[Route] = []
        self.own_middleware: list[Middleware] = []
        self._parents: list[tuple[Router, str]] = []

    def get(self, pattern: str, **options: Unpack[RouteOptions]) -> Callable[[_E], _E]:
        """Answer GET, and HEAD by it."""
        return self.route(pattern, methods=("GET",), **options)

    def post(self, pattern: str, **options: Unpack[RouteOptions]) -> Callable[[_E], _E]:
        """Answer POST."""
        return self.route(pattern, methods=("POST",), **options)

    def put(self, pattern: str, **options: Unpack[RouteOptions]) -> Callable[[_E], _E]:
        """Answer PUT."""
        return self.route(pattern, methods=("PUT",), **options)

    def patch(self, pattern: str, **options: Unpack[RouteOptions]) -> Callable[[_E], _E]:
        """Answer PATCH."""
        return self.route(pattern, methods=("PATCH",), **options)

    def delete(self, pattern: str, **options: Unpack[RouteOptions]) -> Callable[[_E], _E]:
        """Answer DELETE."""
        return self.route(pattern, methods=("DELETE",), **options)

    def head(self, pattern: str, **options: Unpack[RouteOptions]) -> Callable[[_E], _E]:
        """Answer HEAD by a handler of its own."""
        return self.route(pattern, methods=("HEAD",), **options)

    def options(self, pattern: str, **options: Unpack[RouteOptions]) -> Callable[[_E], _E]:
        """Answer OPTIONS by a handler of its own."""
        return self.route(pattern, methods=("OPTIONS",), **options)

    def route(
        self,
        pattern: str,
        *,
        methods: tuple[str, ...] | list[str] = ("GET",),
        **options: Unpack[RouteOptions],
    ) -> Callable[[_E], _E]:
        """Answer several methods with one handler, or decorate a class whose methods are named for them."""

        def decorate(endpoint: _E) -> _E:
            self.add_route(pattern, endpoint, methods=methods, **options)
            return endpoint

        return decorate

    def static(
        self, prefix: str, directory: str | PathLike[str], *, name: str = "static", **options: Unpack[StaticOptions]
    ) -> None:
        """Answer GET and HEAD below *prefix* with the files of *directory*; 404 for what is none.

        *index* is the file that stands for a directory; a directory is never listed. *cache_control* is the value
        of Cache-Control, or ``"immutable"`` for files whose names change with their content. *precompressed* (true):
        ``x.css.br``, ``.zst`` or ``.gz`` is sent in place of ``x.css`` to clients that accept it, if it is not older.
        Links are refused, unless ``follow_links=True`` and they stay inside. Names that begin with a dot are
        refused, unless ``dotfiles=True``. *name* is for ``url_for(name, path="x.css")``.
        """
        from tarmac.http.static import StaticFiles  # noqa: PLC0415 - only programs with files pay for it

        files = StaticFiles(directory, **options)
        prefix = prefix.removesuffix("/")
        self.add_route(f"{prefix}/{{path:path}}", files, name=name)
        if prefix and files.index is not None:
            self.add_route(prefix, files, name=f"{name}_root")

    def add_route(
        self,
        pattern: str,
        endpoint: Endpoint,
        *,
        methods: tuple[str, ...] | list[str] = ("GET",),
        **options: Unpack[RouteOptions],
    ) -> None:
        """Add *endpoint*: a function, a bound method, a partial, or a class with ``get``, ``post`` ...

        A handler is called as ``endpoint(request, **parameters)``; ``blocking=True`` runs it in a thread.
        Raises ``ConfigurationError`` when the handler cannot be called like that.
        """
        for method, function in by_method(endpoint, methods):
            self._add(with_options(Route(method, pattern, function, name_of(endpoint)), options))

    def websocket(
        self,
        pattern: str,
        *,
        name: str | None = None,
        message_bytes: int | None = None,
        compress: bool = True,
        origins: Sequence[str] | None = None,
    ) -> Callable[[_E], _E]:
        """Take WebSockets: ``async def handler(ws, **parameters)``, see ``tarmac.WebSocket``.

        ``message_bytes`` is the limit of one message, instead of the server's ``ws_message_bytes``.
        ``compress`` allows permessage-deflate. ``origins`` lists whose pages may connect, such as
        ``"https://example.com"``, or ``"same"`` for the site itself; clients that are no browsers send no
        origin and may connect. No middleware stands around the handler.
        """
        options = WebSocketOptions(
            message_bytes=message_bytes, compress=compress, origins=None if origins is None else list(origins)
        )

        def decorate(endpoint: _E) -> _E:
            if not is_asynchronous(endpoint):
                message = f"{pattern}: a WebSocket's handler is an async function, which {name_of(endpoint)} is not"
                raise ConfigurationError(message)
            route = Route("GET", pattern, endpoint, name or name_of(endpoint), websocket=options)
            self._add(route)
            return endpoint

        return decorate

    def include(self, router: Router, *, prefix: str = "") -> None:
        """Take over every route of *router*, also those that are added to it later."""
        check_prefix(prefix)
        if router is self:
            message = "a router cannot include itself"
            raise ConfigurationError(message)
        router._parents.append((self, prefix))
        for route in router.routes:
            self._accept(_moved(route, router, prefix))

    def middleware(self, function: _M) -> _M:
        """Put ``async def function(request, call_next)`` around the routes of this table.

        Also an object that is called like that, such as those of ``tarmac.middleware``. The first one
        added is the outermost. Add them before the program is served.
        """
        check_middleware(function)
        self.own_middleware.append(function)
        return function

    def add_middleware(self, middleware: Middleware) -> None:
        """The same without a decorator: ``app.add_middleware(tarmac.middleware.CORS(...))``."""
        self.middleware(middleware)

    def url_for(self, name: str, /, **parameters: object) -> str:
        """The path of the route called *name*, with its parameters filled in.

        Raises ``NoSuchRoute``, and ``ConfigurationError`` for a missing or needless parameter.
        """
        for route in self.routes:
            if route.name == name:
                return build_path(self.prefix + route.pattern, parameters)
        message = f"no route is called {name!r}"
        raise NoSuchRoute(message)

    def _add(self, route: Route) -> None:
        if not route.pattern.startswith("/"):
            message = f"a pattern starts with a slash: {route.pattern!r}"
            raise ConfigurationError(message)
        check_signature(route, self.prefix)
        self._accept(route)

    def _accept(self, route: Route) -> None:
        for known in self.routes:
            if known.method == route.method and known.pattern == route.pattern:
                message = f"{route.method} {route.pattern} is answered already, by {known.name}"
                raise ConfigurationError(message)
        here = replace(route, tables=(self, *route.tables))
        self.routes.append(here)
        for parent, prefix in self._parents:
            parent._accept(_moved(here, self, prefix))  # noqa: SLF001 - another of our own


def _moved(route: Route, router: Router, prefix: str) -> Route:
    return replace(route, pattern=prefix + router.prefix + route.pattern)


def check_prefix(prefix: str) -> None:
    """Refuse what cannot stand before the patterns of a table."""
    if prefix and (not prefix.startswith("/") or prefix.endswith("/")):
        message = f"a prefix looks like /api, not {prefix!r}"
        raise ConfigurationError(message)
