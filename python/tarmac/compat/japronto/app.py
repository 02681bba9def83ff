"""Japronto's ``Application``: routes, error handlers and extensions of the request, served by tarmac."""

from __future__ import annotations

import asyncio
import logging
import os
import traceback
from collections.abc import Callable, Coroutine
from inspect import iscoroutine
from typing import TYPE_CHECKING, Any

from tarmac._native import Limits, Response
from tarmac.compat.japronto.reloading import hand_over, run_reloading
from tarmac.compat.japronto.request import Request
from tarmac.compat.japronto.router import Matcher, RouteNotFoundException, Router
from tarmac.errors import ConfigurationError, HTTPError
from tarmac.http.app import App
from tarmac.http.run import run
from tarmac.http.settings import Settings
from tarmac.http.sockets import Address

if TYPE_CHECKING:
    from tarmac._native import Request as NativeRequest

__all__ = ["Application"]

ErrorHandler = Callable[[Request, BaseException], Response]
_log = logging.getLogger("tarmac.japronto")


class Application:
    """The centre of a program written for Japronto.

    ``debug`` puts tracebacks into answers with status 500 and logs every request, as ``log_request`` does.
    Of ``reaper_settings`` only ``idle_timeout`` (seconds) has a meaning here.
    """

    def __init__(
        self,
        *,
        reaper_settings: dict[str, Any] | None = None,
        log_request: bool | None = None,
        protocol_factory: None = None,
        debug: bool = False,
    ) -> None:
        if protocol_factory is not None:
            message = "tarmac has no protocol_factory: the native server reads and writes"
            raise ConfigurationError(message)
        self.router = Router()
        self.request_extensions: dict[str, tuple[Callable[..., Any], bool]] = {}
        self._error_handlers: list[tuple[type[BaseException] | None, ErrorHandler]] = []
        self._reaper_settings = reaper_settings or {}
        self._log_request = log_request
        self._debug = debug
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loop_process = 0

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop on which ``run`` will serve; each worker process has its own."""
        if self._loop is None or self._loop_process != os.getpid():
            self._loop, self._loop_process = asyncio.new_event_loop(), os.getpid()
        return self._loop

    def add_error_handler(self, typ: type[BaseException] | None, handler: ErrorHandler) -> None:
        """Answer exceptions of *typ* with ``handler(request, exception)``; ``None`` is for all. The first one wins."""
        self._error_handlers.append((typ, handler))

    def extend_request(
        self,
        handler: Callable[..., Any],
        *,
        name: str | None = None,
        property: bool = False,  # noqa: A002 - Japronto calls it so
    ) -> None:
        """Give requests a method ``handler(request, ...)``, or a property, by the name of the function or *name*."""
        self.request_extensions[name or handler.__name__] = (handler, property)

    def service(self) -> App:
        """The application as a ``tarmac.App``, with the routes it has now."""
        return _Service(self)

    __tarmac_app__ = service  # so that `tarmac run module:app` and `tarmac.serve(app)` take it as it is

    def run(
        self,
        host: str = "0.0.0.0",  # noqa: S104 - Japronto's default
        port: int = 8080,
        *,
        worker_num: int | None = None,
        reload: bool = False,
        debug: bool = False,
    ) -> None:
        """Serve until SIGTERM or SIGINT, then drain; ``worker_num`` processes share the port.

        With ``reload`` the script runs anew whenever a source file beside it changes.
        """
        hand_over(self)
        self._debug = self._debug or debug
        idle = self._reaper_settings.get("idle_timeout")
        limits = Limits() if idle is None else Limits(idle_timeout=float(idle))
        if reload:
            run_reloading(Address(host, port), Settings(limits=limits), worker_num or 1)
            return
        workers = worker_num if worker_num is not None and worker_num > 1 else None
        run(self.service(), host=host, port=port, workers=workers, limits=limits, loop=lambda: self.loop)

    def error_handler(self, request: Request, exception: BaseException) -> Response:
        """The answer to an exception: of the first error handler that is for it, or the default one."""
        for typ, handler in self._error_handlers:
            if typ is None or isinstance(exception, typ):
                try:
                    return _checked(handler(request, exception), handler)
                except Exception:  # noqa: BLE001 - whatever the program's own handler raises
                    _log.exception("the error handler for %r failed", exception)
                    return request.Response(code=500, text="Internal Server Error")
        return self.default_error_handler(request, exception)

    def default_error_handler(self, request: Request, exception: BaseException) -> Response:
        """404 where there is no route, 503 for a handler that was cancelled, 400 for a bad form, 500 for the rest."""
        if isinstance(exception, RouteNotFoundException):
            return request.Response(code=404, text="Not Found")
        if isinstance(exception, asyncio.CancelledError):
            return request.Response(code=503, text="Service unavailable")
        if isinstance(exception, HTTPError):  # a form that is none
            return request.Response(code=exception.status, text=exception.text)
        _log.error("%s %s failed", request.method, request.path, exc_info=exception)
        text = "".join(traceback.format_exception(exception)) if self._debug else "Internal Server Error"
        return request.Response(code=500, text=text)

    def default_request_logger(self, request: Request) -> None:
        """One line for each request, where they are logged."""
        print(request.remote_addr, request.method, request.path, flush=True)  # noqa: T201 - as Japronto does

    def answer(self, native: NativeRequest, matcher: Matcher) -> Response | Coroutine[Any, Any, Response]:
        """The response to a request; a coroutine that makes it where the handler is asynchronous."""
        route, values = matcher.find(native.method, native.path) or (None, {})
        request = Request(native, self, route, values)
        if route is None:
            return self._failed(request, RouteNotFoundException())
        try:
            result = route.handler(request)
            if iscoroutine(result):
                return self._awaited(request, result)
            response = _checked(result, route.handler)
        except Exception as error:  # noqa: BLE001 - the error handlers decide
            return self._failed(request, error)
        return self._done(request, response)

    async def _awaited(self, request: Request, coroutine: Coroutine[Any, Any, Any]) -> Response:
        try:
            response = _checked(await coroutine, coroutine)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - the error handlers decide
            return self._failed(request, error)
        return self._done(request, response)

    def _failed(self, request: Request, error: BaseException) -> Response:
        return self._done(request, self.error_handler(request, error))

    def _done(self, request: Request, response: Response) -> Response:
        """The end of every request, well or not: the callbacks, once, and the log."""
        for callback in request.done_callbacks:
            try:
                callback(request)
            except Exception:  # noqa: BLE001 - the answer is made; the callback is the program's
                _log.exception("a done callback failed")
        if self._log_request or (self._debug and self._log_request is None):
            self.default_request_logger(request)
        return response


class _Service(App):
    """An application whose every request goes to Japronto's routes; its own table stays empty."""

    def __init__(self, application: Application) -> None:
        super().__init__()
        self.application = application

    def fallback(self) -> Callable[[NativeRequest], Any]:
        matcher, answer = self.application.router.matcher(), self.application.answer
        return lambda native: answer(native, matcher)


def _checked(result: Any, maker: object) -> Response:
    if isinstance(result, Response):
        return result
    message = f"View did not return Response instance: {maker!r} returned {result!r:.60}"
    raise ValueError(message)
