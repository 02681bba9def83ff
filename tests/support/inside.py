"""Runs somebody else's coroutine inside a request handler, in the light way."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any

import tarmac
from tarmac import App

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


async def inside_handler(begin: Callable[[], Awaitable[Any]]) -> Any:
    """Await what *begin* returns as the body of a handler; give its result or raise what it raised."""
    loop, app = asyncio.get_running_loop(), App()
    outcome: list[tuple[Any, BaseException | None]] = []
    over = loop.create_future()

    @app.get("/")
    async def handler(request: Any) -> str:
        try:
            assert type(asyncio.current_task()).__name__ == "RequestTask", "this is not the light way"
            outcome.append((await begin(), None))
        except BaseException as error:  # noqa: BLE001 - whoever wrote the coroutine judges it
            outcome.append((None, error))
        finally:
            if not over.done():
                over.set_result(None)
        return "over"

    server = await _light_server(app)
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        await over
    server.abort()
    await server.stop()
    result, error = outcome.pop()
    if error is not None:
        raise error
    return result


async def _light_server(app: App) -> tarmac.Server:
    # A loop with a task factory of its own has its tasks made by that; here the light way is what is tested.
    loop = asyncio.get_running_loop()
    factory = loop.get_task_factory()
    loop.set_task_factory(None)
    try:
        return await tarmac.serve(app, port=0, tasks="light")
    finally:
        loop.set_task_factory(factory)
