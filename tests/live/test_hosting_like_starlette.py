"""One Starlette application and one script of steps: Starlette's own TestClient and tarmac give equal records."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import httpx2 as httpx
import pytest
import tarmac
from starlette.applications import Starlette
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocketDisconnect
from support.starlette_shown import Log, application
from support.waiting import wait_for
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

pytestmark = pytest.mark.live

# Who serves it, when, and how the end of the body is told.
OWN = {"server", "date", "content-length", "transfer-encoding", "connection"}


class Driver(Protocol):
    """What a script needs of a client."""

    http: httpx.Client

    def talk(self, path: str, messages: list[str | bytes]) -> list[Any]:
        """Open a WebSocket, send messages and hear as many; tell what was heard, and the end."""


class InProcess:
    """Starlette's own client, which speaks no HTTP."""

    def __init__(self, client: TestClient) -> None:
        self.http = client

    def talk(self, path: str, messages: list[str | bytes]) -> list[Any]:
        heard: list[Any] = []
        try:
            with self.http.websocket_connect(path, subprotocols=["one", "two"]) as socket:  # type: ignore[attr-defined]
                heard.append((socket.accepted_subprotocol, (b"x-answer", b"yes") in socket.extra_headers))
                for message in messages:
                    socket.send_text(message) if isinstance(message, str) else socket.send_bytes(message)
                    event = socket.receive()
                    if event["type"] == "websocket.close":
                        heard.append(("closed", event["code"], event["reason"]))
                        break
                    heard.append(event.get("text") if event.get("text") is not None else event["bytes"])
        except WebSocketDenialResponse as denial:
            heard.append(("denied", denial.status_code, denial.content))
        except WebSocketDisconnect:
            heard.append(("denied", 403))
        return heard


class OverTheWire:
    """A client of a tarmac server."""

    def __init__(self, client: httpx.Client, port: int) -> None:
        self.http = client
        self._port = port

    def talk(self, path: str, messages: list[str | bytes]) -> list[Any]:
        heard: list[Any] = []
        url = f"ws://127.0.0.1:{self._port}{path}"
        try:
            with connect(url, subprotocols=["one", "two"], proxy=None) as socket:  # type: ignore[list-item]
                heard.append((socket.subprotocol, socket.response.headers["x-answer"] == "yes"))
                for message in messages:
                    socket.send(message)
                    heard.append(socket.recv(timeout=5))
        except ConnectionClosed:
            heard.append(("closed", socket.close_code, socket.close_reason))
        except InvalidStatus as refused:
            status, body = refused.response.status_code, bytes(refused.response.body or b"")
            heard.append(("denied", status) if status == 403 else ("denied", status, body))
        return heard


@contextlib.contextmanager
def in_process(app: Starlette) -> Iterator[Driver]:
    with TestClient(app, raise_server_exceptions=False, base_url="http://127.0.0.1") as client:
        yield InProcess(client)


@contextlib.contextmanager
def on_tarmac(app: Starlette) -> Iterator[Driver]:
    started, stop = threading.Event(), asyncio.Event()
    found: list[Any] = []

    async def serve() -> None:
        server = await tarmac.serve(app, port=0)
        found.extend([server.port, asyncio.get_running_loop()])
        started.set()
        await stop.wait()
        await server.stop()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert started.wait(5)
    port, loop = found
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
            yield OverTheWire(client, port)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(5)


def answer_of(response: httpx.Response) -> tuple[Any, ...]:
    fields = sorted(pair for pair in response.headers.multi_items() if pair[0] not in OWN)
    return response.status_code, fields, response.content


def lifespan_and_state(driver: Driver, log: Log) -> Iterator[Any]:
    yield answer_of(driver.http.get("/state?x=1"))
    yield answer_of(driver.http.post("/state", content=b"ignored"))
    yield answer_of(driver.http.head("/state"))
    yield answer_of(driver.http.delete("/state"))
    yield answer_of(driver.http.get("/nowhere"))


def streaming(driver: Driver, log: Log) -> Iterator[Any]:
    yield answer_of(driver.http.get("/streams"))
    yield answer_of(driver.http.get("/streams-from-a-thread"))
    yield answer_of(driver.http.head("/streams"))


def requests_in_pieces(driver: Driver, log: Log) -> Iterator[Any]:
    yield answer_of(driver.http.post("/takes-pieces", content=iter([b"one", b"two", b"three"])))
    yield answer_of(driver.http.post("/takes-pieces", content=b"x" * 100_000))
    yield answer_of(driver.http.post("/takes-pieces"))
    yield answer_of(driver.http.post("/takes-twice", content=b"y" * 100_000))


def background_tasks(driver: Driver, log: Log) -> Iterator[Any]:
    yield answer_of(driver.http.get("/background"))
    wait_for(lambda: ("background", "in a thread") in log)


def disconnects(driver: Driver, log: Log) -> Iterator[Any]:
    yield answer_of(driver.http.post("/sees-the-end", content=b"x"))
    wait_for(lambda: "http.disconnect" in log)
    yield answer_of(driver.http.post("/reads-after-the-end", content=b"x"))
    wait_for(lambda: "nobody is there" in log)


def exceptions(driver: Driver, log: Log) -> Iterator[Any]:
    yield answer_of(driver.http.get("/breaks"))
    yield answer_of(driver.http.get("/state"))


def fields(driver: Driver, log: Log) -> Iterator[Any]:
    yield answer_of(driver.http.get("/fields", headers={"X-Asked": "a, b"}))
    yield dict(driver.http.cookies)


def websockets(driver: Driver, log: Log) -> Iterator[Any]:
    yield driver.talk("/echoes?q=7", ["text", "☃" * 10_000, b"\x00\xff", "close"])
    yield driver.talk("/echoes?q=8", ["text"])
    wait_for(lambda: ("client closed", 1000) in log)
    yield driver.talk("/refuses", [])
    yield driver.talk("/denies", [])


SCRIPTS = [
    lifespan_and_state,
    streaming,
    requests_in_pieces,
    background_tasks,
    disconnects,
    exceptions,
    fields,
    websockets,
]


def record(serve: Callable[[Starlette], Any], script: Callable[[Driver, Log], Iterator[Any]]) -> list[Any]:
    log: Log = []
    with serve(application(log)) as driver:
        heard = list(script(driver, log))
    return [heard, log]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_records_are_equal(script, caplog):
    expected = record(in_process, script)
    assert expected == record(on_tarmac, script)
    assert expected[1][0] == "start-up"
    assert expected[1][-1] == "shutdown"
