"""The pages over asynctnt, for the servers that use it."""

import random
import time
from typing import Any

import asynctnt
from pages import plain_list, token


async def connect(port: int) -> Any:
    return await asynctnt.connect(host="127.0.0.1", port=port)


async def good(db: Any) -> str:
    return plain_list(await db.select("stickers", [], index="rating", iterator="LE", limit=9))


async def three(db: Any) -> str:
    best = await db.select("stickers", [], index="rating", iterator="LE", limit=9)
    worst = await db.select("stickers", [], index="rating", iterator="GE", limit=9)
    middle = await db.select("stickers", [0], index="rating", iterator="GE", limit=9)
    return "\n".join([plain_list(best), plain_list(worst), plain_list(middle)])


async def index(db: Any) -> str:
    """A new visitor's page by nine requests."""
    session, left_token, right_token = token(), token(), token()
    await db.select("sessions", [session])
    last = (await db.select("stickers", [], iterator="LE", limit=1))[0][0]
    left_id, right_id = random.randint(1, last), random.randint(1, last)
    left = (await db.select("stickers", [left_id]))[0]
    right = (await db.select("stickers", [right_id]))[0]
    await db.insert("sessions", [session, 0, time.time()])
    await db.insert("tokens", [left_token, session, left_id])
    await db.insert("tokens", [right_token, session, right_id])
    await db.update("counters", ["users"], [["+", 1, 1]])
    await db.update("counters", ["clicks"], [["+", 1, 1]])
    return plain_list([left, right])


async def procedure(db: Any) -> str:
    """The same page by one stored procedure."""
    answer = await db.call("bench_index", [token(), token(), token(), time.time()])
    return plain_list(answer[0])


PAGES = {"/good": good, "/three": three, "/index": index, "/procedure": procedure}
