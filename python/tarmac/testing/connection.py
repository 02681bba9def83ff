"""One connection of a test client: bytes to the server and bytes back, without a socket."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tarmac.testing.answers import Answer, AnswerReader, BrokenAnswer

if TYPE_CHECKING:
    from tarmac.http.serve import Server

__all__ = ["AsyncConnection"]


class AsyncConnection:
    """A connection as rude as a test wants it: ``send`` any bytes, ``receive`` what comes."""

    def __init__(self, server: Server, client: tuple[str, int] | None, timeout: float | None) -> None:
        self._news = asyncio.Event()
        self._native = server.connect(self._news.set, client)
        self._timeout = timeout
        self._kept = b""

    @property
    def closed(self) -> bool:
        """Whether the server has closed it."""
        return self._native.closed

    def send(self, data: bytes) -> None:
        """Hand bytes over as they are."""
        self._native.send(data)

    def end(self) -> None:
        """Send no more; answers can still be read."""
        self._native.end()

    def reset(self) -> None:
        """Go without a goodbye."""
        self._native.reset()

    async def receive(self) -> bytes:
        """What came; waits for something, and gives ``b""`` when the server has closed.

        Raises ``TimeoutError`` when nothing comes in the client's patience.
        """
        kept, self._kept = self._kept, b""
        while not kept:
            self._news.clear()
            kept = self._native.take()
            if kept or self._native.closed:
                break
            await self._wait()
        return kept

    async def rest(self) -> bytes:
        """Everything until the server closes."""
        pieces = []
        while piece := await self.receive():
            pieces.append(piece)
        return b"".join(pieces)

    async def answer(self, *, head_only: bool = False) -> Answer:
        """The next answer, read to its end; ``head_only`` after a HEAD."""
        reader = AnswerReader(head_only=head_only)
        while not reader.done:
            await self.feed(reader)
        assert reader.head is not None  # noqa: S101 - done says so
        reader.head.body = b"".join(reader.take())
        return reader.head

    async def feed(self, reader: AnswerReader) -> None:
        """Give a reader what comes next, and keep what belongs to the next answer."""
        try:
            reader.feed(await self.receive())
        except BrokenAnswer:
            self.reset()
            raise
        if reader.done:
            self._kept, reader.rest = reader.rest, b""

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(self._timeout):
                await self._news.wait()
        except TimeoutError:
            message = f"the application said nothing for {self._timeout:g} s"
            raise TimeoutError(message) from None
