"""What is answered where no route matches, or none with this method, once Python is asked at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac._native import Response
from tarmac.errors import MethodNotAllowed, NotFound

if TYPE_CHECKING:
    from tarmac._native import Request

__all__ = ["unrouted"]


def unrouted(request: Request) -> Response:
    """The same as the server by itself: OPTIONS by ``Allow``, else 405 with it, else 404."""
    if request.allow is None:
        raise NotFound
    if request.method == "OPTIONS":
        return Response(None, status=204, headers={"Allow": request.allow})
    raise MethodNotAllowed(headers={"Allow": request.allow})
