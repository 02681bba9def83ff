"""WebSockets of raw ASGI applications: as under uvicorn.

Where tarmac means to differ, its own record stands in `DIFFERENCES`.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from support.asgi_records import Cases, Notes, scope_of, until
from support.raw import RawClient
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

pytestmark = pytest.mark.live

CASES = Cases()
# Sent by every client alike, and of no account.
HANDSHAKE = {"host", "upgrade", "connection", "sec-websocket-key", "sec-websocket-version", "user-agent"}
HANDSHAKE |= {"sec-websocket-extensions", "server", "date", "sec-websocket-accept", "content-length"}


def opened(path: str, port: int, **options: Any) -> connect:
    return connect(f"ws://127.0.0.1:{port}{path}", proxy=None, ping_interval=None, **options)


def talks(*messages: str | bytes, path: str = "/", answers: int | None = None, **options: Any) -> Any:
    """A client that sends messages, reads as many, and waits for the server to close."""

    async def client(client: RawClient, notes: Notes) -> None:
        try:
            async with opened(path, client.port, **options) as socket:
                notes.append(("opened", socket.subprotocol, fields(socket.response.headers.raw_items())))
                for message in messages:
                    await socket.send(message)
                await hears(socket, notes)
        except InvalidStatus as refused:
            answer = refused.response
            notes.append(("refused", answer.status_code, fields(answer.headers.raw_items()), bytes(answer.body or b"")))

    return client


async def hears(socket: ClientConnection, notes: Notes) -> None:
    """Note everything until the end, and the end."""
    try:
        while True:
            notes.append(await asyncio.wait_for(socket.recv(), 5))
    except ConnectionClosed:
        notes.append(("closed", socket.close_code, socket.close_reason))


def fields(items: Any) -> list[tuple[str, str]]:
    return sorted((name.lower(), value) for name, value in items if name.lower() not in HANDSHAKE)


case = CASES.case
ACCEPT = {"type": "websocket.accept"}
CLOSE = {"type": "websocket.close"}


def text(content: str) -> dict[str, str]:
    return {"type": "websocket.send", "text": content}


@case(talks(path="/a%20b?x=1", subprotocols=["one", "two"], additional_headers={"X-A": "b"}))
async def scope(scope, receive, send, notes):
    shown = scope_of(scope)
    shown["headers"] = [pair for pair in shown["headers"] if pair[0].decode() not in HANDSHAKE]
    notes.append((shown, scope["extensions"]))
    notes.append(await receive())
    await send({**ACCEPT, "subprotocol": "two", "headers": [(b"x-answer", b"yes"), (b"set-cookie", b"a=b")]})
    await send(CLOSE)


@case(talks("text", "☃" * 50_000, b"\x00\xff", "", b"", "end"))
async def messages(scope, receive, send, notes):
    await receive()
    await send(ACCEPT)
    while (event := await receive()).get("text") != "end":
        notes.append({**event, "text": len(event["text"])} if event.get("text") else event)
        await send({"type": "websocket.send", **{key: event.get(key) for key in ("text", "bytes")}})
    await send(CLOSE)


@case(talks(["frag", "ment", "ed"], "end"))
async def fragments(scope, receive, send, notes):
    await receive()
    await send(ACCEPT)
    notes.append(await receive())
    notes.append(await receive())
    await send(CLOSE)


@case(talks())
async def close_with_a_code(scope, receive, send, notes):
    await receive()
    await send(ACCEPT)
    await send({**CLOSE, "code": 4001, "reason": "as agreed"})
    notes.append(await receive())
    for late in (text("late"), CLOSE):
        try:
            await send(late)
        except RuntimeError:
            notes.append("refused")


async def closes(client: RawClient, notes: Notes) -> None:
    async with opened("/", client.port) as socket:
        await socket.send("last words")
        await socket.close(4002, "enough")
        notes.append(socket.close_code)
    await until(lambda: "over" in notes)


@case(closes)
async def client_that_closes(scope, receive, send, notes):
    await receive()
    await send(ACCEPT)
    mine = [await receive(), await receive()]
    await asyncio.sleep(0.05)
    try:
        await send(text("too late"))
    except OSError:
        mine.append("the client has gone")
    notes.extend([mine, "over"] if notes else ["over", mine])
    notes.sort(key=str)


async def vanishes(client: RawClient, notes: Notes) -> None:
    socket = await opened("/", client.port)
    await until(lambda: "waiting" in notes)
    socket.transport.abort()
    await until(lambda: "over" in notes)


@case(vanishes)
async def client_that_vanishes(scope, receive, send, notes):
    await receive()
    await send(ACCEPT)
    notes.append("waiting")
    notes.append((await receive())["type"])
    notes.append("over")


@case(talks())
async def refusal(scope, receive, send, notes):
    await receive()
    await send(CLOSE)
    notes.append((await receive())["type"])


@case(talks())
async def denial(scope, receive, send, notes):
    await receive()
    start = {
        "type": "websocket.http.response.start",
        "status": 418,
        "headers": [(b"x-why", b"teapot"), (b"content-type", b"a/b")],
    }
    await send(start)
    await send({"type": "websocket.http.response.body", "body": b"short and ", "more_body": True})
    await send({"type": "websocket.http.response.body", "body": b"stout"})


@case(talks())
async def send_before_accept(scope, receive, send, notes):
    try:
        await send(text("early"))
    except RuntimeError:
        notes.append("refused")
    await send(ACCEPT)
    await send(CLOSE)


@case(talks())
async def accept_before_receive(scope, receive, send, notes):
    await send(ACCEPT)
    notes.append(await receive())
    await send(text("hello"))
    await send(CLOSE)


@case(talks())
async def accept_twice(scope, receive, send, notes):
    await send(ACCEPT)
    try:
        await send(ACCEPT)
    except RuntimeError:
        notes.append("refused")
    await send(CLOSE)


@case(talks())
async def exception_before_accept(scope, receive, send, notes):
    raise ValueError("on purpose")


@case(talks())
async def return_before_accept(scope, receive, send, notes):
    return


@case(talks())
async def exception_while_open(scope, receive, send, notes):
    await send(ACCEPT)
    raise ValueError("on purpose")


@case(talks())
async def return_while_open(scope, receive, send, notes):
    await send(ACCEPT)
    await send(text("last"))


OPENED = ("opened", None, [])
# Case -> the record of tarmac, where it is to differ from uvicorn's.
DIFFERENCES: dict[str, Notes] = {
    # A reason in words.
    "refusal": [
        "websocket.disconnect",
        ("refused", 403, [("content-type", "text/plain; charset=utf-8")], b"Forbidden"),
    ],
    # The client is told why, instead of losing the connection.
    "exception_while_open": [OPENED, ("closed", 1011, "")],
    "return_while_open": [OPENED, "last", ("closed", 1000, "")],
}


@pytest.mark.parametrize("name", CASES)
def test_records_are_equal(name, caplog):
    caplog.set_level(logging.CRITICAL)
    reference, mine = CASES.records(name)
    assert DIFFERENCES.get(name, reference) == mine
    assert (name in DIFFERENCES) == (reference != mine)
