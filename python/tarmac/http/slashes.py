"""The slash at the end of a path: sends a client to the form of its path that is routed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tarmac.errors import NotFound
from tarmac.http.responses import redirect
from tarmac.http.unrouted import unrouted

if TYPE_CHECKING:
    from tarmac._native import Request, Response, Router

__all__ = ["with_or_without"]


def with_or_without(router: Router) -> Callable[[Request], Response]:
    """What answers where no route matches: 308 to the path with its last slash added or removed, or 404."""

    def answer(request: Request) -> Response:
        if request.allow is not None:
            return unrouted(request)
        path = request.raw_path.decode("latin-1")
        other = path[:-1] if path.endswith("/") else f"{path}/"
        # A location that starts with two slashes would name another host.
        if not other.isascii() or other.startswith("//") or not other or router.match(request.method, other) is None:
            raise NotFound
        query = request.query_string.decode("latin-1")
        return redirect(f"{other}?{query}" if query else other, status=308)

    return answer
