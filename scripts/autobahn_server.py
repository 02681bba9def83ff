"""The echo server that `scripts/autobahn.sh` tests: says its port, then serves until it is ended."""

import asyncio
import signal

import tarmac

app = tarmac.App()


@app.websocket("/")
async def echo(ws: tarmac.WebSocket) -> None:
    async for message in ws:
        await ws.send(message)


async def main() -> None:
    # The largest messages of the suite are 16 MiB.
    limits = tarmac.Limits(ws_message_bytes=32 * 1024 * 1024)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    async with await tarmac.serve(app, port=0, limits=limits) as server:
        print(server.port, flush=True)
        await ended.wait()


asyncio.run(main())
