"""The pages on aiohttp and uvloop, over asynctnt. usage: pages_aiohttp.py PORT TARANTOOL_PORT."""

import sys

import pages_asynctnt
import uvloop
from aiohttp import web

DB = web.AppKey("db", object)


def handler(page):
    async def handle(request):
        return web.Response(text=await page(request.app[DB]))

    return handle


async def connect(app):
    app[DB] = await pages_asynctnt.connect(int(sys.argv[2]))


app = web.Application()
app.on_startup.append(connect)
for path, page in pages_asynctnt.PAGES.items():
    app.router.add_get(path, handler(page))
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), access_log=None, print=None, loop=uvloop.new_event_loop())
