"""Runs an ASGI application on uvicorn; no engine by itself."""

import signal
from typing import Any

import uvicorn

from stickers.engines import DRAIN_SECONDS, Address


def serve(app: Any, address: Address) -> None:
    """Serve until SIGTERM or SIGINT."""
    # After its graceful stop uvicorn raises the signal once more, for whoever handled it
    # before. Without a handler that would end the process with 143 instead of 0.
    signal.signal(signal.SIGTERM, lambda _number, _frame: None)
    uvicorn.run(
        app,
        host=address.host,
        port=address.port,
        loop="uvloop" if address.uvloop else "asyncio",
        http="httptools",
        lifespan="on",
        access_log=False,
        # The site judges itself whom to believe; uvicorn would believe everybody on this machine.
        proxy_headers=False,
        log_level=address.log_level,
        timeout_graceful_shutdown=int(DRAIN_SECONDS),
    )
