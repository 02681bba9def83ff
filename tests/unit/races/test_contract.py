"""The contract check against servers that are wrong in one way each, over a real socket."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from races.client import Client, Reply
from races.contract import check_contract, check_reply
from races.course import Course, Expectation
from races.errors import LabError
from races.stores.console import parse_reply

PAGE = Course(
    "page", "Page", "", "/page", depth=24,
    expect=Expectation(200, "text/html", contains=("hello",), counts={"<li>": 2}, varies=True),
)  # fmt: skip

Answer = Callable[[str, int], bytes]


def response(status: str, body: str, kind: str = "text/html") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


def right(path: str, visit: int) -> bytes:
    if path != "/page":
        return response("404 Not Found", "no")
    return response("200 OK", f"hello {visit}<li><li>")


def chunked(path: str, visit: int) -> bytes:
    if path != "/page":
        return right(path, visit)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"5\r\nhello\r\n" + f"7;note=x\r\n{visit:03}<li>\r\n".encode() + b"4\r\n<li>\r\n0\r\n\r\n"


@contextmanager
def serving(answer: Answer) -> Iterator[int]:
    """A server that answers every head it gets by a function of path and running number."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        visit = 0
        try:
            connection, _ = listener.accept()
            with connection:
                rest = b""
                while received := connection.recv(65536):
                    *heads, rest = (rest + received).split(b"\r\n\r\n")
                    for head in heads:
                        visit += 1
                        connection.sendall(answer(head.split(b" ")[1].decode(), visit))
        except OSError:
            pass

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.close()
        thread.join()


@pytest.mark.parametrize("answer", [right, chunked])
def test_a_right_server_may_start(answer: Answer) -> None:
    with serving(answer) as port:
        assert [] == check_contract(port, PAGE)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("200 OK", "201 Created", "/page answers 201, expected 200"),
        ("text/html", "text/plain", "/page is 'text/plain', expected 'text/html'"),
        ("hello", "holla", "/page lacks 'hello'"),
        ("<li><li>", "<li><il>", "/page has '<li>' 1 times, expected 2"),
        ("404 Not Found", "200 OK", "an absent page answers 200, not 404"),
    ],
)
def test_one_fault_is_one_reason(old: str, new: str, complaint: str) -> None:
    def answer(path: str, visit: int) -> bytes:
        return right(path, visit).replace(old.encode(), new.encode())

    with serving(answer) as port:
        assert complaint in check_contract(port, PAGE)


def test_a_cached_page_of_chance_is_refused() -> None:
    with serving(lambda path, _visit: right(path, 1)) as port:
        assert ["/page gives two visitors the same page"] == check_contract(port, PAGE)


def test_a_server_that_hangs_up_is_refused() -> None:
    with serving(lambda _path, _visit: b"HTTP/1.1 200 OK\r\nContent-Le") as port, Client(port, timeout=0.3) as client:
        client.send(["/page"])
        with pytest.raises((LabError, TimeoutError)):
            client.receive()


def test_nobody_there_is_a_reason_too() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert any("refused" in problem for problem in check_contract(port, PAGE))


def test_a_course_without_wishes_asks_for_the_status_alone() -> None:
    course = Course("bare", "Bare", "", "/")
    assert [] == check_reply(Reply(200, {}, b""), course)
    assert ["/ answers 500, expected 200"] == check_reply(Reply(500, {}, b""), course)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('---\n- json={"call":3}\n...\n', {"call": 3}),
        ('---\n- \'json={"call":3,"select":4}\'\n...\n', {"call": 3, "select": 4}),
        ("---\n- json=null\n...\n", None),
        ('---\n- json="ok"\n...\n', "ok"),
    ],
)
def test_the_stores_console_is_understood(reply: str, expected: object) -> None:
    assert expected == parse_reply(reply)


@pytest.mark.parametrize("reply", ["---\n- error: no such function\n...\n", "---\n- json={broken\n...\n", "---\n...\n"])
def test_what_the_console_complains_about_is_said(reply: str) -> None:
    with pytest.raises(LabError, match="console says"):
        parse_reply(reply)
