"""A raw WebSocket client: frames as they are told, right or wrong; no library is that rude."""

from __future__ import annotations

import asyncio
import contextlib
import struct
from typing import TYPE_CHECKING, Any

from support.http import PATIENCE, Answer, Wire, served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import tarmac

TEXT, BINARY, CLOSE, PING, PONG = 0x81, 0x82, 0x88, 0x89, 0x8A
KEY = "dGhlIHNhbXBsZSBub25jZQ=="
ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
OFFER = "Sec-WebSocket-Extensions: permessage-deflate\r\n"


def opening(path: str = "/", headers: str = "", *, key: str = KEY) -> str:
    """A request that asks for a WebSocket; *headers* are whole lines."""
    return (
        f"GET {path} HTTP/1.1\r\nHost: test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n{headers}\r\n"
    )


def frame(first: int, payload: bytes | str = b"", *, key: bytes = b"\x37\xfa\x21\x3d") -> bytes:
    """One frame of a client: its first byte, and its payload, which is masked here."""
    data = payload.encode() if isinstance(payload, str) else payload
    length = len(data)
    if length < 126:
        head = bytes([first, 0x80 | length])
    elif length < 65536:
        head = bytes([first, 0xFE]) + struct.pack(">H", length)
    else:
        head = bytes([first, 0xFF]) + struct.pack(">Q", length)
    return head + key + bytes(byte ^ key[place % 4] for place, byte in enumerate(data))


def goodbye(code: int = 1000, reason: str = "") -> bytes:
    """A close frame of a client."""
    return frame(CLOSE, struct.pack(">H", code) + reason.encode())


async def opened(wire: Wire, path: str = "/", headers: str = "") -> Answer:
    """Ask for a WebSocket and get it."""
    wire.send(opening(path, headers))
    answer = await wire.answer()
    assert 101 == answer.status, answer
    return answer


async def received(wire: Wire) -> tuple[int, bytes]:
    """The first byte and the payload of the next frame of the server."""
    async with asyncio.timeout(PATIENCE):
        first, second = await wire.reader.readexactly(2)
        assert second < 0x80, "a server does not mask"
        length = second
        if second == 126:
            (length,) = struct.unpack(">H", await wire.reader.readexactly(2))
        elif second == 127:
            (length,) = struct.unpack(">Q", await wire.reader.readexactly(8))
        return first, await wire.reader.readexactly(length)


async def closed(wire: Wire) -> tuple[int, str]:
    """Code and reason of the server's close frame, which has to come next."""
    first, payload = await received(wire)
    assert CLOSE == first, (first, payload)
    code = struct.unpack(">H", payload[:2])[0] if payload else 1005
    return code, payload[2:].decode()


@contextlib.asynccontextmanager
async def socket_to(app: tarmac.App, path: str = "/", headers: str = "", **options: Any) -> AsyncIterator[Wire]:
    """*app* and one open WebSocket to it."""
    async with served(app, **options) as server, Wire(server.port) as wire:
        await opened(wire, path, headers)
        yield wire
