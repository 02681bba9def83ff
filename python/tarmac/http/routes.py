"""What a route is: its pattern, its handler, its options, and what has to be known before a request comes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict

from tarmac.errors import ConfigurationError

if TYPE_CHECKING:
    from tarmac._native import Request, WebSocketOptions
    from tarmac.http.routing import Router

__all__ = [
    "METHODS",
    "CallNext",
    "Endpoint",
    "Middleware",
    "Route",
    "RouteOptions",
    "build_path",
    "by_method",
    "check_middleware",
    "check_signature",
    "is_asynchronous",
    "name_of",
    "with_options",
]

Endpoint = Callable[..., Any]
CallNext = Callable[["Request"], Awaitable[Any]]
Middleware = Callable[["Request", CallNext], Awaitable[Any]]

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
    cancel_on_disconnect: bool  # cancel the handler when its client leaves
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
    cancel_on_disconnect: bool = False
    own_middleware: tuple[Middleware, ...] = ()
    websocket: WebSocketOptions | None = None  # it takes WebSockets, of this kind
    tables: tuple[Router, ...] = ()  # the tables it was included into, the outermost first

    @property
    def middleware(self) -> list[Middleware]:
        """What stands around the endpoint, the outermost first."""
        around = [function for table in self.tables for function in table.own_middleware]
        return [*around, *self.inside]

    @property
    def inside(self) -> list[Middleware]:
        """What stands around this endpoint alone."""
        return [*_limits(self), *self.own_middleware]

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


def by_method(endpoint: Endpoint, methods: tuple[str, ...] | list[str]) -> Iterator[tuple[str, Endpoint]]:
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


def with_options(route: Route, options: RouteOptions) -> Route:
    """*route* with the options that its decorator was given."""
    if unknown := options.keys() - RouteOptions.__annotations__.keys():
        message = (
            f"a route has no option {', '.join(sorted(unknown))}; it has {', '.join(RouteOptions.__annotations__)}"
        )
        raise TypeError(message)
    middleware = tuple(options.get("middleware", ()))
    for function in middleware:
        check_middleware(function)
    made = replace(
        route,
        name=options.get("name") or route.name,
        blocking=options.get("blocking", False),
        stream=options.get("stream", False),
        timeout=options.get("timeout"),
        cancel_on_disconnect=options.get("cancel_on_disconnect", False),
        own_middleware=middleware,
    )
    interrupted = made.timeout is not None or made.cancel_on_disconnect
    if interrupted and not (made.blocking or made.asynchronous):
        message = f"{route.method} {route.pattern}: nothing can interrupt a plain handler; make it async or blocking"
        raise ConfigurationError(message)
    return made


def _limits(route: Route) -> list[Middleware]:
    """What ends the handler before its time, outermost first."""
    found: list[Middleware] = []
    if route.cancel_on_disconnect:
        from tarmac.http.leaving import cancel_on_disconnect  # noqa: PLC0415 - only who wants it pays for it

        found.append(cancel_on_disconnect)
    if route.timeout is not None:
        from tarmac.middleware.timeout import Timeout  # noqa: PLC0415 - only who limits pays for it

        found.append(Timeout(route.timeout))
    return found


def check_middleware(function: Middleware) -> None:
    """Refuse what cannot be called as a middleware is."""
    if not is_asynchronous(function):
        message = f"a middleware is an async function of (request, call_next): {name_of(function)}"
        raise ConfigurationError(message)


def _signature(endpoint: Endpoint) -> inspect.Signature | None:
    try:
        return inspect.signature(endpoint)
    except (TypeError, ValueError):
        return None  # a builtin that does not tell


def check_signature(route: Route, prefix: str) -> None:
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
