"""From an application to its OpenAPI 3.1 document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tarmac.openapi.description import description_of
from tarmac.openapi.operations import operation, template
from tarmac.openapi.schemas import Schemas

if TYPE_CHECKING:
    from tarmac.http.routing import Route, Router

__all__ = ["build_document"]

_METHODS = {"GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"}


def build_document(
    router: Router,
    *,
    title: str,
    version: str,
    description: str | None = None,
    servers: Sequence[str] = (),
    security: Mapping[str, Mapping[str, Any]] | None = None,
    tags: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The document of every route that is not hidden, in the order in which they were added.

    *security* maps names to security scheme objects, *tags* names to what they are about. Methods that
    OpenAPI does not know, and WebSockets, are left out.
    """
    schemas = Schemas()
    info = {"title": title, "version": version}
    if description:
        info["description"] = description
    document: dict[str, Any] = {"openapi": "3.1.1", "info": info}
    if servers:
        document["servers"] = [{"url": url} for url in servers]
    document["paths"] = _paths(router, schemas)
    components: dict[str, Any] = {}
    if schemas.components:
        components["schemas"] = dict(sorted(schemas.components.items()))
    if security:
        components["securitySchemes"] = {name: dict(scheme) for name, scheme in security.items()}
    if components:
        document["components"] = components
    if tags:
        document["tags"] = [{"name": name, "description": text} for name, text in tags.items()]
    return document


def _paths(router: Router, schemas: Schemas) -> dict[str, dict[str, Any]]:
    paths: dict[str, dict[str, Any]] = {}
    used: set[str] = set()
    for route in router.routes:
        if route.method in _METHODS and route.websocket is None and not description_of(route.endpoint).hidden:
            item = paths.setdefault(template(router.prefix + route.pattern), {})
            item.setdefault(route.method.lower(), operation(route, schemas, _free_id(route, used)))
    return paths


def _free_id(route: Route, used: set[str]) -> str:
    """The route's name, with its method or a number where that is taken."""
    base = "".join(letter if letter.isalnum() else "_" for letter in route.name).strip("_") or "handler"
    candidates = [base, f"{route.method.lower()}_{base}", *(f"{base}_{number}" for number in range(2, len(used) + 3))]
    chosen = next(name for name in candidates if name not in used)
    used.add(chosen)
    return chosen
