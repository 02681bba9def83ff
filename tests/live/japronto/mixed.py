"""Tutorial 2: a plain handler beside one that waits and prints while it does."""

import asyncio

from tarmac.compat.japronto import Application


def at_once(request):
    return request.Response(text="at once")


async def in_steps(request):
    for step in (1, 2, 3):
        await asyncio.sleep(0.01)
        print("step", step)
    return request.Response(text="after three steps")


app = Application()
router = app.router
router.add_route("/sync", at_once)
router.add_route("/async", in_steps)
app.run()
