"""What ``request.Response(...)`` makes: Japronto's arguments as a native response."""

from __future__ import annotations

import json
from http.cookies import SimpleCookie
from typing import TYPE_CHECKING, Any

from tarmac._native import Response

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["make_response"]


def make_response(
    *,
    text: str | None,
    code: int | None,
    body: bytes | None,
    value: Any,
    mime_type: str | None,
    encoding: str | None,
    headers: Mapping[str, str] | None,
    cookies: SimpleCookie | None,
) -> Response:
    """A response with at most one of *text*, *body* and a JSON *value*.

    Raises ``ValueError`` for two of them, for a status outside of 100 to 599 and for a header with a line break.
    """
    if sum(given is not None for given in (text, body, value)) > 1:
        message = "a response has one of text, body and json"
        raise ValueError(message)
    content = body
    if value is not None:
        text = json.dumps(value)
    if text is not None:
        content = text.encode(encoding or "utf-8")
    response = Response(content, status=code or 200, headers=headers)
    if content is not None:
        default = "application/octet-stream" if text is None else "text/plain" if value is None else "application/json"
        response.set_header("Content-Type", _with_charset(mime_type or default, encoding))
    for morsel in (cookies or {}).values():
        response.set_header("Set-Cookie", morsel.OutputString())
    return response


def _with_charset(mime_type: str, encoding: str | None) -> str:
    """Text and JSON say their encoding always, everything else where one was given."""
    if encoding or mime_type.startswith("text/") or mime_type.endswith("/json"):
        return f"{mime_type}; charset={encoding or 'utf-8'}"
    return mime_type
