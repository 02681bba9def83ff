"""Answers by name: ``json``, ``html``, ``text``, ``redirect``. Each returns a ``Response``.

``background`` is called once, without arguments, when the answer is handed over and its handler has ended.
"""

from __future__ import annotations

import json as _json
from typing import TYPE_CHECKING, Any

from tarmac._native import Response

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    HeaderItems = Mapping[str, str] | Sequence[tuple[str, str]]
    Background = Callable[[], object]

__all__ = ["as_response", "encode_json", "encode_model", "html", "json", "redirect", "text"]


def _other(value: Any) -> Any:
    """What the encoder makes of a value that JSON does not know: dates, UUIDs, models ..."""
    from tarmac.http.jsonable import jsonable  # noqa: PLC0415 - most answers are plain

    return jsonable(value)


encode_json = _json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":"), default=_other
).encode
"""The JSON text of a value; the native core writes dictionaries and lists with it too."""


def json(
    value: Any, *, status: int = 200, headers: HeaderItems | None = None, background: Background | None = None
) -> Response:
    """*value* as ``application/json``, compact, in UTF-8.

    Dates, UUIDs, decimals, enumerations, sets, dataclasses and models of msgspec or pydantic are written as
    what stands for them. Raises ``TypeError`` for what JSON cannot say and ``ValueError`` for NaN and infinities.
    """
    return Response(
        encode_json(value).encode(),
        status=status,
        content_type="application/json",
        headers=headers,
        background=background,
    )


def html(
    body: str | bytes, *, status: int = 200, headers: HeaderItems | None = None, background: Background | None = None
) -> Response:
    """*body* as ``text/html``."""
    return Response(
        body, status=status, content_type="text/html; charset=utf-8", headers=headers, background=background
    )


def text(
    body: str | bytes, *, status: int = 200, headers: HeaderItems | None = None, background: Background | None = None
) -> Response:
    """*body* as ``text/plain``."""
    return Response(
        body, status=status, content_type="text/plain; charset=utf-8", headers=headers, background=background
    )


def redirect(
    location: str, *, status: int = 302, headers: HeaderItems | None = None, background: Background | None = None
) -> Response:
    """Send the client to *location*; 303 after a form, 308 for good and with the same method.

    Characters that a header cannot carry are percent-encoded; CR and LF are refused.
    """
    if status not in {301, 302, 303, 307, 308}:
        message = f"{status} is not a redirect"
        raise ValueError(message)
    if "\r" in location or "\n" in location:
        message = "a location has no line breaks"
        raise ValueError(message)
    response = Response(None, status=status, headers=headers, background=background)
    response.headers["Location"] = _header_safe(location)
    return response


def _header_safe(location: str) -> str:
    if location.isascii() and " " not in location:
        return location
    from urllib.parse import quote  # noqa: PLC0415 - rarely needed, slow to import

    return quote(location, safe=":/?#[]@!$&'()*+,;=%~")


def as_response(result: Any) -> Response:
    """What the server makes of a handler's result, as a ``Response``.

    str is text/plain, bytes is octet-stream, dict, list and models are JSON, None is 204, and a pair is a
    result and its status.
    """
    if isinstance(result, Response):
        return result
    if result is None:
        return Response(None, status=204)
    if isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], int):  # noqa: PLR2004 - a pair
        return _with_status(*result)
    return _with_status(result, 200)


def encode_model(result: Any) -> str:
    """The JSON text of a dataclass or a model that a handler returned; anything else is a ``TypeError``."""
    from tarmac.http.jsonable import is_model  # noqa: PLC0415 - see _other

    if is_model(result):
        return encode_json(result)
    kinds = "str, bytes, dict, list, None, a dataclass or model, Response or (result, status)"
    message = f"a handler must return {kinds}, not {type(result).__name__}"
    raise TypeError(message)


def _with_status(body: Any, status: int) -> Response:
    if isinstance(body, Response):
        body.status = status
        return body
    if isinstance(body, (dict, list)):
        return json(body, status=status)
    if body is None or isinstance(body, (str, bytes)):
        return Response(body, status=status)
    return Response(encode_model(body), status=status, content_type="application/json")
