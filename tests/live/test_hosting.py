"""Six applications of five frameworks, unchanged, under `tarmac run`: one behaviour for all of them."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import signal
import socket
import sys
import urllib.parse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.process import Process
from support.waiting import wait_for
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.live

FOLDER = Path(__file__).parent / "hosted"
# What an application can do beside what all can.
APPLICATIONS = {
    "starlette_app:app": {"lifespan", "websocket", "background", "disconnect", "pieces"},
    "fastapi_app:app": {"lifespan", "websocket", "background", "disconnect", "pieces"},
    "litestar_app:app": {"lifespan", "websocket", "background", "disconnect", "pieces"},
    "django_app:asgi": {"disconnect"},
    "django_app:wsgi": set(),
    "flask_app:app": {"background", "pieces"},
}
BIG = bytes(range(256)) * 12_000


@dataclass(frozen=True)
class Hosted:
    """An application that is being served."""

    target: str
    process: Process
    port: int

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        """One request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        with contextlib.closing(connection):
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())

    def log(self) -> list[str]:
        """What the application noted so far."""
        noted = self.ask("GET", "/log").json()
        assert isinstance(noted, list)
        return noted

    def noted(self, what: str) -> None:
        """Wait until it has noted something."""
        wait_for(lambda: what in self.log(), what=f"{what!r} in the log of {self.target}")


@dataclass(frozen=True)
class Answer:
    """A whole response."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self) -> Any:
        """The body, read as JSON."""
        return json.loads(self.body)


def able(ability: str) -> pytest.MarkDecorator:
    """Run a test with the applications of the frameworks that have an ability."""
    able = [target for target, abilities in APPLICATIONS.items() if ability in abilities]
    return pytest.mark.parametrize("hosted", able, indirect=True, scope="module")


@pytest.fixture(scope="module", params=APPLICATIONS)
def hosted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosted]:
    """Give each application, served in a process of its own."""
    target = request.param
    command = [sys.executable, "-m", "tarmac", "run", target, "--app-dir", FOLDER, "--port", "0"]
    with Process(command, log=tmp_path_factory.mktemp("hosted") / "log") as process:
        port = int(process.wait_for_line(r"listening on http://127.0.0.1:(\d+)", timeout=20)[1])
        yield Hosted(target, process, port)


def test_hello(hosted):
    answer = hosted.ask("GET", "/hello")
    assert (200, b"Hello world!") == (answer.status, answer.body)
    assert "text/plain; charset=utf-8" == answer.headers["Content-Type"]
    assert ["12"] == answer.headers.get_all("Content-Length")
    assert ["tarmac"] == answer.headers.get_all("Server")
    assert 1 == len(answer.headers.get_all("Date"))


def test_head_has_the_fields_of_get_and_no_body(hosted):
    answer = hosted.ask("HEAD", "/hello")
    assert (200, b"", "12") == (answer.status, answer.body, answer.headers["Content-Length"])


def test_path_parameters_are_decoded(hosted):
    path = "/items/7/" + urllib.parse.quote("é and ☃")
    assert {"number": 7, "name": "é and ☃"} == hosted.ask("GET", path).json()


def test_every_value_of_a_query_arrives(hosted):
    assert {"a": ["1", "2"], "b": ["ü +"]} == hosted.ask("GET", "/query?a=1&a=2&b=%C3%BC+%2B").json()


def test_json_comes_and_goes(hosted):
    sent = {"a": [1, None, True, 1.5], "b": {"c": "☃"}}
    answer = hosted.ask("POST", "/json", json.dumps(sent).encode(), Content_Type="application/json")
    assert {"got": sent} == answer.json()


def test_a_form_is_read(hosted):
    body = urllib.parse.urlencode({"name": "Ann", "city": "Zürich"}).encode()
    answer = hosted.ask("POST", "/form", body, Content_Type="application/x-www-form-urlencoded")
    assert {"name": "Ann", "city": "Zürich"} == answer.json()


def test_cookies_come_and_each_is_set_by_a_field_of_its_own(hosted):
    answer = hosted.ask("GET", "/cookies", Cookie="a=1; b=2")
    assert {"a": "1", "b": "2"} == answer.json()
    assert ["one=1", "two=2"] == sorted(line.split(";")[0] for line in answer.headers.get_all("Set-Cookie"))


def test_a_field_that_comes_twice_keeps_both_values(hosted):
    wire = b"GET /headers HTTP/1.1\r\nHost: x\r\nX-Multi: 1\r\nX-Multi: 2\r\nConnection: close\r\n\r\n"
    assert b'"1,2"' == raw(hosted, wire).partition(b"\r\n\r\n")[2].strip()


def test_redirect(hosted):
    answer = hosted.ask("GET", "/redirect")
    assert (302, "/hello") == (answer.status, answer.headers["Location"])


def test_a_path_that_leads_nowhere_is_404(hosted):
    assert 404 == hosted.ask("GET", "/nowhere").status


def test_an_exception_is_500_and_the_next_request_is_answered(hosted):
    assert 500 == hosted.ask("GET", "/error").status
    assert 200 == hosted.ask("GET", "/hello").status


def test_a_big_body_arrives_whole(hosted):
    answer = hosted.ask("POST", "/upload", BIG)
    assert {"length": len(BIG), "sha256": hashlib.sha256(BIG).hexdigest()} == answer.json()


def test_a_big_body_can_be_read_piece_by_piece(hosted):
    told = hosted.ask("POST", "/upload-pieces", BIG).json()
    assert (len(BIG), hashlib.sha256(BIG).hexdigest()) == (told["length"], told["sha256"])
    assert told["pieces"] > 1


@able("pieces")
def test_the_application_reads_pieces_before_the_body_is_complete(hosted):
    """A chunked body whose first half is there: the handler has it before the second is sent."""
    with socket.create_connection(("127.0.0.1", hosted.port), timeout=10) as wire:
        wire.sendall(
            b"POST /upload-pieces HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"
        )
        assert wire.recv(100).startswith(b"HTTP/1.1 100 ")
        wire.sendall(b"3\r\nabc\r\n")
        wire.sendall(b"3\r\ndef\r\n0\r\n\r\n")
        assert b'"length":6' in read_answer(wire).replace(b" ", b"")


def test_an_answer_is_sent_while_it_is_made(hosted):
    """The second line is made only after the first one has been read here."""
    connection = http.client.HTTPConnection("127.0.0.1", hosted.port, timeout=10)
    with contextlib.closing(connection):
        connection.request("GET", "/stream")
        response = connection.getresponse()
        assert "chunked" == response.headers["Transfer-Encoding"]
        assert b"one\n" == response.read1(100)
        hosted.ask("GET", "/release")
        assert b"two\n" == response.read()


@able("lifespan")
def test_start_up_ran_before_the_first_request(hosted):
    assert "start-up ran" == hosted.log()[0]


@able("background")
def test_background_tasks_run(hosted):
    assert 200 == hosted.ask("GET", "/background").status
    hosted.noted("background task ran")


@able("disconnect")
def test_a_handler_sees_that_its_client_has_gone(hosted):
    with socket.create_connection(("127.0.0.1", hosted.port), timeout=10) as wire:
        wire.sendall(b"GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
        hosted.noted("waiting")
        assert "disconnect seen" not in hosted.log()
    hosted.noted("disconnect seen")


def test_pipelined_requests_are_answered_in_order(hosted):
    asked = [b"GET /items/%d/x HTTP/1.1\r\nHost: x\r\n\r\n" % number for number in range(20)]
    last = b"GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    got = raw(hosted, b"".join(asked) + last)
    numbers = [json.loads(part[: part.index(b"}") + 1])["number"] for part in got.split(b"\r\n\r\n")[1:-1]]
    assert list(range(20)) == numbers
    assert got.endswith(b"Hello world!")


def test_a_connection_serves_many_requests(hosted):
    connection = http.client.HTTPConnection("127.0.0.1", hosted.port, timeout=10)
    with contextlib.closing(connection):
        connection.connect()
        first = connection.sock
        for _ in range(5):
            connection.request("POST", "/upload", b"x" * 1000)
            assert 1000 == json.loads(connection.getresponse().read())["length"]
        assert connection.sock is first


@able("websocket")
def test_websocket(hosted):
    with connect(f"ws://127.0.0.1:{hosted.port}/talk", subprotocols=["chat"], proxy=None) as socket:  # type: ignore[list-item]
        assert "chat" == socket.subprotocol
        for text in ("hello", "☃" * 1000):
            socket.send(text)
            assert text.upper() == socket.recv(timeout=10)
        socket.send("close")
        with pytest.raises(ConnectionClosed):
            socket.recv(timeout=10)
        assert (4000, "as asked") == (socket.close_code, socket.close_reason)
    with connect(f"ws://127.0.0.1:{hosted.port}/talk", proxy=None):
        pass
    hosted.noted("websocket ended")


@pytest.mark.parametrize("target", APPLICATIONS)
def test_sigterm_runs_the_shutdown_hooks_and_ends_with_status_0(target, run_process):
    process = run_process(sys.executable, "-m", "tarmac", "run", target, "--app-dir", FOLDER, "--port", "0")
    process.wait_for_line("listening on", timeout=20)
    assert 0 == process.stop(signal.SIGTERM)
    assert ("lifespan" in APPLICATIONS[target]) == ("shutdown ran" in process.output)


def raw(hosted: Hosted, data: bytes) -> bytes:
    """Everything that comes back on a connection until the server ends it."""
    with socket.create_connection(("127.0.0.1", hosted.port), timeout=10) as wire:
        wire.sendall(data)
        return b"".join(iter(lambda: wire.recv(65536), b""))


def read_answer(wire: socket.socket) -> bytes:
    """The body of one response."""
    response = http.client.HTTPResponse(wire)
    response.begin()
    return response.read()
