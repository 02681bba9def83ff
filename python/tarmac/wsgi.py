"""WSGI applications (PEP 3333) as ASGI ones: each request runs in a thread of a pool.

::

    event loop                         thread
    ----------                         ------
    body pieces  <── asked for by ──   wsgi.input
    send()       <── one at a time ──  write(), the iterable's blocks
    the end      <── at once ──────    the whole answer, where its length is known
"""

from __future__ import annotations

import asyncio
import contextvars
import io
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from tarmac.wsgi_answer import Answer, FileWrapper

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from tarmac.asgi import Event, Receive, Send

__all__ = ["WSGI", "WSGIApplication"]

StartResponse = Callable[..., Callable[[bytes], object]]
WSGIApplication = Callable[[dict[str, Any], StartResponse], Iterable[bytes]]


class WSGI:
    """An ASGI application that runs a WSGI one in the threads of *executor*."""

    def __init__(self, app: WSGIApplication, *, executor: Callable[[], Executor]) -> None:
        self._app = app
        self._executor = executor

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        bridge = Bridge(asyncio.get_running_loop(), receive, send)
        try:
            environ = environ_of(scope, await _body(scope, receive, bridge))
            context = contextvars.copy_context()
            self._executor().submit(context.run, _run, self._app, environ, bridge)
            for event in await bridge.ended:
                await send(event)
        finally:
            bridge.close()


class Bridge:
    """What a thread may ask of the event loop while it answers one request."""

    def __init__(self, loop: asyncio.AbstractEventLoop, receive: Receive, send: Send) -> None:
        self.ended: asyncio.Future[list[Event]] = loop.create_future()
        self._loop = loop
        self._receive = receive
        self._send = send
        self._sending: Future[None] | None = None
        self._reading: Future[Event] | None = None
        self._closed = False

    def receive(self) -> Event:
        """The next event, waited for."""
        self._reading = self._submit(self._receive_one())
        event: Event = self._result(self._reading)
        return event

    def send(self, event: Event) -> None:
        """Send an event once the one before is out; its own errors come with the next."""
        self.flush()
        self._sending = self._submit(self._send_one(event))

    def flush(self) -> None:
        """Wait until what was sent is out. Raises ``OSError`` when the client has gone."""
        if self._sending is not None:
            sending, self._sending = self._sending, None
            self._result(sending)

    def finish(self, events: list[Event]) -> None:
        """The thread needs the loop no more; *events* are the rest of its answer."""
        self._tell(self.ended.set_result, events)

    def fail(self, error: BaseException) -> None:
        """The same for an answer that failed."""
        self._tell(self.ended.set_exception, error)

    def close(self) -> None:
        """The request is over: a thread that still asks is told so. Called by the loop."""
        self._closed = True
        for future in (self._reading, self._sending):
            if future is not None:
                future.cancel()

    async def _receive_one(self) -> Event:
        return await self._receive()

    async def _send_one(self, event: Event) -> None:
        await self._send(event)

    def _submit(self, coroutine: Any) -> Future[Any]:
        if self._closed:
            coroutine.close()
            raise ConnectionAbortedError("the request is over")
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def _result(self, future: Future[Any]) -> Any:
        from concurrent.futures import CancelledError  # noqa: PLC0415 - imported with the pool

        if self._closed:
            future.cancel()
        try:
            return future.result()
        except CancelledError:
            raise ConnectionAbortedError("the request is over") from None

    def _tell(self, method: Callable[[Any], object], value: Any) -> None:
        def tell() -> None:
            if not self.ended.done():
                method(value)

        if not self._closed:
            self._loop.call_soon_threadsafe(tell)


class Body(io.RawIOBase):
    """A request's body, read piece by piece as the application asks for it."""

    def __init__(self, bridge: Bridge) -> None:
        super().__init__()
        self._bridge = bridge
        self._piece = memoryview(b"")
        self._more = True

    def readable(self) -> bool:
        """Say that this can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill *buffer* with some bytes, 0 at the end. Raises ``OSError`` when the client has gone."""
        while not self._piece and self._more:
            event = self._bridge.receive()
            if event["type"] == "http.disconnect":
                raise ConnectionResetError("the client went before its body was complete")
            self._piece = memoryview(event.get("body", b""))
            self._more = event.get("more_body", False)
        count = min(len(buffer), len(self._piece))
        buffer[:count] = self._piece[:count]
        self._piece = self._piece[count:]
        return count


async def _body(scope: Event, receive: Receive, bridge: Bridge) -> io.BufferedIOBase:
    """What ``wsgi.input`` is: the bytes themselves where they are few."""
    fields = dict(scope["headers"])
    length = fields.get(b"content-length", b"0")
    if b"transfer-encoding" in fields or b"expect" in fields or len(length) > len("65535"):
        return io.BufferedReader(Body(bridge), 65536)
    if length == b"0":
        return io.BytesIO()
    pieces = []
    more = True
    while more:
        event = await receive()
        if event["type"] == "http.disconnect":
            raise ConnectionResetError("the client went before its body was complete")
        pieces.append(event.get("body", b""))
        more = event.get("more_body", False)
    return io.BytesIO(b"".join(pieces))


def environ_of(scope: Event, body: io.BufferedIOBase) -> dict[str, Any]:
    """PEP 3333's ``environ``: every string holds bytes, as Latin-1."""
    root_path = scope["root_path"].encode()
    raw_path = scope["raw_path"].removeprefix(root_path)
    query = scope["query_string"].decode("latin-1")
    server, port = scope["server"] or ("localhost", None)
    client, client_port = scope["client"] or ("", None)
    environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": root_path.decode("latin-1"),
        "PATH_INFO": unquote_to_bytes(raw_path).decode("latin-1"),
        "QUERY_STRING": query,
        "REQUEST_URI": scope["raw_path"].decode("latin-1") + ("?" + query if query else ""),
        "SERVER_NAME": server,
        "SERVER_PORT": str(port or ""),
        "SERVER_PROTOCOL": "HTTP/" + scope["http_version"],
        "REMOTE_ADDR": client,
        "REMOTE_PORT": str(client_port or ""),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.input": body,
        "wsgi.input_terminated": True,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        "wsgi.file_wrapper": FileWrapper,
    }
    for name, value in scope["headers"]:
        _add_header(environ, name.decode("latin-1"), value.decode("latin-1"))
    return environ


def _add_header(environ: dict[str, Any], name: str, value: str) -> None:
    if "_" in name:
        return  # `X_Real_IP` must not pass for `X-Real-IP`
    key = name.upper().replace("-", "_")
    if key not in {"CONTENT_TYPE", "CONTENT_LENGTH"}:
        key = "HTTP_" + key
    if key in environ:
        value = environ[key] + ("; " if key == "HTTP_COOKIE" else ",") + value
    environ[key] = value


def _run(app: WSGIApplication, environ: dict[str, Any], bridge: Bridge) -> None:
    """One request, from its environ to the end of its answer; the work of a thread."""
    answer = Answer(bridge)
    blocks: Iterable[bytes] = ()
    try:
        try:
            blocks = app(environ, answer.start_response)
            bridge.finish(answer.take(blocks))
        except BaseException as error:  # noqa: BLE001 - it is the server's to report, in the loop
            bridge.fail(error)
    finally:
        if hasattr(blocks, "close"):
            blocks.close()
