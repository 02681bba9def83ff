"""A client that reads what a server of another make sends: any framing, and how the connection ended."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from dataclasses import dataclass, field
from typing import Self

PATIENCE = 5.0


@dataclass
class Reply:
    """One response, with its body freed of chunks; `cut` when the connection broke inside it."""

    status: int
    fields: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    cut: bool = False

    def all(self, name: str) -> list[str]:
        """Every value of a header."""
        return [value for key, value in self.fields if key == name]


class RawClient:
    """One connection; an asynchronous context manager."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def __aenter__(self) -> Self:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.leave()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()

    def send(self, data: bytes) -> None:
        """Hand bytes over as they are."""
        self.writer.write(data)

    def leave(self) -> None:
        """Reset the connection."""
        if not self.writer.transport.is_closing():
            linger = struct.pack("ii", 1, 0)
            self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.writer.transport.abort()

    async def ask(self, method: str, path: str = "/", body: bytes = b"", *, fields: str = "") -> Reply:
        """Send a request and read its response."""
        self.send(request(method, path, body, fields=fields))
        return await self.reply(head_only=method == "HEAD")

    async def reply(self, *, head_only: bool = False) -> Reply:
        """Read one response; interim ones are responses too."""
        async with asyncio.timeout(PATIENCE):
            try:
                head = await self.reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                return Reply(0, cut=True)
            status_line, *lines = head[:-4].decode("latin-1").split("\r\n")
            pairs = [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
            reply = Reply(int(status_line.split(" ")[1]), pairs)
            if not (head_only or reply.status in {204, 304} or reply.status < 200):
                await self._body(reply)
            return reply

    async def _body(self, reply: Reply) -> None:
        try:
            if reply.all("transfer-encoding") == ["chunked"]:
                while size := int(await self.reader.readline() or b"x", 16):
                    reply.body += (await self.reader.readexactly(size + 2))[:-2]
                await self.reader.readexactly(2)
            elif reply.all("content-length"):
                reply.body = await self.reader.readexactly(int(reply.all("content-length")[0]))
            else:
                reply.body = await self.reader.read()
        except asyncio.IncompleteReadError as error:
            reply.body += error.partial
            reply.cut = True
        except ValueError:
            reply.cut = True  # the line with a chunk's size did not come

    async def is_open(self) -> bool:
        """Whether the server still answers on this connection."""
        try:
            return (await self.ask("GET", "/open")).status == 200
        except OSError:
            return False


def request(method: str, path: str = "/", body: bytes = b"", *, fields: str = "") -> bytes:
    """One request; *fields* are whole lines."""
    length = f"Content-Length: {len(body)}\r\n" if body else ""
    return f"{method} {path} HTTP/1.1\r\nHost: test\r\n{length}{fields}\r\n".encode() + body
