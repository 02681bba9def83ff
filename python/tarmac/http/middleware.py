"""Puts middleware around an endpoint; an endpoint without any is left as it is.

Inside the innermost layer a result becomes a ``Response`` and an expected error becomes its answer, so
that a middleware always gets a response or a defect.
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

__all__ = ["surround"]


def surround(endpoint: Endpoint, middleware: list[Middleware], failures: Failures) -> Callable[..., Awaitable[Any]]:
    """An asynchronous endpoint that runs *middleware* around *endpoint*, the first one outermost."""

    async def handle(request: Request, **parameters: Any) -> Any:
        async def innermost(request: Request) -> Response:
            try:
                return as_response(await _resolved(endpoint(request, **parameters)))
            except Exception as error:
                if not failures.expects(error):
                    raise
                return as_response(await _resolved(failures.answer(request, error)))

        call: CallNext = innermost
        for function in reversed(middleware):
            call = _before(function, call)
        return await call(request)

    return handle


def _before(function: Middleware, call_next: CallNext) -> CallNext:
    def call(request: Request) -> Awaitable[Any]:
        return function(request, call_next)

    return call


async def _resolved(result: Any) -> Any:
    return await result if inspect.isawaitable(result) else result
