"""A WebSocket of a test client: messages as a browser sees them (RFC 6455), without compression."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import struct
from typing import TYPE_CHECKING, Any

from tarmac.errors import WebSocketClosed
from tarmac.testing.answers import Answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from tarmac.testing.connection import AsyncConnection

__all__ = ["AsyncWebSocket", "WebSocketRefused", "check_opening", "handshake"]

_MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_TEXT, _BINARY, _CLOSE, _PING, _PONG = 1, 2, 8, 9, 10
_FINAL = 0x80


class WebSocketRefused(ConnectionError):
    """The server answered with something else than a WebSocket: ``answer``."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(f"no WebSocket but {answer.status}: {answer.text}")
        self.answer = answer


def handshake(subprotocols: tuple[str, ...]) -> dict[str, str]:
    """The headers that ask for a WebSocket."""
    headers = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
    }
    if subprotocols:
        headers["Sec-WebSocket-Protocol"] = ", ".join(subprotocols)
    return headers


def check_opening(headers: dict[str, str], answer: Answer) -> None:
    """Raise ``WebSocketRefused`` unless *answer* opens what *headers* asked for."""
    key = headers["Sec-WebSocket-Key"] + _MAGIC
    expected = base64.b64encode(hashlib.sha1(key.encode(), usedforsecurity=False).digest()).decode()
    if answer.status != 101 or answer.headers.get("sec-websocket-accept") != expected:  # noqa: PLR2004 - switching
        raise WebSocketRefused(answer)


class AsyncWebSocket:
    """An open WebSocket; pings are answered by themselves.

    ``answer`` is what opened it. ``receive`` and its kind raise ``tarmac.WebSocketClosed`` when the server has
    closed it, and ``TimeoutError`` when nothing comes in the client's patience.
    """

    def __init__(self, connection: AsyncConnection, answer: Answer, raise_defect: Callable[[], None]) -> None:
        self.connection = connection
        self.answer = answer
        self.close_code: int | None = None
        self.close_reason = ""
        self._came = b""
        self._said_goodbye = False
        self._raise_defect = raise_defect

    @property
    def subprotocol(self) -> str | None:
        """What the server chose to speak."""
        return self.answer.headers.get("sec-websocket-protocol")

    def send(self, message: str | bytes) -> None:
        """Send a message: text for str, binary for bytes."""
        if isinstance(message, str):
            self.send_frame(_TEXT, message.encode())
        else:
            self.send_frame(_BINARY, bytes(message))

    def send_json(self, value: Any) -> None:
        """Send *value* as JSON in a text message."""
        self.send(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))

    def ping(self, data: bytes = b"") -> None:
        """Send a ping."""
        self.send_frame(_PING, data)

    def send_frame(self, opcode: int, payload: bytes = b"", *, final: bool = True) -> None:
        """Send one frame, right or wrong."""
        self.connection.send(_frame(opcode | (_FINAL if final else 0), payload))

    async def receive(self) -> str | bytes:
        """The next message: str for text, bytes for binary."""
        pieces: list[bytes] = []
        kind = _TEXT
        while True:
            first, payload = await self._frame()
            opcode = first & 0x0F
            if opcode == _PING:
                self.send_frame(_PONG, payload)
            elif opcode == _CLOSE:
                self._ended(payload)
            elif opcode != _PONG:
                kind = opcode or kind
                pieces.append(payload)
                if first & _FINAL:
                    message = b"".join(pieces)
                    return message.decode() if kind == _TEXT else message

    async def receive_text(self) -> str:
        """The next message, which must be text."""
        message = await self.receive()
        if not isinstance(message, str):
            error = f"a text message was expected, and {message!r} came"
            raise TypeError(error)
        return message

    async def receive_bytes(self) -> bytes:
        """The next message, which must be binary."""
        message = await self.receive()
        if isinstance(message, str):
            error = f"a binary message was expected, and {message!r} came"
            raise TypeError(error)
        return message

    async def receive_json(self) -> Any:
        """The next message, parsed."""
        return json.loads(await self.receive())

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close it, and wait until the server has done so too; messages that come meanwhile are dropped."""
        if self.close_code is not None or self.connection.closed:
            return
        if not self._said_goodbye:
            self._said_goodbye = True
            self.send_frame(_CLOSE, struct.pack(">H", code) + reason.encode())
        try:
            while True:
                await self.receive()
        except WebSocketClosed:
            pass

    def _ended(self, payload: bytes) -> None:
        self.close_code = struct.unpack(">H", payload[:2])[0] if payload else 1005
        self.close_reason = payload[2:].decode()
        if not self._said_goodbye:
            self._said_goodbye = True
            self.send_frame(_CLOSE, payload)
        self._raise_defect()
        raise WebSocketClosed(self.close_code, self.close_reason)

    async def _frame(self) -> tuple[int, bytes]:
        """The first byte of the next frame, and its payload."""
        first, second = await self._take(2)
        length = second & 0x7F
        if length == 126:  # noqa: PLR2004 - RFC 6455 section 5.2
            (length,) = struct.unpack(">H", await self._take(2))
        elif length == 127:  # noqa: PLR2004 - as above
            (length,) = struct.unpack(">Q", await self._take(8))
        return first, await self._take(length)

    async def _take(self, count: int) -> bytes:
        while len(self._came) < count:
            if self.close_code is not None:
                raise WebSocketClosed(self.close_code, self.close_reason)
            data = await self.connection.receive()
            if not data:
                self.close_code = 1006
                self._raise_defect()
                raise WebSocketClosed(self.close_code)
            self._came += data
        taken, self._came = self._came[:count], self._came[count:]
        return taken


def _frame(first: int, payload: bytes) -> bytes:
    """A frame of a client: its payload is masked."""
    length = len(payload)
    if length < 126:  # noqa: PLR2004 - RFC 6455 section 5.2
        head = bytes([first, 0x80 | length])
    elif length < 1 << 16:
        head = bytes([first, 0xFE]) + struct.pack(">H", length)
    else:
        head = bytes([first, 0xFF]) + struct.pack(">Q", length)
    mask = os.urandom(4)
    pattern = (mask * (length // 4 + 1))[:length]
    masked = int.from_bytes(payload, "big") ^ int.from_bytes(pattern, "big")
    return head + mask + masked.to_bytes(length, "big")
