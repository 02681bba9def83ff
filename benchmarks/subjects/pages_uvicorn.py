"""The pages as a bare ASGI application on uvicorn, over asynctnt. usage: pages_uvicorn.py PORT TARANTOOL_PORT."""

import sys

import pages_asynctnt
import uvicorn

HEAD = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain; charset=utf-8")]}


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        await lifespan(receive, send)
        return
    text = await pages_asynctnt.PAGES[scope["path"]](app.db)
    await send(HEAD)
    await send({"type": "http.response.body", "body": text.encode()})


async def lifespan(receive, send):
    await receive()
    app.db = await pages_asynctnt.connect(int(sys.argv[2]))
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await send({"type": "lifespan.shutdown.complete"})


uvicorn.run(
    app, host="127.0.0.1", port=int(sys.argv[1]), loop="uvloop", http="httptools", access_log=False, log_level="error"
)
