"""TLS by hand over a socket, for clients that no library would be."""

from __future__ import annotations

import asyncio
import ssl
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket


class Talk:
    """One end of a conversation; bytes leave and come only when they are told to."""

    def __init__(self, plain: socket.socket, context: ssl.SSLContext, name: str = "a.example") -> None:
        self.plain = plain
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.object = context.wrap_bio(self.incoming, self.outgoing, server_hostname=name)

    async def send(self, data: bytes) -> None:
        """Send bytes as they are, sealed or not."""
        await asyncio.get_running_loop().sock_sendall(self.plain, data)

    async def flush(self, *, piece: int = 1 << 20) -> None:
        """Send what TLS has sealed, in pieces."""
        data = self.outgoing.read()
        for at in range(0, len(data), piece):
            await self.send(data[at : at + piece])

    async def receive(self) -> bool:
        """Take what has come; False at the end."""
        data = await asyncio.wait_for(asyncio.get_running_loop().sock_recv(self.plain, 1 << 16), 5)
        self.incoming.write(data) if data else self.incoming.write_eof()
        return bool(data)

    async def shake_hands(self, *, piece: int = 1 << 20) -> None:
        """Agree with the server."""
        while True:
            try:
                self.object.do_handshake()
            except ssl.SSLWantReadError:
                await self.flush(piece=piece)
                await self.receive()
            else:
                return await self.flush(piece=piece)

    async def read_all(self) -> bytes:
        """Everything until the end, with or without a good-bye."""
        got = b""
        while True:
            try:
                data = self.object.read(1 << 16)
            except ssl.SSLWantReadError:
                if not await self.receive():
                    return got
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                return got
            else:
                if not data:
                    return got
                got += data
