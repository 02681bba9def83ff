"""What becomes of a handler whose client leaves: cancelled, where its route says ``cancel_on_disconnect=True``."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tarmac._native import Request
    from tarmac.http.routes import CallNext

__all__ = ["cancel_on_disconnect"]


async def cancel_on_disconnect(request: Request, call_next: CallNext) -> Any:
    """A middleware that cancels the task of *request* when its client closes the connection, or its half of it.

    Also while the answer is being written piece by piece: until the task ends.
    """
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - a handler with middleware runs in one
    gone = asyncio.ensure_future(request.wait_disconnected())
    gone.add_done_callback(lambda _: task.cancel("the client has left"))
    task.add_done_callback(lambda _: gone.cancel())
    return await call_next(request)
