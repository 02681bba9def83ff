"""The pages on tarmac and its own connector. usage: pages_tarmac.py PORT TARANTOOL_PORT [asyncio|uvloop]."""

import random
import sys
import time

import tarmac
from loops import argument, run_for_ever
from pages import plain_list, token
from tarmac import App, Request
from tarmac import tarantool as tnt

app = App()


@app.get("/good")
async def good(request: Request) -> str:
    stickers = request.app.state.stickers
    return plain_list(await stickers.select((), index="rating", iterator="LE", limit=9))


@app.get("/three")
async def three(request: Request) -> str:
    stickers = request.app.state.stickers
    best = await stickers.select((), index="rating", iterator="LE", limit=9)
    worst = await stickers.select((), index="rating", iterator="GE", limit=9)
    middle = await stickers.select((0,), index="rating", iterator="GE", limit=9)
    return "\n".join([plain_list(best), plain_list(worst), plain_list(middle)])


@app.get("/index")
async def index(request: Request) -> str:
    """A new visitor's page by nine requests."""
    state = request.app.state
    session, left_token, right_token = token(), token(), token()
    await state.sessions.get(session)
    last = (await state.stickers.select((), iterator="LE", limit=1))[0][0]
    left_id, right_id = random.randint(1, last), random.randint(1, last)
    left = await state.stickers.get(left_id)
    right = await state.stickers.get(right_id)
    await state.sessions.insert((session, 0, time.time()))
    await state.tokens.insert((left_token, session, left_id))
    await state.tokens.insert((right_token, session, right_id))
    await state.counters.update("users", ["+", 1, 1])
    await state.counters.update("clicks", ["+", 1, 1])
    return plain_list([left, right])


@app.get("/procedure")
async def procedure(request: Request) -> str:
    """The same page by one stored procedure."""
    return plain_list(await request.app.state.db.call("bench_index", token(), token(), token(), time.time()))


async def start() -> tarmac.Server:
    db = await tnt.connect(f"tarantool://127.0.0.1:{sys.argv[2]}")
    app.state.db = db
    for name in ("stickers", "sessions", "tokens", "counters"):
        setattr(app.state, name, db.space(name))
    return await tarmac.serve(app, host="127.0.0.1", port=int(sys.argv[1]))


run_for_ever(start, argument(3, "asyncio"))
