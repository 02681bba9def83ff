"""``AsyncClient``: asks an application in the test's own event loop, without a socket."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any, Self, Unpack
from urllib.parse import SplitResult, urljoin, urlsplit

from tarmac.hosting import adapt
from tarmac.http.serve import Server
from tarmac.http.sockets import Address
from tarmac.testing.answers import Answer, AnswerReader, BrokenAnswer
from tarmac.testing.connection import AsyncConnection
from tarmac.testing.cookies import Cookies
from tarmac.testing.requests import Pairs, RequestOptions, Sent, build
from tarmac.testing.websocket import AsyncWebSocket, check_opening, handshake

if TYPE_CHECKING:
    from tarmac._native import Limits
    from tarmac.http.app import App

__all__ = ["AsyncClient", "AsyncStream"]

_MOST_REDIRECTS = 20


class AsyncClient:
    """A client of *app* (of tarmac, ASGI or WSGI); ``async with`` starts it up and shuts it down.

    Without ``async with`` the first request starts it, and ``close`` shuts it down. Requests may run at
    the same time. ``raise_server_exceptions``: an exception that the application has no answer for is
    raised by the request that met it, instead of a 500. ``timeout``: seconds without a word from the
    application before ``TimeoutError``. ``client``: the address that ``request.client`` tells.
    """

    def __init__(
        self,
        app: Any,
        *,
        base_url: str = "http://testserver",
        headers: Pairs = (),
        follow_redirects: bool = True,
        raise_server_exceptions: bool = True,
        client: tuple[str, int] | None = ("127.0.0.1", 50000),
        timeout: float | None = 10.0,
        limits: Limits | None = None,
    ) -> None:
        self.app: App = adapt(app)
        self.base_url = base_url
        self.headers = headers
        self.cookies = Cookies()
        self.follow_redirects = follow_redirects
        self._raises = raise_server_exceptions
        self._client = client
        self._timeout = timeout
        self._limits = limits
        self._server: Server | None = None
        self._starting = asyncio.Lock()
        self._idle: list[AsyncConnection] = []
        self._defects: list[BaseException] = []

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def start(self) -> None:
        """Start the application up, unless that is done."""
        async with self._starting:
            if self._server is None:
                server = Server(self.app, Address(), limits=self._limits)
                await server.start([])
                self._server = server
                self.app.failures.watchers.append(self._defects.append)

    async def close(self) -> None:
        """Shut the application down. Idempotent."""
        if self._server is not None:
            server, self._server = self._server, None
            self.app.failures.watchers.remove(self._defects.append)
            self._idle.clear()
            await server.stop(drain=0)

    async def get(self, url: str, **options: Unpack[RequestOptions]) -> Answer:
        """Send GET."""
        return await self.request("GET", url, **options)

    async def head(self, url: str, **options: Unpack[RequestOptions]) -> Answer:
        """Send HEAD."""
        return await self.request("HEAD", url, **options)

    async def post(self, url: str, **options: Unpack[RequestOptions]) -> Answer:
        """Send POST."""
        return await self.request("POST", url, **options)

    async def put(self, url: str, **options: Unpack[RequestOptions]) -> Answer:
        """Send PUT."""
        return await self.request("PUT", url, **options)

    async def patch(self, url: str, **options: Unpack[RequestOptions]) -> Answer:
        """Send PATCH."""
        return await self.request("PATCH", url, **options)

    async def delete(self, url: str, **options: Unpack[RequestOptions]) -> Answer:
        """Send DELETE."""
        return await self.request("DELETE", url, **options)

    async def options(self, url: str, **options: Unpack[RequestOptions]) -> Answer:
        """Send OPTIONS."""
        return await self.request("OPTIONS", url, **options)

    async def request(self, method: str, url: str, **options: Unpack[RequestOptions]) -> Answer:
        """Send one request, read its answer, and follow redirects."""
        async with self.stream(method, url, **options) as stream:
            await stream.read()
            return stream.answer

    @contextlib.asynccontextmanager
    async def stream(self, method: str, url: str, **options: Unpack[RequestOptions]) -> AsyncIterator[AsyncStream]:
        """Send one request and give its answer as soon as its head is there, to be read piece by piece.

        Leaving the block before the end of the answer closes the connection.
        """
        sent = build(self.base_url, method, url, self.headers, options)
        follow = options.get("follow_redirects", self.follow_redirects)
        history: list[Answer] = []
        while True:
            stream = await self._send(sent)
            try:
                if not (follow and stream.answer.is_redirect):
                    stream.answer.history = history
                    yield stream
                    return
                await stream.read()
            finally:
                self._leave(stream)
            history.append(stream.answer)
            if len(history) > _MOST_REDIRECTS:
                message = f"more than {_MOST_REDIRECTS} redirects, the last one to {stream.answer.headers['location']}"
                raise RuntimeError(message)
            sent = _redirected(sent, stream.answer)

    @contextlib.asynccontextmanager
    async def websocket(
        self, url: str, *, subprotocols: tuple[str, ...] | list[str] = (), **options: Unpack[RequestOptions]
    ) -> AsyncIterator[AsyncWebSocket]:
        """Open a WebSocket; it is closed with 1000 at the end of the block.

        Raises ``WebSocketRefused`` where the server answers with something else.
        """
        asked = handshake(tuple(subprotocols))
        sent = build(self.base_url, "GET", url, self.headers, options)
        sent.headers += list(asked.items())
        stream = await self._send(sent)
        if stream.answer.status != 101:  # noqa: PLR2004 - switching protocols
            await stream.read()
        check_opening(asked, stream.answer)
        websocket = AsyncWebSocket(stream.connection, stream.answer, self.raise_defect)
        try:
            yield websocket
            await websocket.close()
        finally:
            stream.connection.reset()

    async def raw(self, data: bytes) -> bytes:
        """Send bytes as they are over a connection of their own, and give all that comes until it is closed.

        The sending half ends after them, so the server closes when it has answered all of them.
        """
        connection = await self.connect()
        connection.send(data)
        connection.end()
        return await connection.rest()

    async def connect(self) -> AsyncConnection:
        """A connection of the test's own."""
        await self.start()
        assert self._server is not None  # noqa: S101 - just started
        return AsyncConnection(self._server, self._client, self._timeout)

    async def _send(self, sent: Sent) -> AsyncStream:
        connection = await self._connection()
        connection.send(sent.head(self.cookies.header(sent.url)))
        body = asyncio.ensure_future(_send_body(connection, sent.body))
        stream = AsyncStream(self, connection, body, AnswerReader(head_only=sent.method == "HEAD"))
        try:
            await stream.begin()
        except BaseException:
            body.cancel()
            connection.reset()
            raise
        stream.answer.url = sent.url.geturl()
        self._keep_cookies(stream.answer, sent.url)
        return stream

    async def _connection(self) -> AsyncConnection:
        while self._idle:
            connection = self._idle.pop()
            if not connection.closed:
                return connection
        return await self.connect()

    def _leave(self, stream: AsyncStream) -> None:
        """Keep the connection for the next request, or close it where this one was not read to its end."""
        stream.body.cancel()
        if stream.reader.done and stream.body.done() and not stream.connection.closed:
            self._idle.append(stream.connection)
        elif not stream.connection.closed:
            stream.connection.reset()

    def _keep_cookies(self, answer: Answer, url: SplitResult) -> None:
        for line in answer.headers.get_all("set-cookie"):
            cookie = self.cookies.take(line, url)
            if cookie is not None:
                answer.cookies[cookie.name] = cookie.value

    def raise_defect(self) -> None:
        """Raise what the application had no answer for, if anything and if that is wanted."""
        if self._defects:
            defect = self._defects.pop(0)
            if self._raises:
                raise defect


class AsyncStream:
    """An answer that is read piece by piece: ``async for piece in stream``."""

    def __init__(
        self, client: AsyncClient, connection: AsyncConnection, body: asyncio.Future[None], reader: AnswerReader
    ) -> None:
        self.connection = connection
        self.body = body
        self.reader = reader
        self._client = client

    @property
    def answer(self) -> Answer:
        """The answer; its body is there after ``read``."""
        assert self.reader.head is not None  # noqa: S101 - begin() waited for it
        return self.reader.head

    async def begin(self) -> None:
        """Wait for the head."""
        while self.reader.head is None:
            await self._more()
        if self.answer.status == 500:  # noqa: PLR2004 - the status of a defect
            self._client.raise_defect()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            for piece in self.reader.take():
                yield piece
            if self.reader.done:
                return
            await self._more()

    async def read(self) -> bytes:
        """The rest of the body, whole."""
        self.answer.body += b"".join([piece async for piece in self])
        return self.answer.body

    async def _more(self) -> None:
        try:
            await self.connection.feed(self.reader)
        except BrokenAnswer:
            self._client.raise_defect()
            if self.body.done() and not self.body.cancelled():
                self.body.result()  # what the test's own iterator raised
            raise


async def _send_body(connection: AsyncConnection, body: bytes | Iterable[bytes] | AsyncIterable[bytes]) -> None:
    if isinstance(body, bytes):
        connection.send(body)
        return
    try:
        if isinstance(body, AsyncIterable):
            async for piece in body:
                _send_chunk(connection, piece)
        else:
            for piece in body:
                _send_chunk(connection, piece)
                await asyncio.sleep(0)  # the application may look at each piece as it comes
    except Exception:
        connection.reset()
        raise
    connection.send(b"0\r\n\r\n")


def _send_chunk(connection: AsyncConnection, piece: bytes) -> None:
    if piece:
        connection.send(b"%x\r\n%s\r\n" % (len(piece), piece))


def _redirected(sent: Sent, answer: Answer) -> Sent:
    """The request that a redirect asks for (RFC 9110 section 15.4)."""
    url = urlsplit(urljoin(sent.url.geturl(), answer.headers["location"]))
    method, body, headers = sent.method, sent.body, sent.headers
    by_get = answer.status == 303 and method != "HEAD"  # noqa: PLR2004 - see other
    if by_get or (answer.status in {301, 302} and method == "POST"):
        method, body = "GET", b""
        headers = [(name, value) for name, value in headers if not name.lower().startswith("content-")]
    elif not sent.whole:
        message = f"a body in pieces cannot be sent again to {url.geturl()}"
        raise RuntimeError(message)
    if url.netloc != sent.url.netloc:
        headers = [(name, value) for name, value in headers if name.lower() not in {"authorization", "host"}]
    return Sent(method, url._replace(fragment=""), headers, body, sent.cookies)
