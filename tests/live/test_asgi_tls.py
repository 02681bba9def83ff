"""Hosted applications over TLS know that they are."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import pytest
from support.certificates import Authority
from support.http import served
from support.loops import on_every_loop
from tarmac import TLS
from tarmac.hosting import Hosted
from websockets.asyncio.client import connect

pytestmark = pytest.mark.live


async def tells(scope, receive, send):
    """Answer with the scheme; the same for a WebSocket; a file by its path."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": scope["scheme"]})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    if scope["path"] == "/file":
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"x" * 1_000_000)
            file.flush()
            await send({"type": "http.response.pathsend", "path": file.name})
    else:
        await send({"type": "http.response.body", "body": scope["scheme"].encode()})


@on_every_loop
async def test_the_scheme_is_https_or_wss(tmp_path: Path):
    authority = Authority(tmp_path)
    async with served(Hosted(tells, lifespan="off"), tls=TLS(*authority.issue("a.example"))) as server:
        secure = {"ssl": authority.client(), "server_hostname": "a.example"}

        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, **secure)
        for path, content in (("/", b"https"), ("/file", b"x" * 1_000_000)):
            writer.write(f"GET {path} HTTP/1.1\r\nHost: a.example\r\n\r\n".encode())
            await reader.readuntil(b"\r\n\r\n")
            assert content == await reader.readexactly(len(content))
        writer.close()
        async with connect(f"wss://127.0.0.1:{server.port}/", proxy=None, **secure) as socket:
            assert "wss" == await socket.recv()
