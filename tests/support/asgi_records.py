"""Raw ASGI applications and their clients, run under uvicorn and under tarmac, and what both times was noted."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import tarmac
import uvicorn
from tarmac.hosting import adapt

from support.raw import RawClient, Reply

Notes = list[Any]
Client = Callable[[RawClient, Notes], Awaitable[None]]
App = Callable[..., Awaitable[None]]
# What is the server's own affair: its name, the time, and how it tells where a body ends.
FRAMING = {"server", "date", "transfer-encoding", "connection", "content-length"}
TEXT = [(b"content-type", b"text/plain")]


class Cases(dict[str, tuple[App, Client]]):
    """Applications by their names, each with the client that meets it."""

    def case(self, client: Client) -> Callable[[App], App]:
        """Add an application."""

        def add(app: App) -> App:
            self[app.__name__] = (app, client)  # type: ignore[attr-defined]
            return app

        return add

    def records(self, name: str) -> tuple[Notes, Notes]:
        """The record of uvicorn, and that of tarmac."""
        return asyncio.run(self._record(under_uvicorn, name)), asyncio.run(self._record(under_tarmac, name))

    async def _record(self, server: Any, name: str) -> Notes:
        app, client = self[name]
        notes: Notes = []
        async with server(application(app, notes)) as port, RawClient(port) as connection:
            await client(connection, notes)
        return notes


def start(status: int = 200, headers: object = TEXT) -> dict[str, Any]:
    return {"type": "http.response.start", "status": status, "headers": headers}


def body(content: bytes = b"", *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.response.body", "body": content, "more_body": more}


async def attempt(notes: Notes, awaitable: Awaitable[Any]) -> None:
    """Note whether something is refused."""
    try:
        await awaitable
    except RuntimeError:
        notes.append("refused")
    else:
        notes.append("taken")


def noted(reply: Reply) -> tuple[Any, ...]:
    """What of a response must be the same."""
    fields = [pair for pair in reply.fields if pair[0] not in FRAMING]
    return reply.status, sorted(fields), reply.body, reply.cut


def asks(method: str = "GET", path: str = "/", content: bytes = b"", *, fields: str = "", then: str = "open") -> Any:
    """A client that sends one request, and then looks whether the connection is open."""

    async def client(client: RawClient, notes: Notes) -> None:
        notes.append(noted(await client.ask(method, path, content, fields=fields)))
        if then == "open":
            notes.append(("open", await client.is_open()))

    return client


async def read(receive: Any) -> bytes:
    """The whole body."""
    whole, more = b"", True
    while more:
        event = await receive()
        assert "http.request" == event["type"], event
        whole += event["body"]
        more = event["more_body"]
    return whole


def scope_of(scope: dict[str, Any]) -> dict[str, Any]:
    shown = {key: value for key, value in scope.items() if key not in {"asgi", "server", "client", "extensions"}}
    shown["client"] = (scope["client"][0], type(scope["client"][1]))
    shown["server"] = scope["server"][0]
    shown["asgi"] = scope["asgi"]["version"]
    return shown


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that happens by itself."""
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 - either server may bring it about
            await asyncio.sleep(0.005)


def application(app: Callable[..., Awaitable[None]], notes: Notes) -> Any:
    """The application of a case, with a path that tells that a connection is open, and a lifespan with a state."""

    async def call(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            scope["state"]["shared"] = []
            for what in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{what}.complete"})
        elif scope["path"] == "/open":
            await send(start(headers=[(b"content-length", b"0")]))
            await send(body())
        else:
            await app(scope, receive, send, notes)

    return call


@contextlib.asynccontextmanager
async def under_uvicorn(app: Any) -> AsyncIterator[int]:
    config = uvicorn.Config(
        app, port=0, http="httptools", log_config=None, access_log=False, timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign]
    serving = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await serving


@contextlib.asynccontextmanager
async def under_tarmac(app: Any) -> AsyncIterator[int]:
    server = await tarmac.serve(adapt(app), port=0)
    try:
        yield server.port
    finally:
        await server.stop(drain=1.0)
