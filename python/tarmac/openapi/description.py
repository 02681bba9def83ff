"""What a handler says of itself beside its name, its annotations and its docstring."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from tarmac.http.typed import innermost

__all__ = ["Answer", "Description", "describe", "description_of"]

_F = TypeVar("_F", bound=Callable[..., Any])
_MARK = "__tarmac_description__"


class Answer(NamedTuple):
    """One answer of a handler: what its body is, in words, and an example."""

    model: Any = None
    description: str | None = None
    example: Any = None
    content_type: str | None = None  # application/json for a model, text/plain for str, octet-stream for bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """Everything that ``describe`` takes; see there."""

    summary: str | None = None
    description: str | None = None
    tags: Sequence[str] = ()
    deprecated: bool = False
    hidden: bool = False
    operation_id: str | None = None
    body: Any = None
    form: Any = None
    query: Any = None
    headers: Mapping[str, Any] = field(default_factory=dict)
    examples: Mapping[str, Any] = field(default_factory=dict)
    responses: Mapping[int, Any] = field(default_factory=dict)
    security: Sequence[str] | None = None


def describe(
    *,
    summary: str | None = None,
    description: str | None = None,
    tags: Sequence[str] = (),
    deprecated: bool = False,
    hidden: bool = False,
    operation_id: str | None = None,
    body: Any = None,
    form: Any = None,
    query: Any = None,
    headers: Mapping[str, Any] | None = None,
    examples: Mapping[str, Any] | None = None,
    responses: Mapping[int, Any] | None = None,
    security: Sequence[str] | None = None,
) -> Callable[[_F], _F]:
    """Say in the document what a handler's annotations and docstring do not.

    ``body``, ``form`` and ``query`` are models for handlers that read them by themselves; a form with a field of
    ``bytes`` is a multipart one. ``headers`` maps a header's
    name to its type; ``examples`` are bodies by name. ``responses`` maps a status to a model, to words, to an
    ``Answer``, or to None where there is no body. ``security`` names schemes of ``app.openapi``; ``()`` says that
    none is needed here. ``hidden`` leaves the handler out.
    """

    def decorate(function: _F) -> _F:
        told = Description(
            summary=summary,
            description=description,
            tags=tuple(tags),
            deprecated=deprecated,
            hidden=hidden,
            operation_id=operation_id,
            body=body,
            form=form,
            query=query,
            headers=headers or {},
            examples=examples or {},
            responses=responses or {},
            security=security,
        )
        setattr(innermost(function), _MARK, told)
        return function

    return decorate


def description_of(endpoint: Callable[..., Any]) -> Description:
    """What ``describe`` was told of a handler; nothing where it was not used."""
    told: Description = getattr(innermost(endpoint), _MARK, Description())
    return told
