"""The test client asks an application as a real client would, without a socket."""

from __future__ import annotations

import asyncio
import gc
import io
import re
import socket

import pytest
import tarmac
from support.loops import on_every_loop, until
from tarmac import App, Limits
from tarmac.testing import AsyncClient, Client


def echoing() -> App:
    app = App()

    @app.route("/echo/{rest:path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
    def echo(request, rest):
        return {
            "method": request.method,
            "path": request.path,
            "query": request.query_pairs,
            "headers": request.headers.multi_items(),
            "cookies": request.cookies,
            "body": request.content.decode("latin-1"),
            "client": request.client,
            "host": request.host,
        }

    return app


@pytest.fixture
def client():
    with Client(echoing()) as client:
        yield client


def headers_of(answer) -> dict[str, str]:
    return dict(answer.json()["headers"])


@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete"])
def test_every_method(client, method):
    assert method.upper() == getattr(client, method)("/echo/x").json()["method"]


def test_head_and_options(client):
    answer = client.head("/echo/x")
    assert (200, b"") == (answer.status, answer.body)
    assert int(answer.headers["content-length"]) > 100
    assert "GET" in client.options("/echo/x").headers["Allow"]


def test_no_socket_is_opened(monkeypatch):
    with Client(echoing()) as client:
        client.run(asyncio.sleep(0))  # the loop has its own pair of sockets

        def refuse(*_: object) -> None:
            raise AssertionError

        monkeypatch.setattr(socket, "socket", refuse)
        assert 200 == client.get("/echo/x").status


def test_queries_headers_and_cookies_are_sent(client):
    said = client.get("/echo/a b/ä?x=1", params={"y": ["2", "ü"]}, headers={"X-A": "1"}, cookies={"c": "3"}).json()
    assert ("/echo/a b/ä", [["x", "1"], ["y", "2"], ["y", "ü"]], {"c": "3"}) == (
        said["path"],
        said["query"],
        said["cookies"],
    )
    assert ("1", "testserver") == (dict(said["headers"])["x-a"], said["host"])
    assert ["127.0.0.1", 50000] == said["client"]
    with Client(echoing(), headers={"X-A": "always", "X-B": "too"}, client=("10.0.0.9", 1)) as other:
        answer = other.get("/echo/", headers=[("x-a", "now")])
        assert ("now", "too") == (headers_of(answer)["x-a"], headers_of(answer)["x-b"])
        assert ["10.0.0.9", 1] == answer.json()["client"]


BODIES = [
    ({"data": b"\x00\xff"}, None, "\x00\xff"),
    ({"data": "ä"}, "text/plain; charset=utf-8", "Ã¤"),
    ({"data": {"a": "1 2", "b": ["x", "y"]}}, "application/x-www-form-urlencoded", "a=1+2&b=x&b=y"),
    ({"data": [("a", "1"), ("a", "2")]}, "application/x-www-form-urlencoded", "a=1&a=2"),
    ({"json": {"a": [1, "é"]}}, "application/json", '{"a":[1,"Ã©"]}'),
    ({"json": None}, "application/json", "null"),
    ({"data": b"x", "headers": {"Content-Type": "a/b"}}, "a/b", "x"),
    ({"data": iter([b"one", b"", b"two"])}, None, "onetwo"),
    ({}, None, ""),
]


@pytest.mark.parametrize(("options", "content_type", "body"), BODIES)
def test_bodies(client, options, content_type, body):
    answer = client.post("/echo/", **options)
    assert (content_type, body) == (headers_of(answer).get("content-type"), answer.json()["body"])


def test_files_make_a_form_in_parts(client):
    opened = io.BytesIO(b"opened")
    files = {"one": b"1", "two": ('a"b.txt', "two", "text/plain"), "three": ("c.bin", opened)}
    answer = client.post("/echo/", data={"name": "Ann", "many": [1, 2]}, files=files)
    boundary = re.fullmatch(r"multipart/form-data; boundary=(.+)", headers_of(answer)["content-type"])[1]
    first, *parts, last = answer.json()["body"].split(f"--{boundary}")
    assert ("", "--\r\n") == (first, last)
    kind = "\r\nContent-Type: "
    binary = f"{kind}application/octet-stream"
    assert [
        ('"name"', "Ann"),
        ('"many"', "1"),
        ('"many"', "2"),
        (f'"one"; filename="one"{binary}', "1"),
        (f'"two"; filename="a%22b.txt"{kind}text/plain', "two"),
        (f'"three"; filename="c.bin"{binary}', "opened"),
    ] == [
        tuple(part.removeprefix("\r\nContent-Disposition: form-data; name=").removesuffix("\r\n").split("\r\n\r\n"))
        for part in parts
    ]


def test_a_request_has_one_body(client):
    with pytest.raises(TypeError, match="one body"):
        client.post("/echo/", json={}, data=b"x")


def failing() -> App:
    app = App()

    @app.get("/defect")
    async def defect(request):
        message = "on purpose"
        raise ValueError(message)

    @app.get("/expected")
    async def expected(request):
        raise tarmac.Forbidden("no")

    @app.get("/handled")
    def handled(request):
        raise KeyError

    @app.error(KeyError)
    def answer(request, error):
        return "handled", 500

    app.get("/")(lambda request: "fine")
    return app


def test_a_defect_is_raised_where_it_was_met(caplog):
    with Client(failing()) as client:
        with pytest.raises(ValueError, match="on purpose"):
            client.get("/defect")
        assert b"fine" == client.get("/").body
        assert (403, "no") == ((answer := client.get("/expected")).status, answer.text)
        assert (500, "handled") == ((answer := client.get("/handled")).status, answer.text)
    with Client(failing(), raise_server_exceptions=False) as client:
        assert (500, "Internal Server Error") == ((answer := client.get("/defect")).status, answer.text)


def test_the_application_lives_as_long_as_the_client():
    app, seen = App(), []
    app.on_startup(lambda: seen.append("up"))
    app.on_shutdown(lambda: seen.append("down"))
    app.get("/")(lambda request: ",".join(seen))
    with Client(app) as client:
        assert "up" == client.get("/").text == client.get("/").text
    assert ["up", "down"] == seen
    client.close()
    late = Client(app)
    assert "up,down,up" == late.get("/").text
    late.close()
    assert ["up", "down", "up", "down"] == seen


def test_a_client_that_is_forgotten_leaves_nothing_open():
    client = Client(echoing())
    assert 200 == client.get("/echo/").status
    del client
    gc.collect()  # a loop left open would be a ResourceWarning, which is an error here


def test_a_forgotten_client_may_be_collected_while_another_loop_runs():
    async def its_loop() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    clients = [Client(echoing()), Client(echoing())]
    assert 200 == clients[0].get("/echo/").status
    loop = clients[0].run(its_loop())

    async def main() -> None:
        clients.clear()
        gc.collect()

    asyncio.run(main())
    assert loop.is_closed()


def test_a_start_that_fails_says_so():
    app = App()

    @app.on_startup
    def fail():
        message = "no database"
        raise OSError(message)

    with pytest.raises(OSError, match="no database"), Client(app):
        pass


def test_pipelined_and_bad_bytes():
    with Client(echoing()) as client:
        request = b"GET /echo/%d HTTP/1.1\r\nHost: x\r\n\r\n"
        answers = client.raw(b"".join(request % number for number in range(3)))
        assert [b"/echo/0", b"/echo/1", b"/echo/2"] == re.findall(rb'"path":"([^"]+)"', answers)
        assert client.raw(b"GET / HTTP/1.1\nHost: x\n\n").startswith(b"HTTP/1.1 400 ")
        assert b"" == client.raw(b"")


def test_a_connection_of_its_own():
    with Client(echoing()) as client:
        connection = client.connect()
        connection.send(b"HEAD /echo/1 HTTP/1.1\r\nHost: x\r\n\r\nGET /echo/2 HTTP/1.1\r\nHost: x\r\n\r\nGET /ec")
        assert b"" == connection.answer(head_only=True).body
        assert "/echo/2" == connection.answer().json()["path"]
        connection.send(b"ho/3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert b"/echo/3" in connection.receive()
        assert b"" == connection.rest()
        assert connection.closed
        other = client.connect()
        other.send(b"GET /echo/1 HT")
        other.end()
        assert (b"", True) == (other.rest(), other.closed)


def test_patience_has_an_end():
    app = App()

    @app.get("/")
    async def silent(request):
        await asyncio.Event().wait()

    with Client(app, timeout=0.02) as client, pytest.raises(TimeoutError, match=r"nothing for 0\.02 s"):
        client.get("/")


def test_limits_hold():
    with Client(echoing(), limits=Limits(body_bytes=10)) as client:
        assert 413 == client.post("/echo/", data=b"x" * 11).status
        assert 200 == client.post("/echo/", data=b"x" * 10).status


def test_what_the_tests_own_iterator_raises_is_raised():
    def pieces():
        yield b"one"
        message = "no more"
        raise ValueError(message)

    with Client(echoing()) as client, pytest.raises(ValueError, match="no more"):
        client.post("/echo/", data=pieces())


def test_a_large_answer_and_a_large_body():
    app = App()
    app.post("/")(lambda request: request.content)
    body = bytes(range(256)) * 10_000
    with Client(app) as client:
        assert body == client.post("/", data=body).body
        with client.stream("POST", "/", data=body) as stream:
            assert str(len(body)) == stream.answer.headers["content-length"]
            pieces = list(stream)
        assert len(pieces) > 1 and body == b"".join(pieces)
        with client.stream("POST", "/", data=body) as stream:
            next(iter(stream))
        assert body == client.post("/", data=body).body, "a stream left early does not hurt the next request"


def test_inside_a_running_loop_the_other_client_is_wanted():
    async def main() -> None:
        with pytest.raises(RuntimeError, match="AsyncClient"):
            Client(echoing()).get("/")

    asyncio.run(main())


@on_every_loop
async def test_the_asynchronous_client_asks_at_the_same_time():
    app = App()
    waiting, go = [], asyncio.Event()

    @app.get("/{number:int}")
    async def meet(request, number):
        waiting.append(number)
        await go.wait()
        return str(number)

    async with AsyncClient(app) as client:
        asking = [asyncio.ensure_future(client.get(f"/{number}")) for number in range(5)]
        await until(lambda: len(waiting) == 5)
        go.set()
        assert ["0", "1", "2", "3", "4"] == [(await one).text for one in asking]
        async with client.stream("GET", "/7") as stream:
            assert b"7" == await stream.read()
        for method in ("post", "put", "patch", "delete"):
            assert 405 == (await getattr(client, method)("/1")).status
        assert 200 == (await client.head("/1")).status
        assert 204 == (await client.options("/1")).status
        assert (await client.raw(b"GET /9 HT")) == b""


@on_every_loop
async def test_a_body_may_come_from_an_asynchronous_iterator():
    async def pieces():
        yield b"one"
        await asyncio.sleep(0)
        yield b"two"

    async with AsyncClient(echoing()) as client:
        assert "onetwo" == (await client.post("/echo/", data=pieces())).json()["body"]
