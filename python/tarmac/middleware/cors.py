"""``CORS``: which other origins' scripts may read the answers (Fetch standard, section 3.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from tarmac._native import Response
from tarmac.errors import ConfigurationError
from tarmac.middleware.fields import add_vary, elements

if TYPE_CHECKING:
    from tarmac._native import Request
    from tarmac.http.routing import CallNext

__all__ = ["CORS"]

# What a script may send without asking (Fetch standard, section 2.2.2).
_ALWAYS = {"accept", "accept-language", "content-language", "content-type", "range"}


class CORS:
    """Let scripts of other origins call this service.

    ``origins`` are exact, such as ``"https://example.org"``, or ``"*"`` for all; ``origin_regex`` must match
    the whole of an origin. ``methods`` and ``headers`` (``"*"`` for all) are what those scripts may send,
    ``expose`` what they may read, ``credentials`` whether cookies go along, and ``max_age`` how many seconds
    a browser may remember. A preflight request is answered here and reaches no handler.
    """

    def __init__(
        self,
        *,
        origins: Sequence[str] | Literal["*"] = (),
        origin_regex: str | None = None,
        methods: Sequence[str] = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"),
        headers: Sequence[str] | Literal["*"] = (),
        expose: Sequence[str] = (),
        credentials: bool = False,
        max_age: int = 600,
    ) -> None:
        self._any = origins == "*" or "*" in origins
        if credentials and self._any:
            message = "credentials for any origin would let every site act for your users: list the origins"
            raise ConfigurationError(message)
        if not self._any and not origins and origin_regex is None:
            message = "CORS needs origins, origin_regex, or origins='*'"
            raise ConfigurationError(message)
        self._origins = set() if self._any else {_checked(origin) for origin in origins}
        self._pattern = re.compile(origin_regex) if origin_regex is not None else None
        self._methods = [method.upper() for method in methods]
        self._headers = None if headers == "*" or "*" in headers else _ALWAYS | {name.lower() for name in headers}
        self._expose = ", ".join(expose)
        self._credentials = credentials
        self._max_age = str(max_age)

    async def __call__(self, request: Request, call_next: CallNext) -> Any:
        """Answer a preflight, or mark the answer."""
        if request.method == "OPTIONS" and "access-control-request-method" in request.headers:
            return self._preflight(request)
        response = await call_next(request)
        self.decorate(request, response)
        return response

    def decorate(self, request: Request, response: Response) -> None:
        """Say who may read *response*."""
        if not self._any:
            add_vary(response, "Origin")
        origin = request.header("origin")
        if origin is None or not self._allows(origin):
            return
        self._name_origin(response, origin)
        if self._expose:
            response.headers["Access-Control-Expose-Headers"] = self._expose

    def _preflight(self, request: Request) -> Response:
        refusal = self._refusal(request)
        if refusal is None:
            response = Response(None, status=204)
            self._name_origin(response, request.headers["origin"])
            response.headers["Access-Control-Allow-Methods"] = ", ".join(self._methods)
            if asked := request.header("access-control-request-headers"):
                response.headers["Access-Control-Allow-Headers"] = asked
            response.headers["Access-Control-Max-Age"] = self._max_age
        else:
            response = Response(refusal, status=403)
        add_vary(response, "Origin", "Access-Control-Request-Method", "Access-Control-Request-Headers")
        return response

    def _refusal(self, request: Request) -> str | None:
        """Why this preflight is refused, if it is."""
        origin = request.header("origin")
        if origin is None or not self._allows(origin):
            return "this origin may not call this service"
        # A method's case counts (Fetch standard, section 2.2.1).
        if request.headers["access-control-request-method"] not in self._methods:
            return "this method may not be used from another origin"
        asked = elements(request.header("access-control-request-headers"))
        if self._headers is not None and (unknown := [name for name in asked if name not in self._headers]):
            return f"not allowed from another origin: {', '.join(unknown)}"
        return None

    def _allows(self, origin: str) -> bool:
        if self._any or origin in self._origins:
            return True
        return self._pattern is not None and self._pattern.fullmatch(origin) is not None

    def _name_origin(self, response: Response, origin: str) -> None:
        response.headers["Access-Control-Allow-Origin"] = "*" if self._any else origin
        if self._credentials:
            response.headers["Access-Control-Allow-Credentials"] = "true"


def _checked(origin: str) -> str:
    if re.fullmatch(r"[a-z][a-z0-9+.-]*://[^/\s]+", origin) is None and origin != "null":
        message = f"an origin looks like https://example.org, without a path or a last slash: {origin!r}"
        raise ConfigurationError(message)
    return origin
