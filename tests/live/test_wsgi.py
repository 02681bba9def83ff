"""WSGI applications, hosted: PEP 3333 as the standard library's validator checks it, and what it leaves open."""

from __future__ import annotations

import asyncio
import contextvars
import io
import sys
import threading
import wsgiref.validate
from functools import partial
from operator import methodcaller
from typing import Any

import pytest
from support.asgi_records import until
from support.http import Wire, served
from support.loops import on_every_loop
from support.raw import RawClient
from tarmac.hosting import Hosted

pytestmark = pytest.mark.live

START = [("Content-Type", "text/plain")]


def hosted(app, *, validate: bool = True, **options: Any) -> Hosted:
    """The application, watched by the validator of the standard library."""
    return Hosted(wsgiref.validate.validator(app) if validate else app, interface="wsgi", **options)


def echo(make):
    """An application whose answer is what *make* makes of the environ, as text."""

    def app(environ, start_response):
        start_response("200 OK", START)
        return [repr(make(environ)).encode()]

    return app


@on_every_loop
async def test_the_environ_is_that_of_pep_3333():
    def plain(environ):
        return {key: value for key, value in environ.items() if isinstance(value, (str, bool, int, tuple))}

    async with (
        served(hosted(echo(plain), root_path="/shop")) as server,
        RawClient(server.port) as client,
    ):
        fields = "X-A: 1\r\nX-A: 2\r\nCookie: a=b\r\nCookie: c=d\r\nContent-Type: a/b\r\nX_A: 3\r\n"
        reply = await client.ask("POST", "/%C3%A4%2Fb;c?x=1&y=%20", b"123", fields=fields)
        environ = eval(reply.body)  # noqa: S307 - our own repr
        expected = {
            "REQUEST_METHOD": "POST",
            "SCRIPT_NAME": "/shop",
            "PATH_INFO": "/Ã¤/b;c",
            "QUERY_STRING": "x=1&y=%20",
            "REQUEST_URI": "/shop/%C3%A4%2Fb;c?x=1&y=%20",
            "CONTENT_TYPE": "a/b",
            "CONTENT_LENGTH": "3",
            "HTTP_X_A": "1,2",
            "HTTP_COOKIE": "a=b; c=d",
            "HTTP_HOST": "test",
            "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": str(server.port),
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.multithread": True,
            "wsgi.multiprocess": True,
            "wsgi.run_once": False,
        }
        assert expected == {key: environ.get(key) for key in expected}
        assert environ["REMOTE_PORT"].isdecimal()


BODY = b"first\nsecond\nthird" * 20_000
READERS = {
    "all": methodcaller("read"),
    "some": lambda body: b"".join(iter(partial(body.read, 1000), b"")),
    "lines": lambda body: b"".join(iter(body.readline, b"")),
    "iterated": b"".join,
    "listed": lambda body: b"".join(body.readlines()),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("body", [b"", b"abc", BODY], ids=["empty", "small", "big"])
def test_the_input_is_read_as_people_read_it(reader, body):
    def count(environ):
        return len(READERS[reader](environ["wsgi.input"]))

    app = hosted(echo(count), validate=False)

    async def ask():
        async with served(app) as server, RawClient(server.port) as client:
            return (await client.ask("POST", "/", body, fields="" if body else "Content-Length: 0\r\n")).body

    assert str(len(body)).encode() == asyncio.run(ask())


@on_every_loop
async def test_a_chunked_body_is_read_to_its_end():
    app = hosted(echo(lambda environ: (environ["wsgi.input_terminated"], environ["wsgi.input"].read())), validate=False)
    async with served(app) as server, RawClient(server.port) as client:
        client.send(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
        assert b"(True, b'abcde')" == (await client.reply()).body


@on_every_loop
async def test_blocks_leave_when_they_are_made():
    gate = threading.Event()

    def app(environ, start_response):
        start_response("200 OK", START)
        yield b"one"
        yield b""
        gate.wait(5)
        yield b"two"

    async with served(hosted(app, validate=False)) as server, RawClient(server.port) as client:
        client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"one" in await client.reader.readuntil(b"one")
        gate.set()
        assert b"two\r\n0\r\n\r\n" in await client.reader.readuntil(b"0\r\n\r\n")


def test_a_whole_answer_has_its_length():
    def several(environ, start_response):
        start_response("200 OK", [*START, ("Content-Length", "6")])
        return [b"abc", b"", b"def"]

    async def lengths():
        found = []
        for app in (echo(lambda environ: "x"), several):
            async with served(hosted(app, validate=False)) as server, Wire(server.port) as wire:
                answer = await wire.get("/")
                found.append((answer.header("Content-Length"), answer.body))
        return found

    assert [("3", b"'x'"), ("6", b"abcdef")] == asyncio.run(lengths())


@on_every_loop
async def test_write_sends_at_once_and_before_the_blocks():
    def app(environ, start_response):
        write = start_response("200 OK", START)
        write(b"written ")
        return [b"and ", b"returned"]

    async with served(hosted(app)) as server, RawClient(server.port) as client:
        assert b"written and returned" == (await client.ask("GET")).body


def failing_before(environ, start_response):
    try:
        raise ValueError("on purpose")  # noqa: TRY301 - as applications do it
    except ValueError:
        start_response("200 OK", START)
        start_response("503 Service Unavailable", START, sys.exc_info())
    return [b"better"]


def failing_after(environ, start_response):
    write = start_response("200 OK", START)
    write(b"half")
    try:
        raise ValueError("on purpose")  # noqa: TRY301 - as applications do it
    except ValueError:
        start_response("503 Service Unavailable", START, sys.exc_info())
    return [b"never"]


def twice(environ, start_response):
    start_response("200 OK", START)
    start_response("201 Created", START)
    return [b"never"]


def silent(environ, start_response):
    return [b"never"]


def raising(environ, start_response):
    raise ValueError("on purpose")


def wrong_status(environ, start_response):
    start_response(200, START)
    return []


def wrong_reason(environ, start_response):
    start_response("20 OK", START)
    return []


def wrong_header(environ, start_response):
    start_response("200 OK", [("X-A", 1)])
    return []


def line_end(environ, start_response):
    start_response("200 OK", [("X-A", "a\r\nb: c")])
    return [b"never"]


def too_long(environ, start_response):
    start_response("200 OK", [("Content-Length", "3")])
    return [b"abcd"]


def too_short_in_blocks(environ, start_response):
    start_response("200 OK", [("Content-Length", "30")])
    return [b"ab", b"cd"]


@pytest.mark.parametrize(
    ("app", "status", "cut"),
    [
        (failing_before, 503, False),
        (failing_after, 200, True),
        (twice, 500, False),
        (silent, 500, False),
        (raising, 500, False),
        (wrong_status, 500, False),
        (wrong_reason, 500, False),
        (wrong_header, 500, False),
        (line_end, 500, False),
        (too_long, 500, False),
        (too_short_in_blocks, 200, True),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_goes_wrong_is_an_error_or_a_broken_answer(app, status, cut):
    async def ask():
        async with served(hosted(app, validate=False)) as server, RawClient(server.port) as client:
            reply = await client.ask("GET")
            return reply.status, reply.cut

    assert (status, cut) == asyncio.run(ask())


class Closing:
    """Blocks that note their end."""

    def __init__(self, blocks, *, closed: threading.Event) -> None:
        self._blocks = blocks
        self._closed = closed

    def __iter__(self) -> Any:
        return iter(self._blocks)

    def close(self):
        assert not self._closed.is_set()
        self._closed.set()


def endless():
    while True:
        yield b"x" * 10_000


def broken():
    yield b"half"
    raise ValueError("on purpose")


@pytest.mark.parametrize("blocks", [list, broken, endless], ids=["whole", "broken", "client that leaves"])
def test_the_blocks_are_closed(blocks):
    closed = threading.Event()

    def app(environ, start_response):
        start_response("200 OK", START)
        return Closing(blocks(), closed=closed)

    async def ask():
        async with served(hosted(app, validate=False)) as server, RawClient(server.port) as client:
            client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            await client.reader.readuntil(b"\r\n\r\n")
            client.leave()
            await until(closed.is_set)

    asyncio.run(ask())


@on_every_loop
async def test_a_client_that_leaves_in_its_body_is_an_os_error_for_the_reader():
    errors = []

    def app(environ, start_response):
        try:
            environ["wsgi.input"].read()
        except OSError as error:
            errors.append(error)
            raise

    async with served(hosted(app, validate=False)) as server, RawClient(server.port) as client:
        client.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nabc")
        await until(lambda: server.requests_in_flight == 1)
        client.leave()
        await until(lambda: errors)


@on_every_loop
async def test_a_slow_reader_stops_the_thread_and_loses_nothing():
    made = []

    def app(environ, start_response):
        start_response("200 OK", START)
        for _ in range(300):
            made.append(True)
            yield bytes(100_000)

    async with served(hosted(app, validate=False)) as server, RawClient(server.port) as client:
        client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        seen = -1
        while seen != len(made):  # it stands still: the client has read nothing
            seen = len(made)
            await asyncio.sleep(0.3)
        assert 0 < seen < 300
        assert 30_000_000 == len((await client.reply()).body)


@on_every_loop
async def test_an_open_file_is_sent_in_blocks():
    closed = []

    class File(io.BytesIO):
        def close(self):
            closed.append(True)
            super().close()

    def app(environ, start_response):
        start_response("200 OK", START)
        return environ["wsgi.file_wrapper"](File(bytes(200_000)))

    async with served(hosted(app, validate=False)) as server, RawClient(server.port) as client:
        assert bytes(200_000) == (await client.ask("GET")).body
        await until(lambda: closed)


@on_every_loop
async def test_head_has_the_length_of_the_application_and_no_body():
    def app(environ, start_response):
        start_response("200 OK", [*START, ("Content-Length", "7")])
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [b"content"]

    async with served(hosted(app)) as server, Wire(server.port) as wire:
        answer = await wire.get("/", method="HEAD")
        assert (200, "7") == (answer.status, answer.header("Content-Length"))
        assert b"content" == (await wire.get("/")).body


@on_every_loop
async def test_so_many_requests_run_at_once_as_there_are_threads():
    both = threading.Barrier(2, timeout=5)
    variable = contextvars.ContextVar("variable", default="untouched")

    def meet(environ):
        seen = variable.get()
        variable.set("touched")
        both.wait()
        return seen

    async with served(hosted(echo(meet), threads=2)) as server:
        clients = [RawClient(server.port) for _ in range(4)]
        replies = await asyncio.gather(*[ask_once(client) for client in clients])
        assert [b"'untouched'"] * 4 == [reply.body for reply in replies]


async def ask_once(client: RawClient):
    async with client:
        return await client.ask("GET")


@on_every_loop
async def test_a_thread_that_reads_for_ever_does_not_keep_the_server():
    ended = threading.Event()

    def app(environ, start_response):
        try:
            environ["wsgi.input"].read()
        finally:
            ended.set()

    async with served(hosted(app, validate=False)) as server, RawClient(server.port) as client:
        client.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nabc")
        await until(lambda: server.requests_in_flight == 1)
        await server.stop(drain=0.05)
        await until(ended.is_set)
