"""Handlers that say what they want: parameters called ``body`` and ``query`` with a model as annotation.

::

    @app.post("/todos")
    async def create(request, body: NewTodo) -> Todo: ...

The body is read as JSON, the query as text, both are checked before the handler runs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, get_type_hints

from tarmac.errors import ConfigurationError
from tarmac.http.models import query_fields, read_query

if TYPE_CHECKING:
    from tarmac._native import Request

__all__ = ["annotations", "innermost", "inputs", "with_inputs"]

_INPUTS = ("body", "query")


def inputs(endpoint: Callable[..., Any], taken: Iterable[str]) -> dict[str, Any]:
    """The models of ``body`` and ``query`` where *endpoint* asks for them and the path does not give them.

    Raises ``ConfigurationError`` for an annotation that cannot be resolved or means nothing.
    """
    parameters = inspect.signature(endpoint).parameters
    asked = [
        name
        for name in _INPUTS
        if name in parameters and name not in taken and parameters[name].annotation is not inspect.Parameter.empty
    ]
    if not asked:
        return {}
    found = {name: hint_of(endpoint, name) for name in asked}
    if "query" in found:
        _check_query(found["query"])
    return found


def hint_of(endpoint: Callable[..., Any], name: str) -> Any:
    """One annotation of a handler, resolved by itself: what the others name may be there for checkers alone.

    Raises ``KeyError`` where there is none and ``ConfigurationError`` where it cannot be resolved.
    """
    function = innermost(endpoint)
    holder = SimpleNamespace(__annotations__={name: inspect.get_annotations(function)[name]})
    try:
        return get_type_hints(holder, globalns=getattr(function, "__globals__", {}), include_extras=True)[name]
    except NameError as error:
        message = f"the annotation of {name!r} in {getattr(function, '__qualname__', function)}: {error}"
        raise ConfigurationError(message) from None


def innermost(endpoint: Any) -> Any:
    """The function that was written, inside partials, methods, callable objects and decorators."""
    while isinstance(endpoint, partial):
        endpoint = endpoint.func
    if not inspect.isroutine(endpoint):
        endpoint = type(endpoint).__call__
    return inspect.unwrap(getattr(endpoint, "__func__", endpoint))


def with_inputs(endpoint: Callable[..., Any], models: dict[str, Any], *, asynchronous: bool) -> Callable[..., Any]:
    """*endpoint* with what it asks for read and checked."""
    body, query = models.get("body"), models.get("query")

    def with_query(request: Request, **parameters: Any) -> Any:
        return endpoint(request, query=read_query(request, query), **parameters)

    async def with_both(request: Request, **parameters: Any) -> Any:
        if query is not None:
            parameters["query"] = read_query(request, query)
        if body is not None:
            parameters["body"] = await request.json(body)
        result = endpoint(request, **parameters)
        return await result if asynchronous else result

    return with_both if body is not None or asynchronous else with_query


def _check_query(model: Any) -> None:
    try:
        fields = query_fields(model)
    except (TypeError, NameError):
        fields = {}
    if not fields:
        message = f"a query is read as a dataclass, a TypedDict or a model with fields, not as {model!r}"
        raise ConfigurationError(message)
