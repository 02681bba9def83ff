"""Puts middleware around an endpoint; an endpoint without any is left as it is.

At every layer a result becomes a ``Response`` and an expected error its answer, so that a middleware gets
a response or a defect, whoever answered. A middleware that has a method ``decorate(request, response)`` is
given the answer to a defect too: its headers belong on every answer.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from tarmac.http.responses import as_response

if TYPE_CHECKING:
    from tarmac._native import Request, Response
    from tarmac.http.failures import Failures
    from tarmac.http.routing import CallNext, Endpoint, Middleware

__all__ = ["layered", "surround"]


def surround(
    endpoint: Endpoint,
    middleware: list[Middleware],
    failures: Failures,
    *,
    decorated: list[Middleware] | None = None,
) -> Callable[..., Awaitable[Any]]:
    """As ``layered``, and outermost: the answer to a defect is decorated by those of *decorated* that can."""
    every = reversed(middleware if decorated is None else decorated)
    decorators = [decorate for one in every if (decorate := getattr(one, "decorate", None)) is not None]
    layers = layered(endpoint, middleware, failures)

    async def handle(request: Request, **parameters: Any) -> Any:
        try:
            return await layers(request, **parameters)
        except Exception as error:
            if not decorators:
                raise
            response = as_response(await _resolved(failures.answer(request, error)))
            for decorate in decorators:
                decorate(request, response)
            return response

    return handle


def layered(endpoint: Endpoint, middleware: list[Middleware], failures: Failures) -> Callable[..., Awaitable[Any]]:
    """An asynchronous endpoint that runs *middleware* around *endpoint*, the first one outermost."""

    async def handle(request: Request, **parameters: Any) -> Any:
        async def innermost(request: Request) -> Any:
            return await _resolved(endpoint(request, **parameters))

        call = _answering(innermost, failures)
        for function in reversed(middleware):
            call = _answering(_before(function, call), failures)
        return await call(request)

    return handle


def _before(function: Middleware, call_next: CallNext) -> CallNext:
    def call(request: Request) -> Awaitable[Any]:
        return function(request, call_next)

    return call


def _answering(layer: CallNext, failures: Failures) -> CallNext:
    """*layer*, whose results are responses and whose expected errors are their answers."""

    async def call(request: Request) -> Response:
        try:
            return as_response(await layer(request))
        except Exception as error:
            if not failures.expects(error):
                raise
            return as_response(await _resolved(failures.answer(request, error)))

    return call


async def _resolved(result: Any) -> Any:
    return await result if inspect.isawaitable(result) else result
