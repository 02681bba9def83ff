"""The application: a table of routes, and everything around them that a server needs to know."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from tarmac._native import Router as NativeRouter
from tarmac.errors import ConfigurationError
from tarmac.http.failures import ErrorHandler, Failures
from tarmac.http.lifespan import Lifespan
from tarmac.http.middleware import layered, surround
from tarmac.http.routes import Endpoint, Route, is_asynchronous
from tarmac.http.routing import Router
from tarmac.http.tasks import in_thread, later
from tarmac.http.unrouted import unrouted

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from tarmac._native import Asgi, Request
    from tarmac.http.metrics import Meter

__all__ = ["App"]

_F = TypeVar("_F", bound=Callable[..., Any])


class App(Router):
    """An HTTP application.

    ``threads`` is the size of the pool for ``blocking=True`` handlers. ``state`` is the program's own:
    a database, a cache, settings. ``slashes="redirect"`` sends a path that is routed only with, or only
    without, a slash at its end there with status 308; otherwise the two are different paths. ``debug`` shows
    the traceback of a defect to whoever asked, and so is for the developer alone.
    """

    def __init__(
        self, *, threads: int = 32, slashes: Literal["strict", "redirect"] = "strict", debug: bool = False
    ) -> None:
        super().__init__()
        if slashes not in {"strict", "redirect"}:
            message = f'slashes is "strict" or "redirect", not {slashes!r}'
            raise ConfigurationError(message)
        self._slashes = slashes
        self.state: Any = SimpleNamespace()
        self.failures = Failures()
        self.failures.debug = debug
        self.life = Lifespan()
        self.meter: Meter | None = None
        self._threads = threads
        self._pool: ThreadPoolExecutor | None = None

    def error(self, what: int | type[BaseException]) -> Callable[[_F], _F]:
        """Answer for a status or a class of exceptions: ``handler(request, error)``, sync or async."""

        def decorate(handler: _F) -> _F:
            self.add_error_handler(what, handler)
            return handler

        return decorate

    def add_error_handler(self, what: int | type[BaseException], handler: ErrorHandler) -> None:
        """The same without a decorator."""
        self.failures.add(what, handler)

    def on_startup(self, hook: _F) -> _F:
        """Call *hook*, with the application or with nothing, before the first request."""
        self.life.on_startup(hook)
        return hook

    def on_shutdown(self, hook: _F) -> _F:
        """Call *hook* after the last request; the last one added goes first."""
        self.life.on_shutdown(hook)
        return hook

    def lifespan(self, context: _F) -> _F:
        """``async def context(app): ...; yield; ...`` around the life of the server."""
        self.life.around(context)
        return context

    def background(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> None:
        """Run *function* (sync or async) once, after the answer of the handler that calls this.

        It runs when the handler ends, however it ends. An exception is logged.
        """
        later(partial(function, *arguments, **named))

    def openapi(
        self,
        *,
        title: str,
        version: str,
        path: str = "/openapi.json",
        docs: str | None = "/docs",
        **options: Any,
    ) -> None:
        """Serve an OpenAPI 3.1 document of the routes at *path*, and a page that shows it at *docs*.

        *options* are those of ``tarmac.openapi.build_document``: ``description``, ``servers``, ``security``, ``tags``.
        """
        from tarmac.openapi.serving import add_routes  # noqa: PLC0415 - only who documents pays for it

        add_routes(self, path=path, docs=docs, title=title, version=version, **options)

    def metrics(self, pattern: str = "/metrics") -> None:
        """Count requests from now on, and tell the numbers of all workers there, as Prometheus reads them."""
        from tarmac.http.metrics import Meter  # noqa: PLC0415 - only who counts pays for it

        self.meter = self.meter or Meter()
        self.add_route(pattern, self.meter.page, name="metrics")

    def health(self, pattern: str = "/health", *checks: Callable[[], Any]) -> None:
        """Answer 200 there, and 503 from the moment the server is about to stop.

        *checks* (sync or async) are called each time; one that raises or returns something false fails.
        """
        from tarmac.http.metrics import Health  # noqa: PLC0415 - as above

        self.add_route(pattern, Health(self.life, checks).answer, name="health")

    def mount(self, prefix: str, app: Any, **options: Any) -> None:
        """Let another application answer for all below *prefix*: of tarmac, ASGI or WSGI.

        One of tarmac's brings its routes, middleware, error handlers and hooks along; ``request.app`` is this
        one. Others are asked for the usual methods and get no WebSockets; *options* are those of
        ``tarmac.hosting.Hosted``.
        """
        from tarmac.hosting import adapt  # noqa: PLC0415 - a cycle; only who mounts pays for it
        from tarmac.http.mounting import mount  # noqa: PLC0415 - as above

        mount(self, prefix, adapt(app, **options))

    def run(self, host: str = "127.0.0.1", port: int = 8080, **options: Any) -> None:
        """Serve until SIGTERM or SIGINT, then drain and return; see ``tarmac.run`` for the options."""
        from tarmac.http.run import run  # noqa: PLC0415 - a cycle: run serves an App

        run(self, host=host, port=port, **options)

    def native_router(self) -> NativeRouter:
        """The routes as a server wants them, as they are now."""
        router = NativeRouter()
        for route in self.routes:
            self._install(router, route)
        return router

    def fallback(self) -> Callable[[Request], Any] | None:
        """What answers where no route matches; ``None`` where the server's own 404 will do."""
        missing = self._missing()
        if self.own_middleware:
            return surround(missing or unrouted, self.own_middleware, self.failures)
        if missing is None and self.failures.expects_unrouted():
            return unrouted
        return missing

    def _missing(self) -> Callable[[Request], Any] | None:
        if self._slashes == "strict":
            return None
        from tarmac.http.slashes import with_or_without  # noqa: PLC0415 - only who redirects pays for it

        return with_or_without(self.native_router())

    def native_asgi(self, server: tuple[str, int | None]) -> Asgi | None:  # noqa: ARG002 - for those that host one
        """The ASGI application that answers where no route matches, if there is one; *server* is where."""
        return None

    def close_threads(self) -> None:
        """Let the thread pool go; blocking handlers that still run end by themselves."""
        if self._pool is not None:
            self._pool.shutdown(wait=False)
            self._pool = None

    def _accept(self, route: Route) -> None:
        if self.life.running:
            message = f"{route.method} {route.pattern} comes too late: routes are added before they are served"
            raise ConfigurationError(message)
        super()._accept(route)

    def _install(self, router: NativeRouter, route: Route) -> None:
        endpoint, asynchronous = self._prepared(route)
        try:
            router.add(
                route.method,
                route.pattern,
                endpoint,
                asynchronous=asynchronous,
                streams=route.stream,
                websocket=route.websocket,
            )
        except ValueError as error:
            message = f"{route.method} {route.pattern}: {error}"
            raise ConfigurationError(message) from None

    def _prepared(self, route: Route) -> tuple[Endpoint, bool]:
        endpoint: Endpoint = route.endpoint
        if route.blocking:
            if is_asynchronous(endpoint):
                message = f"{route.name} is asynchronous: blocking=True is for plain functions"
                raise ConfigurationError(message)
            endpoint = in_thread(endpoint, self._executor)
        if models := route.inputs:
            from tarmac.http.typed import with_inputs  # noqa: PLC0415 - see Route.inputs

            endpoint = with_inputs(endpoint, models, asynchronous=is_asynchronous(endpoint))
        if route.websocket is None:
            endpoint = self._surrounded(endpoint, route)
        return endpoint, is_asynchronous(endpoint)

    def _surrounded(self, endpoint: Endpoint, route: Route) -> Endpoint:
        """*endpoint* inside its middleware; errors in an application that is mounted are answered there first."""
        around = route.inside
        for table in reversed(route.tables):
            around = [*table.own_middleware, *around]
            if isinstance(table, App) and table is not self and not table.failures.is_empty:
                endpoint, around = layered(endpoint, around, table.failures), []
        every = route.middleware
        return surround(endpoint, around, self.failures, decorated=every) if every else endpoint

    def _executor(self) -> ThreadPoolExecutor:
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - only who blocks pays for it

            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="tarmac")
        return self._pool
