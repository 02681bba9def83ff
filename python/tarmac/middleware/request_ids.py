"""``RequestId``: a name for each request, in the answer, in the logs, and for whoever is called on its behalf."""

from __future__ import annotations

import re
import secrets
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tarmac._native import Request, Response
    from tarmac.http.routing import CallNext

__all__ = ["RequestId", "request_id"]

request_id: ContextVar[str | None] = ContextVar("tarmac.request_id", default=None)
"""The name of the request that is being answered, for log filters and clients; ``None`` outside of one."""

# What can stand in a log line without being taken for something else.
_PLAIN = re.compile(r"[A-Za-z0-9._~+/=:-]{1,128}")


class RequestId:
    """Name each request: ``request.state.request_id``, and *header* in the answer.

    ``accept=True`` takes over the name that a proxy in front has given, if it is plain and short; without a
    proxy that sets it the client could choose it.
    """

    def __init__(self, *, header: str = "X-Request-Id", accept: bool = False) -> None:
        self._header = header
        self._accept = accept

    async def __call__(self, request: Request, call_next: CallNext) -> Any:
        """Name the request and its answer."""
        name = request.state.request_id = self._name(request)
        token = request_id.set(name)
        try:
            response = await call_next(request)
        finally:
            request_id.reset(token)
        self.decorate(request, response)
        return response

    def decorate(self, request: Request, response: Response) -> None:
        """Put the name on *response*."""
        if (name := getattr(request.state, "request_id", None)) is not None:
            response.headers[self._header] = name

    def _name(self, request: Request) -> str:
        given = request.header(self._header) if self._accept else None
        if given is not None and _PLAIN.fullmatch(given):
            return given
        return secrets.token_hex(16)
