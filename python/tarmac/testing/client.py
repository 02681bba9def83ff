"""``Client``: asks an application from plain tests; it drives an event loop of its own."""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections.abc import Coroutine, Iterator
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from tarmac.testing.asynchronous import AsyncClient
from tarmac.testing.faces import Connection, Stream, WebSocket
from tarmac.testing.requests import RequestOptions
from tarmac.waiting import forget

if TYPE_CHECKING:
    from tarmac.testing.answers import Answer
    from tarmac.testing.cookies import Cookies

__all__ = ["Client"]

_T = TypeVar("_T")


class Client:
    """A client of *app* (of tarmac, ASGI or WSGI) for plain tests; ``with`` starts it up and shuts it down.

    Takes the options of ``AsyncClient``. The application lives in a loop that runs only while the client
    waits for something; ``run`` lets it run otherwise. Raises ``RuntimeError`` inside a running loop.
    """

    def __init__(self, app: Any, **options: Any) -> None:
        self._home = _Home()
        self._end = weakref.finalize(self, self._home.close)
        self._inner = AsyncClient(app, **options)

    @property
    def cookies(self) -> Cookies:
        """What the answers have set, and what is sent back."""
        return self._inner.cookies

    def __enter__(self) -> Self:
        self.run(self._inner.start())
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Shut the application down and close the loop. Idempotent."""
        if self._end.alive:
            self.run(self._inner.close())
            self._end()

    def run(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        """Run *coroutine* in the application's loop and give its result."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self._home.run(coroutine)
        coroutine.close()
        message = "a loop is running in this thread already: use tarmac.testing.AsyncClient"
        raise RuntimeError(message)

    def get(self, url: str, **options: Unpack[RequestOptions]) -> Answer:
        """Send GET."""
        return self.request("GET", url, **options)

    def head(self, url: str, **options: Unpack[RequestOptions]) -> Answer:
        """Send HEAD."""
        return self.request("HEAD", url, **options)

    def post(self, url: str, **options: Unpack[RequestOptions]) -> Answer:
        """Send POST."""
        return self.request("POST", url, **options)

    def put(self, url: str, **options: Unpack[RequestOptions]) -> Answer:
        """Send PUT."""
        return self.request("PUT", url, **options)

    def patch(self, url: str, **options: Unpack[RequestOptions]) -> Answer:
        """Send PATCH."""
        return self.request("PATCH", url, **options)

    def delete(self, url: str, **options: Unpack[RequestOptions]) -> Answer:
        """Send DELETE."""
        return self.request("DELETE", url, **options)

    def options(self, url: str, **options: Unpack[RequestOptions]) -> Answer:
        """Send OPTIONS."""
        return self.request("OPTIONS", url, **options)

    def request(self, method: str, url: str, **options: Unpack[RequestOptions]) -> Answer:
        """Send one request, read its answer, and follow redirects."""
        return self.run(self._inner.request(method, url, **options))

    @contextlib.contextmanager
    def stream(self, method: str, url: str, **options: Unpack[RequestOptions]) -> Iterator[Stream]:
        """Send one request and give its answer as soon as its head is there, to be read piece by piece."""
        stack = contextlib.AsyncExitStack()
        inner = self.run(stack.enter_async_context(self._inner.stream(method, url, **options)))
        try:
            yield Stream(self.run, inner)
        finally:
            self.run(stack.aclose())

    @contextlib.contextmanager
    def websocket(
        self, url: str, *, subprotocols: tuple[str, ...] | list[str] = (), **options: Unpack[RequestOptions]
    ) -> Iterator[WebSocket]:
        """Open a WebSocket; it is closed with 1000 at the end of the block.

        Raises ``WebSocketRefused`` where the server answers with something else.
        """
        opened = self._inner.websocket(url, subprotocols=subprotocols, **options)
        inner = self.run(opened.__aenter__())
        try:
            yield WebSocket(self.run, inner)
        except BaseException as error:
            if not self.run(opened.__aexit__(type(error), error, error.__traceback__)):
                raise
        else:
            self.run(opened.__aexit__(None, None, None))

    def raw(self, data: bytes) -> bytes:
        """Send bytes as they are over a connection of their own, and give all that comes until it is closed."""
        return self.run(self._inner.raw(data))

    def connect(self) -> Connection:
        """A connection of the test's own."""
        return Connection(self.run, self.run(self._inner.connect()))


class _Home:
    """The loop in which an application lives."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        self._loop = self._runner.get_loop()
        return self._runner.run(coroutine)

    def close(self) -> None:
        """Close the loop, also where a forgotten client is collected while another loop runs."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            self._runner.close()
            return
        if self._loop is not None:
            self._loop.close()
            forget(self._loop)
