"""Other applications below a prefix: ``app.mount("/admin", application)``.

One of tarmac's is taken over route by route, with its middleware, error handlers and life. An ASGI or WSGI
application becomes one handler for all below the prefix: it gets a scope of its own, and what it sends becomes
a ``Response`` like any other, so that middleware stands around it too.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from tarmac._native import Response
from tarmac.errors import Disconnected
from tarmac.hosting import Hosted
from tarmac.http.routes import METHODS
from tarmac.http.routing import check_prefix

if TYPE_CHECKING:
    from tarmac._native import Request, Writer
    from tarmac.asgi import ASGIApplication, Event
    from tarmac.http.app import App

__all__ = ["mount"]

# What the server itself decides on.
_OURS = {b"connection", b"content-length", b"content-type", b"date", b"transfer-encoding"}
_WITHOUT_CONTENT = {204, 205, 304}


def mount(outer: App, prefix: str, app: App) -> None:
    """Let *app* answer for all below *prefix*."""
    if prefix != "/":
        check_prefix(prefix)
    prefix = prefix.removesuffix("/")
    if isinstance(app, Hosted):
        _mount_hosted(outer, prefix, app)
    else:
        _mount_app(outer, prefix, app)


def _mount_app(outer: App, prefix: str, app: App) -> None:
    """Take over the routes of *app*, and live as long as it."""

    @contextlib.asynccontextmanager
    async def living() -> AsyncIterator[None]:
        await app.life.enter(app)
        try:
            yield
        finally:
            await app.life.leave()

    outer.include(app, prefix=prefix)
    outer.lifespan(living)


def _mount_hosted(outer: App, prefix: str, hosted: Hosted) -> None:
    """Let *hosted* answer for *prefix* and all below it."""
    handler = _Mounted(hosted.hosted, prefix, hosted.protocol.state)
    for pattern in (prefix or "/", f"{prefix}/{{path:path}}"):
        outer.add_route(pattern, handler, methods=METHODS, name=prefix or "/", stream=True)
    outer.lifespan(hosted.protocol.around)


class _Mounted:
    """A handler that asks an ASGI application."""

    def __init__(self, app: ASGIApplication, root_path: str, state: dict[str, Any]) -> None:
        self._app = app
        self._root_path = root_path
        self._state = state

    async def __call__(self, request: Request, path: str = "") -> Response:  # noqa: ARG002 - the scope has it
        exchange = _Exchange(request)
        task = asyncio.create_task(self._run(self._scope(request), exchange))
        try:
            first = await exchange.first(task)
            assert exchange.start is not None  # noqa: S101 - first() waited for it
            status = exchange.start["status"]
            headers = [(bytes(name).lower(), bytes(value)) for name, value in exchange.start.get("headers", ())]
            if request.method == "HEAD" or status in _WITHOUT_CONTENT:
                while await exchange.next(task) is not None:
                    pass  # nobody is to read it
            body: Any = _Body(exchange, task, first, _length(headers))
            if not first.get("more_body", False):
                await task
                body = bytes(first.get("body", b"")) if request.method != "HEAD" else body
            return _response(body if status not in _WITHOUT_CONTENT else None, status, headers)
        except BaseException:
            task.cancel()
            raise

    async def _run(self, scope: Event, exchange: _Exchange) -> None:
        await self._app(scope, exchange.receive, exchange.send)

    def _scope(self, request: Request) -> Event:
        host, _, port = request.host.rpartition(":") if request.host[-1:].isdigit() else (request.host, "", "")
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": request.version,
            "method": request.method,
            "scheme": request.scheme,
            "path": request.path,
            "raw_path": request.raw_path,
            "query_string": request.query_string,
            "root_path": self._root_path,
            "headers": [
                (name.encode("latin-1"), value.encode("latin-1")) for name, value in request.headers.multi_items()
            ],
            "client": request.client,
            "server": (host or request.host, int(port) if port else None),
            "state": dict(self._state),
        }


class _Exchange:
    """What the application receives and sends."""

    def __init__(self, request: Request) -> None:
        self.start: Event | None = None
        self.began = False
        self.pieces: asyncio.Queue[Event] = asyncio.Queue(maxsize=1)
        self._request = request
        self._body = aiter(request.stream())
        self._read = False

    async def receive(self) -> Event:
        """The next piece of the body; after its end, the client's."""
        if self._read:
            await self._request.wait_disconnected()
            return {"type": "http.disconnect"}
        piece = await anext(self._body, None)
        self._read = piece is None
        return {"type": "http.request", "body": piece or b"", "more_body": piece is not None}

    async def send(self, event: Event) -> None:
        """Take the head, or a piece when there is room for it."""
        if event["type"] == "http.response.start":
            self.start = event
        elif event["type"] == "http.response.body" and self.start is not None:
            await self.pieces.put(event)
        else:
            message = f"{event['type']!r} is not what a mounted application may send now"
            raise RuntimeError(message)

    async def first(self, task: asyncio.Task[None]) -> Event:
        """The first piece, with which the head goes out; raises what the application raised before."""
        event = await self.next(task)
        if event is None:
            message = "the mounted application returned without an answer"
            raise RuntimeError(message)
        return event

    async def next(self, task: asyncio.Task[None]) -> Event | None:
        """The next piece, or ``None`` when the application has returned; raises what it raised.

        Raises ``Disconnected`` when the client leaves meanwhile, unless its head is not out yet.
        """
        if not self.pieces.empty():
            return self.pieces.get_nowait()
        getting = asyncio.ensure_future(self.pieces.get())
        gone = asyncio.ensure_future(self._request.wait_disconnected())
        waited = {getting, task} | ({gone} if self.began else set())
        try:
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            if getting.done():
                return getting.result()
        finally:
            getting.cancel()
            gone.cancel()
        if task.done():
            task.result()
            return None
        raise Disconnected


class _Body:
    """Writes what the application sends."""

    def __init__(self, exchange: _Exchange, task: asyncio.Task[None], first: Event, length: int | None) -> None:
        self.length = length
        self._exchange = exchange
        self._task = task
        self._first = first

    async def send_to(self, writer: Writer) -> None:
        """Write every piece; an application that stops in the middle breaks the answer off."""
        event: Event | None = self._first
        self._exchange.began = True
        try:
            while event is not None:
                await writer.write(bytes(event.get("body", b"")))
                if not event.get("more_body", False):
                    await self._task
                    return
                event = await self._exchange.next(self._task)
        finally:
            self._task.cancel()
        message = "the mounted application returned in the middle of its answer"
        raise RuntimeError(message)


def _response(body: Any, status: int, headers: list[tuple[bytes, bytes]]) -> Response:
    kinds = [value.decode("latin-1") for name, value in headers if name == b"content-type"]
    response = Response(body, status=status)
    response.headers.pop("content-type", None)
    if kinds:
        response.headers["Content-Type"] = kinds[0]
    for name, value in headers:
        if name not in _OURS:
            response.headers.append(name.decode("latin-1"), value.decode("latin-1"))
    return response


def _length(headers: list[tuple[bytes, bytes]]) -> int | None:
    for name, value in headers:
        if name == b"content-length":
            return int(value)
    return None
