"""Requests and answers of raw ASGI applications: the same under uvicorn and tarmac."""

from __future__ import annotations

import asyncio

import pytest
from support.asgi_records import Cases, Notes, asks, body, noted, read, scope_of, start
from support.raw import RawClient, request

pytestmark = pytest.mark.live

CASES = Cases()
case = CASES.case


@case(asks("GET", "/a%20b/%C3%A4%2Fc/%ff?x=1&y=%20", fields="X-Two: 1\r\nx-two:  2\r\nCookie: a=b\r\n"))
async def scope_of_a_get(scope, receive, send, notes):
    notes.append(scope_of(scope))
    await send(start())
    await send(body(b"x"))


@case(asks("PURGE", "/x", b"abc", fields="Content-Type: a/b\r\n"))
async def scope_of_another_method(scope, receive, send, notes):
    notes.append(scope_of(scope))
    notes.append(await read(receive))
    await send(start())
    await send(body(b"x"))


async def speaks_1_0(client: RawClient, notes: Notes) -> None:
    client.send(b"GET /old HTTP/1.0\r\n\r\n")
    notes.append(noted(await client.reply()))
    notes.append(await client.reader.read())


@case(speaks_1_0)
async def scope_of_http_1_0(scope, receive, send, notes):
    notes.append(scope_of(scope))
    await send(start(headers=[(b"content-length", b"1")]))
    await send(body(b"x"))


@case(asks("POST", "/", b"x" * 300_000))
async def body_with_a_length(scope, receive, send, notes):
    notes.append(len(await read(receive)))
    await send(start())
    await send(body(b"x"))


async def sends_chunks(client: RawClient, notes: Notes) -> None:
    client.send(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
    client.send(b"2;x=y\r\nde\r\n0\r\nX-Check: x\r\n\r\n")
    notes.append(noted(await client.reply()))
    notes.append(await client.is_open())


@case(sends_chunks)
async def body_in_chunks(scope, receive, send, notes):
    notes.append(await read(receive))
    await send(start())
    await send(body(b"x"))


@case(asks("POST", fields="Content-Length: 0\r\n"))
async def body_of_no_bytes(scope, receive, send, notes):
    notes.append(await receive())
    await send(start())
    await send(body(b"x"))


@case(asks("POST", content=b"never read"))
async def body_that_nobody_reads(scope, receive, send, notes):
    await send(start())
    await send(body(b"x"))


@case(asks())
async def get_receives_an_empty_body_and_then_the_end(scope, receive, send, notes):
    notes.append(await receive())
    await send(start())
    await send(body(b"x"))
    notes.append(await receive())
    notes.append(await receive())


@case(asks())
async def length_of_the_application(scope, receive, send, notes):
    await send(
        start(headers=[(b"Content-Length", b"3"), (b"X-A", b"\xe9"), (b"set-cookie", b"a"), (b"set-cookie", b"b")])
    )
    await send(body(b"abc"))


@case(asks())
async def pieces(scope, receive, send, notes):
    await send(start())
    for piece in (b"a", b"", b"b" * 100_000, b"c"):
        await send(body(piece, more=True))
    await send(body())


@case(asks())
async def pieces_of_a_length(scope, receive, send, notes):
    await send(start(headers=[(b"content-length", b"4")]))
    await send(body(b"ab", more=True))
    await send(body(b"cd"))


@case(asks())
async def chunks_of_the_application(scope, receive, send, notes):
    await send(start(headers=[(b"transfer-encoding", b"chunked")]))
    await send(body(b"ab", more=True))
    await send(body(b"cd"))


@case(asks("HEAD"))
async def head(scope, receive, send, notes):
    await send(start(headers=[(b"content-length", b"7")]))
    await send(body(b"content"))


@case(asks())
async def no_content(scope, receive, send, notes):
    await send(start(204, []))
    await send(body())


@case(asks())
async def not_modified(scope, receive, send, notes):
    await send(start(304, [(b"etag", b'"x"')]))
    await send(body())


@case(asks())
async def strange_statuses(scope, receive, send, notes):
    await send(start(418, ()))
    await send({"type": "http.response.body"})


@case(asks())
async def bytes_like_bodies(scope, receive, send, notes):
    await send({"type": "http.response.start", "status": 200, "headers": ((b"content-length", b"4"),)})
    await send(body(bytearray(b"ab"), more=True))
    await send(body(memoryview(b"cd")))


@case(asks())
async def application_that_closes(scope, receive, send, notes):
    await send(start(headers=[(b"connection", b"close"), (b"content-length", b"1")]))
    await send(body(b"x"))


@case(asks())
async def application_that_closes_after_pieces(scope, receive, send, notes):
    await send(start(headers=[(b"connection", b"close"), (b"content-length", b"2")]))
    await send(body(b"x", more=True))
    await send(body(b"y"))


@case(asks(fields="Connection: close\r\n"))
async def client_that_closes(scope, receive, send, notes):
    await send(start())
    await send(body(b"x"))


async def pipelines(client: RawClient, notes: Notes) -> None:
    client.send(b"".join(request("GET", f"/{number}") for number in range(5)))
    notes.extend([noted(await client.reply()) for _ in range(5)])


@case(pipelines)
async def pipeline(scope, receive, send, notes):
    await asyncio.sleep(0.01 * (5 - int(scope["path"][1:])))
    await send(start())
    await send(body(scope["path"].encode()))


@pytest.mark.parametrize("name", CASES)
def test_records_are_equal(name):
    reference, mine = CASES.records(name)
    assert reference == mine
