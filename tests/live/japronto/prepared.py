"""Something made on the application's loop before it serves, and used by its handlers."""

import asyncio
import os

from tarmac.compat.japronto import Application


async def prepare():
    await asyncio.sleep(0)
    return asyncio.get_running_loop(), asyncio.Event()


async def handler(request):
    same = asyncio.get_running_loop() is loop
    asyncio.get_running_loop().call_soon(event.set)
    await event.wait()
    return request.Response(json={"same": same, "process": os.getpid()})


app = Application(reaper_settings={"idle_timeout": 60})
workers = int(os.environ.get("WORKERS", "1"))
loop, event = app.loop.run_until_complete(prepare()) if workers == 1 else (None, asyncio.Event())
app.router.add_route("/", handler)
app.run(worker_num=workers)
