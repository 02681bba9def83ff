"""Clients of every kind for the soak: polite, pipelining, uploading, impatient, broken. Every answer is checked."""

import asyncio
import contextlib
import hashlib
import random
import socket
import struct
from collections import Counter
from collections.abc import Awaitable, Callable

HELLO = b"Hello world!"
PATIENCE = 20.0
GARBAGE = (
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\nHost: x\r\n\r\n",
    b"G\x00T / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"\r\n\x16\x03\x01" * 9,
)


class WrongAnswerError(Exception):
    """The server said something else than it should."""


class Crowd:
    """All clients of one run; `done` counts by kind, `wrong` holds what must not happen."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.done: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.on = True
        self.kinds: dict[str, tuple[int, Callable[[], Awaitable[None]]]] = {
            "keep-alive": (6, self.keep_alive),
            "pipelined": (4, self.pipelined),
            "uploads": (3, self.uploads),
            "chunked uploads": (2, self.chunked_uploads),
            "big answers": (1, self.big_answers),
            "aborts": (4, self.aborts),
            "malformed": (2, self.malformed),
            "websockets": (3, self.websockets),
        }

    async def run(self, seconds: float) -> None:
        """Every kind, again and again, for so long."""
        tasks = [
            asyncio.create_task(self._again(name, kind))
            for name, (count, kind) in self.kinds.items()
            for _ in range(count)
        ]
        await asyncio.sleep(seconds)
        self.on = False
        await asyncio.gather(*tasks)

    async def _again(self, name: str, kind: Callable[[], Awaitable[None]]) -> None:
        while self.on:
            try:
                async with asyncio.timeout(PATIENCE * 2):
                    await kind()
                self.done[name] += 1
            except (OSError, EOFError, TimeoutError, WrongAnswerError) as error:
                self.wrong.append(f"{name}: {type(error).__name__}: {error}")
                await asyncio.sleep(0.1)

    async def keep_alive(self) -> None:
        async with wire(self.port) as (reader, writer):
            for _ in range(random.randint(1, 60)):
                path, wanted = random.choice([(b"/", HELLO), (b"/later", b"later")])
                writer.write(get(path))
                expect(await answer(reader), 200, wanted)
                self.done["requests"] += 1

    async def pipelined(self) -> None:
        async with wire(self.port) as (reader, writer):
            for _ in range(10):
                paths = [random.choice([(b"/", HELLO), (b"/later", b"later")]) for _ in range(24)]
                writer.write(b"".join(get(path) for path, _ in paths))
                for _, wanted in paths:
                    expect(await answer(reader), 200, wanted)
                self.done["requests"] += len(paths)

    async def uploads(self) -> None:
        body = random.randbytes(random.randint(0, 400_000))
        async with wire(self.port) as (reader, writer):
            writer.write(b"POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body))
            writer.write(body)
            expect(await answer(reader), 200, hashlib.sha256(body).hexdigest().encode())
            self.done["requests"] += 1

    async def chunked_uploads(self) -> None:
        pieces = [random.randbytes(random.randint(1, 30_000)) for _ in range(random.randint(1, 12))]
        async with wire(self.port) as (reader, writer):
            writer.write(b"POST /upload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            for piece in pieces:
                writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                await writer.drain()
            writer.write(b"0\r\n\r\n")
            expect(await answer(reader), 200, hashlib.sha256(b"".join(pieces)).hexdigest().encode())
            self.done["requests"] += 1

    async def big_answers(self) -> None:
        async with wire(self.port) as (reader, writer):
            writer.write(get(b"/big"))
            status, body = await answer(reader)
            if (status, len(body)) != (200, 16 * 1024 * 1024):
                raise WrongAnswerError(f"{status} with {len(body)} bytes")
            self.done["requests"] += 1

    async def aborts(self) -> None:
        """Go at the worst moment: in a head, in a body, with answers under way."""
        rude = random.choice(
            [
                b"GET / HTTP/1.1\r\nHo",
                b"POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nonly so much",
                get(b"/later") * random.randint(1, 50),
                get(b"/big"),
            ]
        )
        async with wire(self.port) as (reader, writer):
            writer.write(rude)
            await writer.drain()
            if random.random() < 0.5:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(0.02):
                        await reader.read(1000)
            reset(writer)

    async def malformed(self) -> None:
        async with wire(self.port) as (reader, writer):
            writer.write(get(b"/") + random.choice(GARBAGE))
            expect(await answer(reader), 200, HELLO)
            status, _ = await answer(reader)
            if status not in {400, 505} or await reader.read():
                raise WrongAnswerError(f"garbage was answered with {status}")

    async def websockets(self) -> None:
        async with wire(self.port) as (reader, writer):
            writer.write(
                b"GET /echo HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
            )
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 101 "):
                raise WrongAnswerError(f"an upgrade was answered with {head[:20]!r}")
            for _ in range(random.randint(1, 40)):
                message = random.randbytes(random.randint(0, 3000))
                writer.write(frame(2, message))
                if (echoed := await read_frame(reader)) != (2, message):
                    raise WrongAnswerError(f"an echo of {len(message)} bytes had {len(echoed[1])}")
                self.done["messages"] += 1
            if random.random() < 0.3:
                reset(writer)
                return
            writer.write(frame(8, struct.pack("!H", 1000)))
            if (await read_frame(reader))[0] != 8:
                raise WrongAnswerError("no goodbye")


@contextlib.asynccontextmanager
async def wire(port: int):  # noqa: ANN201 - pairs of streams
    """A connection that is closed at the end."""
    async with asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


def reset(writer: asyncio.StreamWriter) -> None:
    """Go without a goodbye."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def get(path: bytes) -> bytes:
    return b"GET %b HTTP/1.1\r\nHost: x\r\n\r\n" % path


def expect(found: tuple[int, bytes], status: int, body: bytes) -> None:
    if found != (status, body):
        raise WrongAnswerError(f"{found[0]} {found[1][:40]!r} instead of {status} {body[:40]!r}")


async def answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """One answer, by its length or in chunks."""
    async with asyncio.timeout(PATIENCE):
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        status = int(head.split(b" ", 2)[1])
        if b"transfer-encoding: chunked" in head:
            return status, await chunks(reader)
        length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
        return status, await reader.readexactly(int(length or b"0"))


async def chunks(reader: asyncio.StreamReader) -> bytes:
    found = bytearray()
    while size := int(await reader.readuntil(b"\r\n"), 16):
        found += await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readexactly(2)
    return bytes(found)


def frame(kind: int, payload: bytes) -> bytes:
    """A masked frame of a client (RFC 6455 section 5.2)."""
    length = len(payload)
    size = struct.pack("!B", 0x80 | length) if length < 126 else struct.pack("!BH", 0x80 | 126, length)
    mask = random.randbytes(4)
    key = (mask * (length // 4 + 1))[:length]
    masked = (int.from_bytes(payload) ^ int.from_bytes(key)).to_bytes(length) if length else b""
    return bytes([0x80 | kind]) + size + mask + masked


async def read_frame(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    async with asyncio.timeout(PATIENCE):
        kind, length = await reader.readexactly(2)
        if length == 126:
            length = int.from_bytes(await reader.readexactly(2))
        return kind & 15, await reader.readexactly(length)
