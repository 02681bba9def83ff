"""Runs coroutines inside request handlers, in the light way."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any

import tarmac
from tarmac import App

from support.http import Wire, request

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


def is_light(task: asyncio.Task[Any]) -> bool:
    """Tell whether nobody has looked at it; this does not."""
    return type(task).__name__ == "RequestTask"


async def ask(*handlers: Any, times: int = 1, status: int = 200) -> list[bytes]:
    """Serve the handlers as ``/0``, ``/1`` and so on, in the light way; send all requests at once."""
    app = App()
    for number, handler in enumerate(handlers):
        app.get(f"/{number}")(handler)
    async with await tarmac.serve(app, port=0, tasks="light") as server, Wire(server.port) as wire:
        wire.send(b"".join(request(f"/{number}") for number in range(len(handlers))) * times)
        answers = [await wire.answer() for _ in range(len(handlers) * times)]
    assert {status} == {answer.status for answer in answers}, answers
    return [answer.body for answer in answers]
