"""Hello world on aiohttp and uvloop: at once at /, after one trip through the loop at /yield."""

import asyncio
import sys

import uvloop
from aiohttp import web


async def hello(request):
    return web.Response(text="Hello world!")


async def hello_after_yield(request):
    await asyncio.sleep(0)
    return web.Response(text="Hello world!")


app = web.Application()
app.router.add_get("/", hello)
app.router.add_get("/yield", hello_after_yield)
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), access_log=None, print=None, loop=uvloop.new_event_loop())
