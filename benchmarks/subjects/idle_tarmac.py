"""Hello world on tarmac for more connections than its default cap, none of which is closed for being idle.

usage: idle_tarmac.py PORT
"""

import sys

import tarmac
from loops import run_for_ever
from tarmac import App, Limits, Request

app = App()


@app.get("/")
def hello(request: Request) -> str:
    return "Hello world!"


async def start() -> tarmac.Server:
    limits = Limits(connections=100_000, idle_timeout=3600)
    return await tarmac.serve(app, host="127.0.0.1", port=int(sys.argv[1]), limits=limits)


run_for_ever(start, "asyncio")
