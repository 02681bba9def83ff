"""Hello world on tarmac: sync at /, async without suspension at /async, after one trip through the loop at /yield.

usage: hello_tarmac.py PORT [asyncio|uvloop]
"""

import asyncio
import sys

import tarmac
from loops import argument, run_for_ever
from tarmac import App, Request

app = App()


@app.get("/")
def hello(request: Request) -> str:
    return "Hello world!"


@app.get("/async")
async def hello_async(request: Request) -> str:
    return "Hello world!"


@app.get("/yield")
async def hello_after_yield(request: Request) -> str:
    await asyncio.sleep(0)
    return "Hello world!"


async def start() -> tarmac.Server:
    return await tarmac.serve(app, host="127.0.0.1", port=int(sys.argv[1]))


run_for_ever(start, argument(2, "asyncio"))
