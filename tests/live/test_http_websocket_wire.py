"""WebSockets byte by byte: openings, protocol faults, pings, closing."""

from __future__ import annotations

import asyncio
import struct
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tarmac
from support.http import Wire, request, served
from support.loops import on_every_loop, until
from support.websocket import (
    ACCEPT,
    BINARY,
    OFFER,
    PING,
    PONG,
    TEXT,
    closed,
    frame,
    goodbye,
    opened,
    opening,
    received,
    socket_to,
)
from tarmac import App, Limits

pytestmark = pytest.mark.live

VECTORS = Path(__file__).parents[1] / "vectors" / "websocket"


def vectors(file: str) -> list[Any]:
    return [
        pytest.param(vector, id=vector["name"])
        for vector in tomllib.loads((VECTORS / file).read_text())["vector"]
        if vector.get("role") != "client" and not vector.get("forgets")
    ]


def echo_app(ends: list[Any] | None = None, **options: Any) -> App:
    app = App()

    @app.websocket("/", **options)
    async def echo(ws):
        async for message in ws:
            await ws.send(message)
        if ends is not None:
            ends.append((ws.close_code, ws.close_reason))

    @app.get("/plain")
    def plain(request):
        return "plain"

    return app


@on_every_loop
async def test_the_opening_is_answered_as_the_rule_says():
    async with served(echo_app()) as server, Wire(server.port) as wire:
        answer = await opened(wire)
    assert ACCEPT == answer.header("Sec-WebSocket-Accept")
    assert "websocket" == answer.header("Upgrade")
    assert "Upgrade" == answer.header("Connection")
    assert None is answer.header("Content-Length")
    assert None is answer.header("Sec-WebSocket-Extensions")


@on_every_loop
@pytest.mark.parametrize("vector", vectors("openings.toml"))
async def test_openings(vector):
    method = "GET" if vector.get("get", True) else "HEAD"
    version = "1.1" if vector.get("http11", True) else "1.0"
    fields = [["Host", "test"], *(field for field in vector["fields"] if field[0] != "Host")]
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
    async with served(echo_app()) as server, Wire(server.port) as wire:
        wire.send(f"{method} / HTTP/{version}\r\n{lines}\r\n")
        answer = await wire.answer(head_only=method == "HEAD")
    if "refused" not in vector:
        assert (101, vector["accept"]) == (answer.status, answer.header("Sec-WebSocket-Accept"))
        return
    assert vector.get("status", 400) == answer.status
    assert ("13" if vector.get("tells_version") else None) == answer.header("Sec-WebSocket-Version")
    assert ("websocket" if answer.status == 426 else None) == answer.header("Upgrade")


@on_every_loop
async def test_frames_may_follow_the_opening_in_one_write_and_in_single_bytes():
    for step in (10_000, 1):
        async with served(echo_app()) as server, Wire(server.port) as wire:
            data = opening().encode() + frame(TEXT, "first") + frame(1, "sec") + frame(PING, "?") + frame(0x80, "ond")
            for place in range(0, len(data), step):
                wire.send(data[place : place + step])
                await asyncio.sleep(0)
            assert 101 == (await wire.answer()).status
            assert [(TEXT, b"first"), (PONG, b"?"), (TEXT, b"second")] == [await received(wire) for _ in range(3)]


@on_every_loop
async def test_empty_messages_behind_others_are_not_lost():
    async with socket_to(echo_app()) as wire:
        wire.send(frame(TEXT, "x") + frame(TEXT) + frame(BINARY) + frame(TEXT, "y"))
        assert [(TEXT, b"x"), (TEXT, b""), (BINARY, b""), (TEXT, b"y")] == [await received(wire) for _ in range(4)]


@on_every_loop
async def test_a_pipeline_is_answered_before_the_upgrade_and_not_after_a_refusal():
    async with served(echo_app()) as server, Wire(server.port) as wire:
        wire.send(request("/plain") + request("/plain") + opening().encode() + frame(TEXT, "x"))
        assert [b"plain", b"plain"] == [(await wire.answer()).body for _ in range(2)]
        assert 101 == (await wire.answer()).status
        assert (TEXT, b"x") == await received(wire)
    async with served(echo_app()) as server, Wire(server.port) as wire:
        wire.send(opening(key="short") + request("/plain").decode())
        assert [400, 200] == [(await wire.answer()).status for _ in range(2)]


@on_every_loop
@pytest.mark.parametrize("vector", vectors("refuse.toml"))
async def test_faults_are_told_and_end_the_connection(vector):
    ends: list[Any] = []
    app = echo_app(ends, message_bytes=vector.get("limit", 1 << 20))
    async with socket_to(app, headers=OFFER if vector.get("deflate") else "") as wire:
        wire.send(bytes.fromhex(vector["input"]))
        for _ in vector.get("events", []):
            await received(wire)
        end = (vector["code"], vector["reason"])
        assert end == await closed(wire)
        assert await wire.ended()
        await until(lambda: ends, what="the end of the handler")
    assert [end] == ends


@on_every_loop
async def test_a_close_is_echoed_and_the_server_closes_first():
    for sent, expected in ((goodbye(4321, "bye"), (4321, "")), (frame(0x88), (1005, ""))):
        async with socket_to(echo_app()) as wire:
            wire.send(frame(TEXT, "last") + sent + frame(TEXT, "ignored"))
            assert (TEXT, b"last") == await received(wire)
            assert expected == await closed(wire)
            assert await wire.ended()


@on_every_loop
async def test_a_close_waits_for_its_answer_and_not_for_ever():
    app, ends = App(), []

    @app.websocket("/")
    async def handler(ws):
        await ws.accept()
        await ws.close(1000, "done")
        ends.append(ws.close_code)

    async with served(app) as server, Wire(server.port) as wire:
        await opened(wire)
        assert (1000, "done") == await closed(wire)
        wire.send(frame(TEXT, "too late") + frame(PING, "too"))
        assert [] == ends
        wire.send(goodbye(1000))
        assert await wire.ended()
        await until(lambda: ends, what="the end of the handler")
    limits = Limits(ws_close_timeout=0.05)
    async with served(app, limits=limits) as server, Wire(server.port) as wire:
        await opened(wire)
        assert (1000, "done") == await closed(wire)
        assert await wire.ended()
        await until(lambda: len(ends) == 2, what="the end of the second handler")


@on_every_loop
async def test_an_end_without_a_word_is_1006():
    ends: list[Any] = []
    for leave in ("reset", "finish"):
        ends.clear()
        async with socket_to(echo_app(ends)) as wire:
            wire.send(frame(TEXT, "x"))
            await received(wire)
            if leave == "reset":
                wire.reset()
            else:
                wire.writer.write_eof()
            await until(lambda: ends, what="the end of the handler")
        assert [(1006, "")] == ends


@on_every_loop
async def test_pings_are_answered_while_the_handler_is_busy():
    app, go = App(), asyncio.Event()

    @app.websocket("/")
    async def handler(ws):
        await ws.accept()
        await go.wait()

    async with socket_to(app) as wire:
        wire.send(frame(PING, "there?") + frame(PING))
        assert [(PONG, b"there?"), (PONG, b"")] == [await received(wire) for _ in range(2)]
        go.set()
        assert (1000, "") == await closed(wire)


@on_every_loop
async def test_a_request_that_is_no_websocket_may_become_one_by_hand():
    """What a host of ASGI applications does: it makes the WebSocket from any request."""
    app = App()

    @app.get("/{path:path}")
    async def host(request, path):
        ws = tarmac.WebSocket(request)
        await ws.accept()
        await ws.send(path)
        async for message in ws:
            await ws.send(message)

    async with socket_to(app, "/some/where") as wire:
        assert (TEXT, b"some/where") == await received(wire)
        wire.send(frame(BINARY, struct.pack(">I", 7)))
        assert (BINARY, struct.pack(">I", 7)) == await received(wire)
    async with served(app) as server, Wire(server.port) as wire:
        assert 426 == (await wire.get("/plain")).status


@on_every_loop
@pytest.mark.parametrize("outcome", ["returns", "raises"])
async def test_one_made_by_hand_ends_with_a_handler_that_never_waited(outcome, caplog):
    app = App()

    @app.get("/")
    async def host(request):
        ws = tarmac.WebSocket(request)
        ws.send("x")
        if outcome == "raises":
            raise ZeroDivisionError

    async with socket_to(app) as wire:
        assert (TEXT, b"x") == await received(wire)
        assert (1000 if outcome == "returns" else 1011, "") == await closed(wire)
    assert (outcome == "raises") == bool(caplog.records)


@on_every_loop
async def test_what_follows_the_opening_waits_for_its_answer():
    app, go = echo_app(), asyncio.Event()

    @app.websocket("/slow")
    async def slow(ws):
        await go.wait()
        async for message in ws:
            await ws.send(message)

    async with served(app) as server, Wire(server.port) as wire, Wire(server.port) as other:
        wire.send(request("/plain") + opening("/slow").encode() + frame(TEXT, "early"))
        assert b"plain" == (await wire.answer()).body
        await until(lambda: server.requests_in_flight == 1, what="the opening")
        assert b"plain" == (await other.get("/plain")).body
        go.set()
        assert 101 == (await wire.answer()).status
        assert (TEXT, b"early") == await received(wire)
