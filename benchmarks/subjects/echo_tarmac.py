"""A WebSocket echo on tarmac; answers plain requests too, so that it can be seen to be ready.

usage: echo_tarmac.py PORT [asyncio|uvloop]
"""

import sys

import tarmac
from loops import argument, run_for_ever
from tarmac import App, Request, WebSocket

app = App()


@app.get("/ready")
def ready(request: Request) -> str:
    return "ready"


@app.websocket("/")
async def echo(ws: WebSocket) -> None:
    async for message in ws:
        await ws.send(message)


async def start() -> tarmac.Server:
    return await tarmac.serve(app, host="127.0.0.1", port=int(sys.argv[1]))


run_for_ever(start, argument(2, "asyncio"))
