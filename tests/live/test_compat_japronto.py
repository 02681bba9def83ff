"""Japronto's tutorial, program by program, each served with only the import changed."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.http import Answer, Wire
from support.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.process import Process

pytestmark = pytest.mark.live

PROGRAMS = Path(__file__).parent / "japronto"
LISTENING = r"^listening on http://127\.0\.0\.1:(\d+)$"
# The programs say `app.run()`: only the address is another one than they name.
ELSEWHERE = """
import functools, runpy, sys
from tarmac.compat.japronto import Application
Application.run = functools.partialmethod(Application.run, host="127.0.0.1", port=0)
runpy.run_path(sys.argv[1], run_name="__main__")
"""


class Program:
    """A program of the tutorial, running."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.port = int(process.wait_for_line(LISTENING)[1])

    def ask(self, path: str, method: str = "GET", *, headers: str = "", body: bytes = b"") -> Answer:
        """One request on a connection of its own."""

        async def exchange() -> Answer:
            async with Wire(self.port) as wire:
                return await wire.get(path, method=method, headers=headers, body=body)

        return asyncio.run(exchange())

    def told(self, path: str, method: str = "GET", *, headers: str = "", body: bytes = b"") -> dict:
        """The same, for programs that answer in JSON."""
        return json.loads(self.ask(path, method, headers=headers, body=body).body)


@pytest.fixture
def start(run_process: Callable[..., Process]) -> Callable[..., Program]:
    """Give `start(name, **environment)`: the program as a process of its own."""

    def start(name: str, **environment: str) -> Program:
        command = (sys.executable, "-c", ELSEWHERE, PROGRAMS / f"{name}.py")
        return Program(run_process(*command, cwd=PROGRAMS, env=environment))

    return start


def test_1_hello(start):
    program = start("hello")
    answer = program.ask("/")
    assert (200, "text/plain; charset=utf-8", b"Hello world!") == (
        answer.status,
        answer.header("Content-Type"),
        answer.body,
    )
    assert "127.0.0.1 GET /\n" in program.process.output  # debug=True logs requests
    assert (404, b"Not Found") == ((missing := program.ask("/x")).status, missing.body)
    assert program.process.stop() == 0


def test_2_plain_and_asynchronous_handlers_on_one_connection(start):
    program = start("mixed")

    async def both() -> list[bytes]:
        async with Wire(program.port) as wire:
            wire.send(b"GET /async HTTP/1.1\r\nHost: x\r\n\r\nGET /sync HTTP/1.1\r\nHost: x\r\n\r\n")
            return [(await wire.answer()).body for _ in range(2)]

    assert [b"after three steps", b"at once"] == asyncio.run(both())
    assert "step 1\nstep 2\nstep 3\n" in program.process.output


def test_3_the_router(start):
    program = start("router")
    expected = {
        ("GET", "/"): (200, b"GET of the root"),
        ("BREW", "/"): (200, b"BREW of the root"),
        ("GET", "/only"): (200, b"got it"),
        ("POST", "/only"): (404, b"Not Found"),
        ("POST", "/two"): (200, b"POST"),
        ("DELETE", "/two"): (200, b"DELETE"),
        ("GET", "/two"): (404, b"Not Found"),
        ("GET", "/values/1/b%20c"): (200, b"{'p1': '1', 'p2': 'b c'}"),
        ("GET", "/values/1"): (404, b"Not Found"),
    }
    found = {(method, path): ((answer := program.ask(path, method)).status, answer.body) for method, path in expected}
    assert expected == found


def test_4_the_head_of_a_request(start):
    program = start("request")
    told = program.told("/head?a=1&b=%c3%a1&a=2", headers="X-ONE: 1\r\nx-one: 2\r\n")
    assert {
        "method": "GET",
        "path": "/head",
        "version": "1.1",
        "query_string": "a=1&b=á&a=2",
        "query": {"a": "2", "b": "á"},
        "headers": {"Host": "test", "X-One": "1, 2"},
    } == told
    assert (None, {}) == ((told := program.told("/head"))["query_string"], told["query"])


def test_4_the_body_of_a_request(start):
    program = start("request")
    nothing = {"mime_type": None, "encoding": None, "text": None, "form": None, "files": None, "body": "None"}
    assert {**nothing, "json": None} == program.told("/body")

    kind = "Content-Type: text/plain; charset=latin-1\r\n"
    told = program.told("/body", "POST", headers=kind, body="Já".encode("latin-1"))
    text = {"mime_type": "text/plain", "encoding": "latin-1", "text": "Já", "body": "b'J\\xe1'", "json": "no JSON"}
    assert {**nothing, **text} == told

    assert {"a": [1]} == program.told("/body", "POST", body=b'{"a": [1]}')["json"]

    kind = "Content-Type: application/x-www-form-urlencoded\r\n"
    told = program.told("/body", "POST", headers=kind, body=b"a=1&b=x+y%21&c=")
    assert ({"a": "1", "b": "x y!", "c": ""}, None) == (told["form"], told["files"])


def test_4_a_multipart_body(start):
    program = start("request")
    body = (
        b'--edge\r\nContent-Disposition: form-data; name="a"\r\n\r\nJ\xc3\xa1\r\n--ed\r\n'
        b'--edge\r\nContent-Disposition: form-data; name="f"; filename="x.bin"\r\n'
        b"Content-Type: image/png\r\n\r\n\x00\r\n\x01\r\n--edge--\r\n"
    )
    told = program.told("/body", "POST", headers="Content-Type: multipart/form-data; boundary=edge\r\n", body=body)
    assert {"a": "Já\r\n--ed"} == told["form"]
    assert {"f": ["x.bin", "image/png", "b'\\x00\\r\\n\\x01'"]} == told["files"]


def test_4_the_rest_of_a_request(start):
    program = start("request")
    told = program.told("/rest/1/2", headers='Cookie: a=1; b="x y"; city="S\\343o"; d=%20\r\nConnection: close\r\n')
    assert {
        "hostname": "test",
        "port": None,
        "remote_addr": "127.0.0.1",
        "peer": "127.0.0.1",
        "keep_alive": False,
        "match_dict": {"one": "1", "two": "2"},
        "cookies": {"a": "1", "b": "x y", "city": "São", "d": " "},
        "extra": {},
        "route": "/rest/{one}/{two}",
        "app": True,
    } == told


def test_5_the_response(start):
    program = start("response")
    expected = {
        "/text": ("text/plain; charset=utf-8", b"Hello world!"),
        "/encoding": ("text/plain; charset=iso-8859-1", "Já pronto!".encode("latin-1")),
        "/mime": ("image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        "/body": ("application/octet-stream", b"\xde\xad\xbe\xef"),
        "/json": ("application/json; charset=utf-8", b'{"hello": "world"}'),
    }
    found = {path: ((answer := program.ask(path)).header("Content-Type"), answer.body) for path in expected}
    assert expected == found
    for code in (200, 201, 400, 404, 500):
        answer = program.ask(f"/code/{code}")
        assert (code, b"", None) == (answer.status, answer.body, answer.header("Content-Type"))
    answer = program.ask("/headers")
    assert ("Value", "5; url=https://example.org/") == (answer.header("X-Header"), answer.header("Refresh"))
    assert [
        'city="S\\343o Paulo"',
        "hello=world; Domain=localhost; Max-Age=3600; Path=/",
    ] == sorted(program.ask("/cookies").all("Set-Cookie"))


def test_6_exceptions(start):
    program = start("exceptions")
    expected = {
        "/cat": (200, b"Only a kitty: meow"),
        "/dog": (200, b"Only a doggie: woof"),
        "/unhandled": (500, b"Internal Server Error"),
        "/nowhere": (404, b"Lost your way?"),
    }
    assert expected == {path: ((answer := program.ask(path)).status, answer.body) for path in expected}
    assert "ZeroDivisionError" in program.process.output


def test_7_an_extended_request(start):
    program = start("extend")
    asked = program.ask("/", headers="User-Agent: abc\r\n")
    assert b"Hello stranger" == asked.body
    raw = b"GET / HTTP/1.1\r\nHost: api.example\r\nUser-Agent: abc\r\n\r\n"

    async def of_the_api() -> bytes:
        async with Wire(program.port) as wire:
            wire.send(raw)
            return (await wire.answer()).body

    assert b"Hello cba" == asyncio.run(of_the_api())
    assert b"cb" == program.ask("/callback").body
    assert 1 == program.process.output.count("done with /callback")


def test_8_templates(start):
    program = start("template")
    assert ("text/html; charset=utf-8", (PROGRAMS / "index.html").read_bytes()) == (
        (answer := program.ask("/")).header("Content-Type"),
        answer.body,
    )
    assert b"<h1>HTML in a string</h1>" == program.ask("/example").body
    assert b"<h1>Hello World!</h1>" == program.ask("/jinja2").body
    assert b"<h1>Hello &lt;b&gt;!</h1>" == program.ask("/jinja2?name=%3Cb%3E").body


def test_the_todo_api(start, tmp_path):
    program = start("todo_api", TODO_FILE=str(tmp_path / "todo.sqlite"))
    assert {"id": 1, "todo": "buy milk"} == program.told("/todos", "POST", body=b'{"todo": "buy milk"}')
    assert {"results": [{"id": 1, "todo": "buy milk"}]} == program.told("/todos")
    assert {"id": 1, "todo": "buy milk"} == program.told("/todos/1")
    assert (404, b"{}") == ((answer := program.ask("/todos/2")).status, answer.body)
    assert {} == program.told("/todos/1", "DELETE")
    assert 404 == program.ask("/todos/1", "DELETE").status
    assert 500 == program.ask("/todos", "POST", body=b"{").status
    assert 7 == program.process.output.split("\n").count("closed")  # each request's connection, also the failed one's


def test_the_loop_of_the_application_serves(start):
    program = start("prepared")
    assert {"same": True, "process": program.process.pid} == program.told("/")


def test_several_workers(start):
    program = start("prepared", WORKERS="2")
    told = program.told("/")
    assert told["process"] != program.process.pid
    assert 0 == program.process.stop()


def test_a_program_is_reloaded_with_what_it_imports(run_process, free_port, tmp_path):
    greeting = tmp_path / "greeting.py"
    greeting.write_text("WORDS = 'first'\n")
    text = (PROGRAMS / "reloaded.py").read_text()
    assert "reload=True" in text
    (tmp_path / "reloaded.py").write_text(text.replace("reload=True", f"'127.0.0.1', {free_port}, reload=True"))
    program = Program(run_process(sys.executable, tmp_path / "reloaded.py"))
    assert b"first" == program.ask("/").body
    greeting.write_text("WORDS = 'second time'\n")
    wait_for(lambda: program.ask("/").body == b"second time", what="the new words")
    assert 0 == program.process.stop()


def test_an_application_is_served_by_the_command_too(run_process, tmp_path):
    (tmp_path / "shop.py").write_text(
        "from tarmac.compat.japronto import Application\n"
        "app = Application()\n"
        "app.router.add_route('/', lambda request: request.Response(text='by the command'))\n"
    )
    command = (sys.executable, "-m", "tarmac", "run", "shop:app", "--port", "0", "--app-dir", tmp_path)
    program = Program(run_process(*command))
    assert b"by the command" == program.ask("/").body
