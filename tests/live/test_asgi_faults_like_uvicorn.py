"""Faults of ASGI applications, clients that leave or read late, events out of order: as under uvicorn.

Where tarmac means to differ, its own record stands in `DIFFERENCES`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging

import pytest
from support.asgi_records import Cases, Notes, asks, attempt, body, noted, read, start, until
from support.raw import RawClient, request

pytestmark = pytest.mark.live

CASES = Cases()
case = CASES.case


@case(asks())
async def body_before_start(scope, receive, send, notes):
    await attempt(notes, send(body(b"x")))
    await send(start())
    await send(body(b"y"))


@case(asks())
async def start_after_start(scope, receive, send, notes):
    await send(start())
    await attempt(notes, send(start()))
    await send(body(b"y"))


@case(asks())
async def body_after_the_end(scope, receive, send, notes):
    await send(start())
    await send(body(b"y"))
    await attempt(notes, send(body(b"z")))
    await attempt(notes, send(start()))


@case(asks(then=""))
async def exception_before_the_start(scope, receive, send, notes):
    raise ValueError("on purpose")


@case(asks(then=""))
async def return_before_the_start(scope, receive, send, notes):
    return


@case(asks())
async def exception_in_the_middle(scope, receive, send, notes):
    await send(start())
    await send(body(b"half", more=True))
    raise ValueError("on purpose")


@case(asks())
async def return_in_the_middle(scope, receive, send, notes):
    await send(start())
    await send(body(b"half", more=True))


@case(asks())
async def exception_after_the_end(scope, receive, send, notes):
    await send(start(headers=[(b"content-length", b"1")]))
    await send(body(b"x"))
    notes.append("still running")


@case(asks())
async def more_than_the_length_in_pieces(scope, receive, send, notes):
    await send(start(headers=[(b"content-length", b"3")]))
    await send(body(b"ab", more=True))
    await attempt(notes, send(body(b"cd", more=True)))
    raise ValueError("on purpose")


@case(asks())
async def less_than_the_length_in_pieces(scope, receive, send, notes):
    await send(start(headers=[(b"content-length", b"3")]))
    await send(body(b"ab", more=True))
    await attempt(notes, send(body()))
    raise ValueError("on purpose")


@case(asks(then=""))
async def line_end_in_a_header(scope, receive, send, notes):
    with contextlib.suppress(RuntimeError):
        await send(start(headers=[(b"a", b"b\r\nc: d")]))
        notes.append("taken")
    raise ValueError("on purpose")


async def leaves(client: RawClient, notes: Notes) -> None:
    client.send(request("GET"))
    await until(lambda: "waiting" in notes)
    client.leave()
    await until(lambda: {"type": "http.disconnect"} in notes)


@case(leaves)
async def client_that_leaves(scope, receive, send, notes):
    notes.append(await receive())
    notes.append("waiting")
    notes.append(await receive())
    notes.append(await receive())


async def leaves_in_its_body(client: RawClient, notes: Notes) -> None:
    client.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
    await until(lambda: "waiting" in notes)
    client.leave()
    await until(lambda: {"type": "http.disconnect"} in notes)


@case(leaves_in_its_body)
async def client_that_leaves_in_its_body(scope, receive, send, notes):
    notes.append(await receive())
    notes.append("waiting")
    notes.append(await receive())


async def expects(client: RawClient, notes: Notes) -> None:
    client.send(request("POST", fields="Expect: 100-continue\r\nContent-Length: 2\r\n"))
    reply = await client.reply()
    notes.append(noted(reply))
    if reply.status == 100:
        client.send(b"hi")
        notes.append(noted(await client.reply()))


@case(expects)
async def continue_when_the_body_is_wanted(scope, receive, send, notes):
    notes.append(await read(receive))
    await send(start())
    await send(body(b"x"))


@case(expects)
async def no_continue_when_it_is_not(scope, receive, send, notes):
    await send(start(403))
    await send(body(b"no"))


@case(asks("POST", content=b"abc"))
async def receive_that_times_out(scope, receive, send, notes):
    notes.append(await read(receive))
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(receive(), 0.01)
        notes.append("received")
    waiting = asyncio.create_task(receive())
    await asyncio.sleep(0)
    await send(start())
    await asyncio.create_task(send(body(b"x")))
    notes.append(await waiting)


@case(asks())
async def two_that_wait_for_the_end(scope, receive, send, notes):
    await receive()
    first, second = asyncio.create_task(receive()), asyncio.create_task(receive())
    await asyncio.sleep(0.01)
    first.cancel()
    await asyncio.wait({first})
    await send(start())
    await send(body(b"x"))
    notes.append((first.cancelled(), await second))


async def reads_late(client: RawClient, notes: Notes) -> None:
    client.send(request("GET"))
    await until(lambda: "blocked" in notes)
    reply = await client.reply()
    notes.append((len(reply.body), reply.cut))


@case(reads_late)
async def slow_reader(scope, receive, send, notes):
    """A reader that does not read stops the writer; nothing is lost."""
    await send(start())
    for _ in range(200):
        sending = asyncio.create_task(send(body(bytes(100_000), more=True)))
        done, _ = await asyncio.wait({sending}, timeout=0.2)
        if not done and "blocked" not in notes:
            notes.append("blocked")
        await sending
    await send(body())


@case(asks())
async def other_headers_types(scope, receive, send, notes):
    await send(start(headers=iter([[b"a", b"1"], (b"B", b"2")])))
    await send(body(b"x"))


@case(asks())
async def state_is_a_copy_for_each_request(scope, receive, send, notes):
    notes.append(dict(scope["state"]))
    scope["state"]["mine"] = 1
    scope["state"]["shared"].append(1)
    await send(start())
    await send(body(b"x"))


# Case -> the record of tarmac, where it is to differ from uvicorn's.
DIFFERENCES: dict[str, Notes] = {
    # Nothing of the answer has been sent when its head turns out to be wrong: 500 can be said.
    "line_end_in_a_header": [
        (500, [("content-type", "text/plain; charset=utf-8")], b"Internal Server Error", False),
    ],
}


@pytest.mark.parametrize("name", CASES)
def test_records_are_equal(name, caplog):
    caplog.set_level(logging.CRITICAL)
    reference, mine = CASES.records(name)
    assert DIFFERENCES.get(name, reference) == mine
    assert (name in DIFFERENCES) == (reference != mine)
