"""The access log: a line for each request, whoever serves it, whatever a client sends."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import signal
import sys
from typing import TYPE_CHECKING

import pytest
import tarmac
from support.http import Wire, connected, request, served
from support.loops import on_every_loop, until
from support.waiting import wait_for
from tarmac import App, ConfigurationError
from tarmac.http.access_log import AccessLog

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.process import Process

pytestmark = pytest.mark.live

PROGRAM = """
from tarmac import App

app = App()

@app.get("/")
def hello(request):
    return "hello"
"""

LISTENING = r"^listening on http://127\.0\.0\.1:(\d+)$"


def site() -> App:
    app = App()
    app.get("/")(lambda request: "hello")
    app.state.go_on = asyncio.Event()

    @app.get("/slow")
    async def slow(request):
        await app.state.go_on.wait()
        return "done"

    @app.get("/stream")
    async def stream(request):
        return tarmac.stream([b"abc", b"de"])

    return app


@pytest.fixture
def run(run_process: Callable[..., Process], tmp_path: Path) -> Callable[..., tuple[Process, int]]:
    """Give `run(*options)`; it tells the process and its port."""
    (tmp_path / "program.py").write_text(PROGRAM)

    def start(*options: str) -> tuple[Process, int]:
        command = ["tarmac", "run", "program:app", "--app-dir", str(tmp_path), "--port", "0", *options]
        process = run_process(sys.executable, "-m", *command)
        return process, int(process.wait_for_line(LISTENING)[1])

    return start


def get(port: int, path: str) -> tuple[int, bytes]:
    async def exchange() -> tuple[int, bytes]:
        async with Wire(port) as wire:
            answer = await wire.get(path, headers="Connection: close\r\n")
            return answer.status, answer.body

    return asyncio.run(exchange())


async def lines_of(path: Path, count: int) -> list[str]:
    found: list[str] = []

    def whole() -> bool:
        text = path.read_text()
        found[:] = text.splitlines()
        return text.count("\n") >= count

    await until(whole)
    return found


@on_every_loop
async def test_a_line_tells_of_each_request(tmp_path: Path):
    path = tmp_path / "access.log"
    app = site()
    async with served(app, access_log=AccessLog("json", str(path))) as server, Wire(server.port) as wire:
        await wire.get("/?a=1", headers="Referer: http://there\r\nUser-Agent: me\r\nX-Request-ID: 7\r\n")
        await wire.get("/", method="HEAD")
        await wire.get("/nothing")
        wire.send(request("/stream"))
        await wire.reader.readuntil(b"0\r\n\r\n")
        wire.send("no request\r\n\r\n")
        await wire.rest()
        found = [json.loads(line) for line in await lines_of(path, 5)]
    first = found[0]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", first.pop("time"))
    assert first.pop("micros") < 5_000_000
    assert {
        "client": "127.0.0.1",
        "method": "GET",
        "target": "/?a=1",
        "version": "1.1",
        "host": "test",
        "referer": "http://there",
        "user_agent": "me",
        "request_id": "7",
        "status": 200,
        "bytes": 5,
    } == first
    assert [("HEAD", 200, 0), ("GET", 404, 9), ("GET", 200, 5), ("", 400, found[4]["bytes"])] == [
        (line["method"], line["status"], line["bytes"]) for line in found[1:]
    ]


@on_every_loop
async def test_the_time_is_the_handlers(tmp_path: Path):
    path = tmp_path / "access.log"
    app = site()
    async with served(app, access_log=AccessLog("{target} {micros} {seconds}", str(path))) as server:
        async with Wire(server.port) as wire:
            wire.send(request("/slow"))
            await until(lambda: server.requests_in_flight == 1)
            await asyncio.sleep(0.05)
            app.state.go_on.set()
            await wire.answer()
        ((target, micros, seconds),) = (line.split() for line in await lines_of(path, 1))
    assert ("/slow", True, float(seconds)) == (target, int(micros) >= 50_000, int(micros) / 1e6)


@on_every_loop
@pytest.mark.parametrize("format", ["combined", "json"])
async def test_no_client_can_forge_a_line(tmp_path: Path, format: str):  # noqa: A002 - that is its name
    """Quotes, backslashes, tabs and bytes beyond ASCII in every place that a client fills."""
    path = tmp_path / "access.log"
    evil = b'x" 200 0 "\\" \x80\xff\xe2\x80\xa8\t{status}'
    async with served(site(), access_log=AccessLog(format, str(path))) as server, Wire(server.port) as wire:
        wire.send(b"GET /%0a HTTP/1.1\r\nHost: test\r\nUser-Agent: " + evil + b"\r\nReferer: " + evil + b"\r\n\r\n")
        assert 404 == (await wire.answer()).status
        wire.send(b'"GET /\x01 HTTP/1.1\r\nHost: test\r\n\r\n')
        await wire.rest()
        lines = await lines_of(path, 2)
    assert 2 == len(lines)
    assert all(line.isprintable() or "\ufffd" in line for line in lines)
    if format == "json":
        assert json.loads(lines[0])["user_agent"] == evil.decode(errors="replace")
    else:
        quoted = r'"((?:[^"\\]|\\.)*)"'
        found = re.fullmatch(rf"127\.0\.0\.1 - - \[[^]]+\] {quoted} 404 9 {quoted} {quoted}", lines[0])
        assert found is not None, lines[0]
        assert found[3].isascii()


@on_every_loop
async def test_lines_may_go_to_logging(caplog):
    caplog.set_level(logging.INFO, "tarmac.access")
    async with connected(site(), access_log=AccessLog("{method} {target}", "logging")) as wire:
        wire.send(request("/") + request("/a"))
        await wire.answer()
        await wire.answer()
        await until(lambda: len(caplog.messages) == 2)
    assert ["GET /", "GET /a"] == caplog.messages


@pytest.mark.parametrize(
    ("format", "to", "message"),
    [
        ("apache", "-", "an access log is common, combined, json or a template"),
        ("{colour}", "-", 'an access log has no field "colour"'),
        ("{status", "-", 'an access log has no field "status"'),
    ],
)
def test_a_format_that_is_none_is_told_early(format: str, to: str, message: str):  # noqa: A002 - that is its name
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        AccessLog(format, to)


def test_a_log_that_cannot_be_written_is_told(tmp_path: Path):
    with pytest.raises(ConfigurationError, match=r"cannot write the access log .*: No such file"):
        AccessLog("common", str(tmp_path / "nowhere/access.log")).open()


@pytest.mark.parametrize("workers", [(), ("--workers", "2")], ids=["alone", "supervised"])
def test_a_file_that_was_moved_away_is_begun_anew(run, tmp_path: Path, workers):
    path = tmp_path / "access.log"
    process, port = run("--access-log", "{target}", "--access-log-file", str(path), *workers)
    assert 200 == get(port, "/?before")[0]
    wait_for(lambda: path.read_text() == "/?before\n", what="the line")
    path.rename(tmp_path / "access.log.1")
    process.send(signal.SIGUSR1)
    wait_for(lambda: (get(port, "/?again"), path.exists())[1], what="the new file")
    for number in range(20):
        get(port, f"/?{number}")
    wait_for(lambda: path.read_text().count("/?19\n") == 1, what="the last line")
    assert 0 == process.stop()


def test_lines_of_several_workers_stay_whole(run, tmp_path: Path):
    """Also when each of them writes more at once than a pipe takes in one piece."""
    path = tmp_path / "access.log"
    process, port = run("--access-log", "{target} end", "--access-log-file", str(path), "--workers", "2")
    target = "/?" + "x" * 300

    async def flood() -> None:
        async def one() -> None:
            async with Wire(port) as wire:
                wire.send(request(target) * 200)
                for _ in range(200):
                    await wire.answer()

        await asyncio.gather(*(one() for _ in range(10)))

    asyncio.run(flood())
    wait_for(lambda: path.read_text().count("\n") == 2000, what="all lines")
    assert {f"{target} end"} == set(path.read_text().splitlines())
    assert 0 == process.stop()


def test_without_being_asked_nothing_is_written(run):
    process, port = run()
    get(port, "/")
    assert 0 == process.stop()
    assert re.fullmatch(r"listening on \S+\n", process.output)


@on_every_loop
async def test_a_pipe_that_nobody_reads_does_not_stop_the_service():
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    saved = os.dup(1)
    log = AccessLog("{target}", "-")
    try:
        os.dup2(writing, 1)
        native = log.open()
    finally:
        os.dup2(saved, 1)
        os.close(saved)
    assert native is log.open()
    async with connected(site(), access_log=log) as wire:
        for _ in range(20):
            wire.send(request("/?" + "x" * 500) * 40)
            for _ in range(40):
                assert 200 == (await wire.answer()).status
        os.set_blocking(reading, False)
        found = b""
        for _ in range(40):
            try:
                found += os.read(reading, 1 << 20)
            except BlockingIOError:
                await wire.get("/?last")
    os.close(reading)
    os.close(writing)
    assert 800 == found.count(b"/?" + b"x" * 500 + b"\n")
