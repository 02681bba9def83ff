"""A raw HTTP connection that sends what it is told and reads answers one by one; no client library is that rude."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import tarmac

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

PATIENCE = 5.0


@dataclass(frozen=True)
class Answer:
    """One response, taken apart."""

    status: int
    fields: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The only value of a header; None where it is absent."""
        found = [value for key, value in self.fields if key.lower() == name.lower()]
        assert len(found) <= 1, f"{name} came {len(found)} times"
        return found[0] if found else None

    def all(self, name: str) -> list[str]:
        """Every value of a header."""
        return [value for key, value in self.fields if key.lower() == name.lower()]


class Wire:
    """One connection to a server under test; an asynchronous context manager."""

    def __init__(self, port: int = 0, *, uds: str | None = None) -> None:
        self._port = port
        self._uds = uds

    async def __aenter__(self) -> Self:
        if self._uds is not None:
            self.reader, self.writer = await asyncio.open_unix_connection(self._uds)
        else:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()

    def send(self, data: bytes | str) -> None:
        """Hand bytes over as they are."""
        self.writer.write(data.encode() if isinstance(data, str) else data)

    def reset(self) -> None:
        """Go without a goodbye: a closed socket might still be read from, a reset one is gone."""
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def get(self, path: str, *, method: str = "GET", headers: str = "", body: bytes = b"") -> Answer:
        """Send one well-formed request and read its answer."""
        self.send(request(path, method=method, headers=headers, body=body))
        return await self.answer(head_only=method == "HEAD")

    async def answer(self, *, head_only: bool = False) -> Answer:
        """Read one answer to its end."""
        async with asyncio.timeout(PATIENCE):
            head = await self.reader.readuntil(b"\r\n\r\n")
            status_line, *lines = head[:-4].decode("latin-1").split("\r\n")
            status = int(status_line.split(" ")[1])
            fields = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
            answer = Answer(status, fields, b"")
            if head_only or status in {204, 304} or status < 200:
                return answer
            if answer.header("Transfer-Encoding") == "chunked":
                return Answer(status, fields, await self._chunks())
            length = answer.header("Content-Length")
            body = await (self.reader.readexactly(int(length)) if length is not None else self.reader.read())
            return Answer(status, fields, body)

    async def _chunks(self) -> bytes:
        body = b""
        while True:
            size = int(await self.reader.readuntil(b"\r\n"), 16)
            piece = await self.reader.readexactly(size + 2)
            assert piece.endswith(b"\r\n")
            body += piece[:-2]
            if size == 0:
                return body

    async def rest(self) -> bytes:
        """Everything until the server closes."""
        async with asyncio.timeout(PATIENCE):
            with contextlib.suppress(ConnectionResetError):
                return await self.reader.read()
            return b""

    async def ended(self) -> bool:
        """Whether the server closes without another byte."""
        return await self.rest() == b""


def request(path: str, *, method: str = "GET", headers: str = "", body: bytes = b"") -> bytes:
    """One well-formed HTTP/1.1 request; *headers* are whole lines."""
    length = f"Content-Length: {len(body)}\r\n" if body or method in {"POST", "PUT", "PATCH"} else ""
    return f"{method} {path} HTTP/1.1\r\nHost: test\r\n{length}{headers}\r\n".encode() + body


@contextlib.asynccontextmanager
async def served(app: tarmac.App, **options: Any) -> AsyncIterator[tarmac.Server]:
    """*app* on a free port of this loop, stopped at the end."""
    server = await tarmac.serve(app, port=0, **options)
    try:
        yield server
    finally:
        await server.stop(drain=1.0)


@contextlib.asynccontextmanager
async def connected(app: tarmac.App, **options: Any) -> AsyncIterator[Wire]:
    """*app* and one connection to it."""
    async with served(app, **options) as server, Wire(server.port) as wire:
        yield wire
