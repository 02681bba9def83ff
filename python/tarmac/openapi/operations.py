"""From one route to an operation object: parameters, body, answers, and what is said of them."""

from __future__ import annotations

import inspect
import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from tarmac._native import Response
from tarmac.errors import ConfigurationError
from tarmac.http.typed import hint_of, innermost
from tarmac.openapi.description import Answer, Description, description_of

if TYPE_CHECKING:
    from tarmac.http.routing import Route
    from tarmac.openapi.schemas import Schemas

__all__ = ["operation", "template"]

_KINDS: dict[str, dict[str, Any]] = {
    "str": {"type": "string", "minLength": 1},
    "int": {"type": "integer", "format": "int64"},
    "float": {"type": "number"},
    "uuid": {"type": "string", "format": "uuid"},
    "path": {"type": "string"},
}
_JSON = "application/json"
_PROBLEMS = {
    "type": "object",
    "title": "InvalidInput",
    "properties": {
        "error": {"type": "string"},
        "problems": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"where": {"type": "string"}, "problem": {"type": "string"}},
                "required": ["where", "problem"],
            },
        },
    },
    "required": ["error", "problems"],
}


def template(pattern: str) -> str:
    """The path of a pattern: ``/packs/{number:int}`` is ``/packs/{number}``."""
    return re.sub(r"\{([^:}]+):[a-z]+\}", r"{\1}", pattern)


def operation(route: Route, schemas: Schemas, operation_id: str) -> dict[str, Any]:
    """The operation object of a route."""
    told = description_of(route.endpoint)
    summary, text = _words(route, told)
    body, query = told.body or route.inputs.get("body"), told.query or route.inputs.get("query")
    found: dict[str, Any] = {"operationId": told.operation_id or operation_id, "summary": summary}
    if text:
        found["description"] = text
    if told.tags:
        found["tags"] = list(told.tags)
    if told.deprecated:
        found["deprecated"] = True
    if told.security is not None:
        found["security"] = [{name: []} for name in told.security]
    if parameters := [*_of_path(route), *_of_query(query, schemas), *_of_headers(told, schemas)]:
        found["parameters"] = parameters
    if body is not None:
        found["requestBody"] = _request_body(body, _JSON, told, schemas)
    elif told.form is not None:
        found["requestBody"] = _request_body(told.form, _kind_of_form(told.form, schemas), told, schemas)
    found["responses"] = _responses(route, told, schemas, checked=bool(route.inputs))
    return found


def _words(route: Route, told: Description) -> tuple[str, str]:
    """A line and a text: from ``describe``, from the docstring, from the name."""
    docstring = inspect.getdoc(innermost(route.endpoint)) or ""
    first, _, rest = docstring.partition("\n\n")
    summary = told.summary or " ".join(first.split()).rstrip(".") or route.name.replace("_", " ")
    return summary, (told.description or rest).strip()


def _of_path(route: Route) -> list[dict[str, Any]]:
    found = []
    for name, kind in route.parameters.items():
        parameter = {"name": name, "in": "path", "required": True, "schema": dict(_KINDS[kind])}
        if kind == "path":
            parameter["description"] = "The rest of the path; it may hold slashes."
        found.append(parameter)
    return found


def _of_query(model: Any, schemas: Schemas) -> list[dict[str, Any]]:
    if model is None:
        return []
    return [
        {"name": name, "in": "query", "required": required, "schema": schema}
        for name, (schema, required) in schemas.fields(model).items()
    ]


def _of_headers(told: Description, schemas: Schemas) -> list[dict[str, Any]]:
    return [{"name": name, "in": "header", "schema": schemas.of(kind)} for name, kind in told.headers.items()]


def _kind_of_form(model: Any, schemas: Schemas) -> str:
    files = any(schema.get("format") == "binary" for schema, _ in schemas.fields(model).values())
    return "multipart/form-data" if files else "application/x-www-form-urlencoded"


def _request_body(model: Any, kind: str, told: Description, schemas: Schemas) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": schemas.of(model)}
    if told.examples:
        content["examples"] = {name: {"value": value} for name, value in told.examples.items()}
    return {"required": True, "content": {kind: content}}


def _responses(route: Route, told: Description, schemas: Schemas, *, checked: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if not any(status < 400 for status in told.responses):  # noqa: PLR2004 - RFC 9110: what is no error
        found.update(_success(route, schemas))
    found.update({str(status): _response(status, given, schemas) for status, given in told.responses.items()})
    if checked and "422" not in found:
        schemas.components["InvalidInput"] = _PROBLEMS
        content = {_JSON: {"schema": {"$ref": "#/components/schemas/InvalidInput"}}}
        found["422"] = {"description": "The request is not what it has to be", "content": content}
    return dict(sorted(found.items()))


def _success(route: Route, schemas: Schemas) -> dict[str, Any]:
    """What the return annotation says."""
    try:
        kind = hint_of(route.endpoint, "return")
    except (KeyError, ConfigurationError):  # nothing is said, or something that only checkers know
        return {"200": {"description": "OK"}}
    if kind is type(None):
        return {"204": {"description": "No Content"}}
    if isinstance(kind, type) and issubclass(kind, Response):
        return {"200": {"description": "OK"}}
    return {"200": _response(200, kind, schemas)}


def _response(status: int, given: Any, schemas: Schemas) -> dict[str, Any]:
    answer = (
        given if isinstance(given, Answer) else Answer(description=given) if isinstance(given, str) else Answer(given)
    )
    found: dict[str, Any] = {"description": answer.description or _phrase(status)}
    if answer.model is None:
        return found
    content: dict[str, Any] = {"schema": schemas.of(answer.model)}
    if answer.example is not None:
        content["examples"] = {"example": {"value": answer.example}}
    plain: dict[Any, str] = {str: "text/plain", bytes: "application/octet-stream"}
    kind = answer.content_type or (plain.get(answer.model, _JSON) if isinstance(answer.model, type) else _JSON)
    return {**found, "content": {kind: content}}


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return str(status)
