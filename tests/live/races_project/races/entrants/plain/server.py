"""A plain asyncio server for the lab's own tests: constant text, 404 for everything else.

Options make it misbehave: --spin N burns CPU for each request, --lie-after N answers wrongly
from the Nth request on.
"""

import argparse
import asyncio

PAGES = {b"/ugly": b"UGLY"}


def answer(status: bytes, body: bytes) -> bytes:
    head = b"HTTP/1.1 %b\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n"
    return head % (status, len(body)) + body


class Server(asyncio.Protocol):
    """Answers every whole head in what has arrived, in order, in one write."""

    served = 0

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        *heads, self.rest = (self.rest + data).split(b"\r\n\r\n")
        self.transport.write(b"".join(self.serve(head) for head in heads))

    def serve(self, head: bytes) -> bytes:
        Server.served += 1
        for _ in range(self.options.spin):
            pass
        if 0 < self.options.lie_after < Server.served:
            return answer(b"200 OK", b"LIES")
        body = PAGES.get(head.split(b" ", 2)[1])
        return answer(b"200 OK", body) if body else answer(b"404 Not Found", b"no such page")


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--spin", type=int, default=0)
    parser.add_argument("--lie-after", type=int, default=0)
    options = parser.parse_args()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Server(options), "127.0.0.1", options.port)
    await server.serve_forever()


asyncio.run(main())
