"""``Timeout``: an answer after at most so many seconds, if not the handler's, then 503."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

from tarmac.errors import ConfigurationError, HTTPError

if TYPE_CHECKING:
    from tarmac._native import Request
    from tarmac.http.routing import CallNext

__all__ = ["Timeout"]


class Timeout:
    """Cancel the handler after *seconds* and answer 503, or 504 in front of another server.

    It ends with the handler: a streamed answer that has begun is not cut off. A plain handler cannot
    be interrupted, and one in a thread runs on; only its client waits no longer.
    """

    def __init__(self, seconds: float, *, status: Literal[503, 504] = 503) -> None:
        if seconds <= 0:
            message = f"a time limit is a number of seconds above zero, not {seconds}"
            raise ConfigurationError(message)
        self.seconds = seconds
        self.status = status

    async def __call__(self, request: Request, call_next: CallNext) -> Any:
        """Answer in time."""
        limit = asyncio.timeout(self.seconds)
        try:
            async with limit:
                return await call_next(request)
        except TimeoutError:
            if not limit.expired():
                raise  # the handler's own
            raise HTTPError(self.status, "The answer took too long.") from None
