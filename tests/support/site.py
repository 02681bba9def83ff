"""The voting site under test: its processes, its stores, a small browser, a counter of queries."""

from __future__ import annotations

import asyncio
import contextlib
import html
import http.client
import importlib.util
import re
import shutil
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import pytest
from stickers.tarantool_server import MISSING, TarantoolServer

from support.process import Process
from support.waiting import LOCALHOST, free_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

ENGINES = ("aiohttp", "starlette", "fastapi", "tarmac")
HIDDEN = re.compile(r'name="(winner|loser)" value="([^"]*)"')
PICTURE = re.compile(r'<img src="/img/([^/"]+)/(\d+)\.')


def need(module: str) -> None:
    """Skip, visibly, where a module is not installed."""
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed here")


@pytest.fixture(scope="session")
def sticker_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TarantoolServer]:
    """Give the session's Tarantool with the stickers' schema."""
    need_tarantool()
    with TarantoolServer(tmp_path_factory.mktemp("stickers-tarantool"), free_port()) as server:
        yield server


def need_tarantool() -> None:
    """Skip, visibly, where there is no server program."""
    if shutil.which("tarantool") is None:
        pytest.skip(MISSING)


@dataclass
class Answer:
    """One response, read to its end."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass
class Visitor:
    """Keeps a cookie and fills in forms, as a browser would."""

    port: int
    cookie: str | None = None
    agent: str = "visitor"

    def ask(self, method: str, path: str, body: bytes | None = None, /, **headers: str) -> Answer:
        """Send one request on a connection of its own; underscores in header names become dashes."""
        sent = {"User-Agent": self.agent}
        if self.cookie is not None:
            sent["Cookie"] = f"stickers={self.cookie}"
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        with contextlib.closing(http.client.HTTPConnection(LOCALHOST, self.port, timeout=10)) as link:
            link.request(method, path, body, sent)
            got = link.getresponse()
            answer = Answer(got.status, got.headers, got.read())
        if (cookie := answer.headers.get("Set-Cookie")) is not None:
            self.cookie = cookie.partition(";")[0].removeprefix("stickers=")
        return answer

    def get(self, path: str = "/", **headers: str) -> Answer:
        return self.ask("GET", path, **headers)

    def pair(self) -> tuple[str, str]:
        """Open the Index page; the tokens of its left form, winner first."""
        return tokens_of(self.get("/"))

    def vote(self, winner: str | None, loser: str | None, **headers: str) -> Answer:
        """Send a form; None leaves its field out."""
        return self.ask("POST", "/", form(winner, loser), Content_Type=FORM, **headers)


def tokens_of(page: Answer) -> tuple[str, str]:
    """The tokens of the left form of an Index page; the right one has them the other way round."""
    found = HIDDEN.findall(page.text)
    assert ["winner", "loser", "winner", "loser"] == [name for name, _ in found], page.text
    assert (found[0][1], found[1][1]) == (found[3][1], found[2][1])
    return html.unescape(found[0][1]), html.unescape(found[1][1])


def stickers(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    command = [sys.executable, "-m", "stickers", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


PING = 0x40
FORM = "application/x-www-form-urlencoded"


def form(winner: str | None, loser: str | None) -> bytes:
    """The body that a browser sends."""
    from urllib.parse import urlencode

    fields = {"winner": winner, "loser": loser}
    return urlencode({name: value for name, value in fields.items() if value is not None}).encode()


@dataclass
class SiteProcess:
    """`stickers` running on an engine; its data stay in `data`."""

    engine: str
    data: Path
    options: tuple[str, ...] = ("--rate-limit", "0")
    store: str = "sqlite"
    port: int = field(default_factory=free_port)
    process: Process | None = None

    def __enter__(self) -> Self:
        if self.engine in ENGINES:
            need(self.engine)
        self.data.mkdir(parents=True, exist_ok=True)
        command: list[str | Path] = [
            sys.executable, "-m", "stickers", "-p", str(self.port), "-e", self.engine,
            "-s", self.store, "--data", self.data, *self.options,
        ]  # fmt: skip
        self.process = Process(command, log=self.data / "site.log")
        self.process.wait_for_port(self.port, timeout=30)
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process is not None
        self.process.kill()

    def visitor(self) -> Visitor:
        return Visitor(self.port)


def fill(data: Path, count: int) -> None:
    """Load generated stickers into the SQLite file of `data`."""
    from stickers.stores.sqlite import make

    from stickers import load

    async def work() -> None:
        store = make(data=data)
        await load.load(store, load.generated(count))
        await store.close()

    asyncio.run(work())


def post_at_once(port: int, cookie: str, body: bytes, times: int) -> list[int]:
    """Send the same POST on many connections, all before the first answer is read; the statuses."""
    head = (
        f"POST / HTTP/1.1\r\nHost: {LOCALHOST}:{port}\r\nCookie: stickers={cookie}\r\n"
        f"Content-Type: {FORM}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    with contextlib.ExitStack() as stack:
        links = [stack.enter_context(socket.create_connection((LOCALHOST, port), timeout=20)) for _ in range(times)]
        for link in links:
            link.sendall(head.encode() + body)
        return [int(link.recv(65536).split(b" ", 2)[1]) for link in links]


class QueryCounter:
    """Stands between a driver and Tarantool and counts the queries that pass."""

    def __init__(self, port: int) -> None:
        self.queries = 0
        self._port = port
        self._tasks: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[int]:
        """The port to connect to instead."""
        server = await asyncio.start_server(self._relay, LOCALHOST, 0)
        async with server:
            yield server.sockets[0].getsockname()[1]
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _relay(self, client: asyncio.StreamReader, answer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        server, ask = await asyncio.open_connection(LOCALHOST, self._port)
        back = asyncio.create_task(_copy(server, answer))
        try:
            while True:
                prefix = await client.readexactly(1)
                size = {0xCC: 1, 0xCD: 2, 0xCE: 4}.get(prefix[0], 0)
                digits = await client.readexactly(size)
                length = int.from_bytes(digits, "big") if size else prefix[0]
                packet = await client.readexactly(length)
                ask.write(prefix + digits + packet)
                # A header begins with its size and `request type: number`; drivers ping as they like.
                assert 0x00 == packet[1], packet[:8]
                self.queries += packet[2] != PING
        except asyncio.IncompleteReadError:
            pass
        finally:
            back.cancel()
            ask.close()
            answer.close()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while piece := await source.read(65536):
        target.write(piece)
