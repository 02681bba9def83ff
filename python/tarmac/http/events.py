"""Server-sent events: ``return tarmac.sse(events())``, for ``EventSource`` in a browser."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterable
from typing import TYPE_CHECKING, Any

from tarmac._native import Response
from tarmac.http.responses import encode_json

if TYPE_CHECKING:
    from tarmac._native import Request, Writer
    from tarmac.http.responses import HeaderItems

    Events = AsyncIterable["ServerSentEvent | str | dict[str, Any] | list[Any]"]

__all__ = ["ServerSentEvent", "sse"]

# What ends a line there; `str.splitlines` knows more, and would break text apart.
_LINE_END = re.compile(r"\r\n|\r|\n")
_PING = b": ping\n\n"


class ServerSentEvent:
    """One event. *data* is text, also of several lines, or what JSON can say.

    *event* is the type that listeners are for (``message`` if there is none), *id* is what the client sends
    back as ``Last-Event-ID`` when it connects again, and *retry* is how many seconds it waits until then.
    Raises ``ValueError`` for line breaks in *event* and *id*, where they would begin another field.
    """

    __slots__ = ("data", "event", "id", "retry")

    def __init__(
        self,
        data: Any = None,
        *,
        event: str | None = None,
        id: str | None = None,  # noqa: A002 - what the standard calls it
        retry: float | None = None,
    ) -> None:
        for name, value in (("event", event), ("id", id)):
            if value is not None and (_LINE_END.search(value) or "\0" in value):
                message = f"the {name} of an event is one line without zero bytes: {value!r}"
                raise ValueError(message)
        if retry is not None and not retry >= 0:
            message = f"retry is a number of seconds, not {retry!r}"
            raise ValueError(message)
        self.data = data
        self.event = event
        self.id = id
        self.retry = retry

    def encode(self) -> bytes:
        """The lines of the event, and the blank one that sends it off."""
        lines = []
        if self.event is not None:
            lines.append(f"event: {self.event}")
        if self.id is not None:
            lines.append(f"id: {self.id}")
        if self.retry is not None:
            lines.append(f"retry: {round(self.retry * 1000)}")
        if self.data is not None:
            text = self.data if isinstance(self.data, str) else encode_json(self.data)
            lines += [f"data: {line}" for line in _LINE_END.split(text)]
        return ("\n".join(lines) + "\n\n").encode()

    def __repr__(self) -> str:
        return f"<ServerSentEvent {self.event or 'message'} {self.data!r}>"


def sse(
    events: Events, *, ping: float | None = 15.0, retry: float | None = None, headers: HeaderItems | None = None
) -> Response:
    """An answer that sends *events* as they come: ``ServerSentEvent``, text, or what JSON can say.

    After *ping* seconds of silence a comment is sent, so that proxies keep the connection (``None``: never).
    *retry* is how many seconds a client waits before it connects again. When the client leaves, *events* is
    closed: in an asynchronous generator the ``finally`` runs.
    """
    if not hasattr(events, "__aiter__"):
        message = f"events come from an asynchronous iterator, not from {type(events).__name__}"
        raise TypeError(message)
    if ping is not None and not ping > 0:
        message = f"ping is a number of seconds above zero, or None for never, not {ping!r}"
        raise ValueError(message)
    response = Response(_Events(events, ping, retry), content_type="text/event-stream", headers=headers)
    response.headers.setdefault("Cache-Control", "no-store")
    # Without this nginx would collect what is to arrive at once.
    response.headers.setdefault("X-Accel-Buffering", "no")
    return response


class _Events:
    """Writes events, and pings where there are none."""

    def __init__(self, events: Events, ping: float | None, retry: float | None) -> None:
        self._events = events
        self._ping = ping
        self._first = None if retry is None else ServerSentEvent(retry=retry)
        self._request: Request | None = None
        self._spoke = asyncio.Event()
        self._writing = False

    def for_request(self, request: Request, _: Response) -> None:
        """Remember who listens."""
        self._request = request

    async def send_to(self, writer: Writer) -> None:
        """Write until the events end or the client leaves."""
        assert self._request is not None  # noqa: S101 - the answer has begun
        if self._first is not None:
            await writer.write(self._first.encode())
        feed = asyncio.create_task(self._feed(writer))
        beside = [asyncio.create_task(_until_gone(self._request))]
        if self._ping is not None:
            beside.append(asyncio.create_task(self._keep_alive(writer, self._ping)))
        tasks = {feed, *beside}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        for task in tasks:
            if not task.cancelled():
                task.result()

    async def _feed(self, writer: Writer) -> None:
        """The events run in one task: a time limit or a task group may span several of them."""
        try:
            async for event in self._events:
                self._writing = True
                await writer.write((event if isinstance(event, ServerSentEvent) else ServerSentEvent(event)).encode())
                self._writing = False
                self._spoke.set()
        finally:
            aclose = getattr(self._events, "aclose", None)
            if aclose is not None:
                await aclose()

    async def _keep_alive(self, writer: Writer, ping: float) -> None:
        while True:
            self._spoke.clear()
            try:
                async with asyncio.timeout(ping):
                    await self._spoke.wait()
            except TimeoutError:
                # An event that waits for room says by itself that we are here.
                if not self._writing:
                    await writer.write(_PING)


async def _until_gone(request: Request) -> None:
    await request.wait_disconnected()
