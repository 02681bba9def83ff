"""Routes as the program writes them: decorators, class views, prefixes, names.

Matching is the native router's business; here stands what has to be known before a request comes.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack

from tarmac._native import WebSocketOptions
from tarmac.errors import ConfigurationError, NoSuchRoute

if TYPE_CHECKING:
    from os import PathLike

    from tarmac._native import Request

__all__ = ["METHODS", "Endpoint", "Middleware", "Route", "RouteOptions", "Router", "build_path"]

Endpoint = Callable[..., Any]
CallNext = Callable[["Request"], Awaitable[Any]]
Middleware = Callable[["Request", CallNext], Awaitable[Any]]
_E = TypeVar("_E", bound=Endpoint)
_M = TypeVar("_M", bound=Middleware)

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_PARAMETER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)(?::([a-z]+))?\}")


# How parameters look in a URL; the native router reads them so.
_WRITTEN = {
    "int": "-?[0-9]+",
    "float": r"-?[0-9]+(\.[0-9]+)?",
    "uuid": "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
}


class RouteOptions(TypedDict, total=False):
    """What every way to add a route takes beside the pattern and the handler."""

    name: str | None  # for url_for; the handler's own name if it is not given
    blocking: bool  # run a plain handler in a thread
    stream: bool  # start the handler when the head is there; it reads request.stream()
    timeout: float | None  # seconds until the client is told 503 and the handler is cancelled
    middleware: Sequence[Middleware]  # around this route alone, inside that of its tables


@dataclass(frozen=True, slots=True)
class Route:
    """One (method, pattern) and what answers it."""

    method: str
    pattern: str
    endpoint: Endpoint
    name: str
    blocking: bool = False
    stream: bool = False
    timeout: float | None = None
    own_middleware: tuple[Middleware, ...] = ()
    websocket: WebSocketOptions | None = None  # it takes WebSockets, of this kind
    tables: tuple[Router, ...] = ()  # the tables it was included into, the outermost first

    @property
    def middleware(self) -> list[Middleware]:
        """What stands around the endpoint, the outermost first."""
        inside = [*_time_limit(self.timeout), *self.own_middleware]
        return [function for table in self.tables for function in table.own_middleware] + inside

    @property
    def parameters(self) -> dict[str, str]:
        """The names in the pattern and their types."""
        return {name: kind or "str" for name, kind in _PARAMETER.findall(self.pattern)}

    @property
    def inputs(self) -> dict[str, Any]:
        """The models of ``body`` and ``query``, where the handler asks for them by an annotation."""
        signature = _signature(self.endpoint)
        if signature is None or {"body", "query"}.isdisjoint(signature.parameters):
            return {}
        from tarmac.http.typed import inputs  # noqa: PLC0415 - only who asks for them pays for it

        return inputs(self.endpoint, self.parameters)

    @property
    def asynchronous(self) -> bool:
        """Whether calling the endpoint makes a coroutine."""
        return is_asynchronous(self.endpoint)


class Router:
    """A table of routes; ``App`` is one, and a part of a site may be another, included with a prefix."""

    def __init__(self, *, prefix: str = "") -> None:
        _check_prefix(prefix)
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
        self,
        prefix: str,
        directory: str | PathLike[str],
        *,
        index: str | None = None,
        cache_control: str | None = None,
        precompressed: bool = True,
        follow_links: bool = False,
        dotfiles: bool = False,
        name: str = "static",
    ) -> None:
        """Answer GET and HEAD below *prefix* with the files of *directory*; 404 for what is none.

        *index* is the file that stands for a directory; a directory is never listed. *cache_control* is the value
        of Cache-Control, or ``"immutable"`` for files whose names change with their content. With *precompressed*,
        ``x.css.br``, ``.zst`` or ``.gz`` is sent in place of ``x.css`` to clients that accept it, if it is not older.
        Links are refused, unless ``follow_links=True`` and they stay inside. Names that begin with a dot are
        refused, unless ``dotfiles=True``. *name* is for ``url_for(name, path="x.css")``.
        """
        from tarmac.http.static import StaticFiles  # noqa: PLC0415 - only programs with files pay for it

        files = StaticFiles(
            directory,
            index=index,
            cache_control=cache_control,
            precompressed=precompressed,
            follow_links=follow_links,
            dotfiles=dotfiles,
        )
        prefix = prefix.removesuffix("/")
        self.add_route(f"{prefix}/{{path:path}}", files, name=name)
        if prefix and index is not None:
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
        for method, function in _by_method(endpoint, methods):
            self._add(_made(Route(method, pattern, function, name_of(endpoint)), options))

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
        _check_prefix(prefix)
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
        _check_middleware(function)
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
        _check_signature(route, self.prefix)
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


def build_path(pattern: str, parameters: dict[str, object]) -> str:
    """*pattern* with its parameters percent-encoded in place."""
    from urllib.parse import quote  # noqa: PLC0415 - only programs that build URLs pay for it

    left = dict(parameters)

    def fill(match: re.Match[str]) -> str:
        name, kind = match.groups()
        if name not in left:
            message = f"{pattern} needs {name!r}"
            raise ConfigurationError(message)
        value = left.pop(name)
        text = str(value)
        if kind in _WRITTEN and not re.fullmatch(_WRITTEN[kind], text):
            message = f"{name!r} of {pattern} is of type {kind}, not {value!r}"
            raise ConfigurationError(message)
        return quote(text, safe="/" if kind == "path" else "")

    path = _PARAMETER.sub(fill, pattern)
    if left:
        message = f"{pattern} has no {', '.join(map(repr, left))}"
        raise ConfigurationError(message)
    return path


def is_asynchronous(function: Endpoint) -> bool:
    """Whether calling *function* makes a coroutine; sees through partials and callable objects."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def name_of(endpoint: Endpoint) -> str:
    """The name of a function, also inside a partial; the class name of anything else."""
    inner: Any = endpoint
    while hasattr(inner, "func"):
        inner = inner.func
    return str(getattr(inner, "__name__", type(inner).__name__))


def _by_method(endpoint: Endpoint, methods: tuple[str, ...] | list[str]) -> Iterator[tuple[str, Endpoint]]:
    """Each method and what answers it; one instance of a class view serves all requests."""
    if not inspect.isclass(endpoint):
        if not callable(endpoint):
            message = f"a handler is called with a request; {endpoint!r} cannot be called"
            raise ConfigurationError(message)
        for method in methods:
            yield method.upper(), endpoint
        return
    view = endpoint()
    found = [(method, getattr(view, method.lower(), None)) for method in METHODS]
    if not any(function for _, function in found):
        message = f"{endpoint.__name__} has none of the methods {', '.join(METHODS).lower()}"
        raise ConfigurationError(message)
    for method, function in found:
        if function is not None:
            yield method, function


def _made(route: Route, options: RouteOptions) -> Route:
    """*route* with the options that its decorator was given."""
    if unknown := options.keys() - RouteOptions.__annotations__.keys():
        message = (
            f"a route has no option {', '.join(sorted(unknown))}; it has {', '.join(RouteOptions.__annotations__)}"
        )
        raise TypeError(message)
    middleware = tuple(options.get("middleware", ()))
    for function in middleware:
        _check_middleware(function)
    made = replace(
        route,
        name=options.get("name") or route.name,
        blocking=options.get("blocking", False),
        stream=options.get("stream", False),
        timeout=options.get("timeout"),
        own_middleware=middleware,
    )
    if made.timeout is not None and not (made.blocking or made.asynchronous):
        message = f"{route.method} {route.pattern}: nothing can interrupt a plain handler; make it async or blocking"
        raise ConfigurationError(message)
    return made


def _time_limit(seconds: float | None) -> list[Middleware]:
    if seconds is None:
        return []
    from tarmac.middleware.timeout import Timeout  # noqa: PLC0415 - only who limits pays for it

    return [Timeout(seconds)]


def _check_middleware(function: Middleware) -> None:
    if not is_asynchronous(function):
        message = f"a middleware is an async function of (request, call_next): {name_of(function)}"
        raise ConfigurationError(message)


def _moved(route: Route, router: Router, prefix: str) -> Route:
    return replace(route, pattern=prefix + router.prefix + route.pattern)


def _check_prefix(prefix: str) -> None:
    if prefix and (not prefix.startswith("/") or prefix.endswith("/")):
        message = f"a prefix looks like /api, not {prefix!r}"
        raise ConfigurationError(message)


def _signature(endpoint: Endpoint) -> inspect.Signature | None:
    try:
        return inspect.signature(endpoint)
    except (TypeError, ValueError):
        return None  # a builtin that does not tell


def _check_signature(route: Route, prefix: str) -> None:
    """Find out now, not at the first request, that a handler cannot take its parameters."""
    signature = _signature(route.endpoint)
    if signature is None:
        return
    wanted = [*route.parameters, *(name for name, _ in _PARAMETER.findall(prefix)), *route.inputs]
    try:
        signature.bind(None, **dict.fromkeys(wanted))
    except TypeError as error:
        arguments = ", ".join(["request", *wanted])
        message = f"{route.method} {route.pattern} calls {route.name}({arguments}): {error}"
        raise ConfigurationError(message) from None
