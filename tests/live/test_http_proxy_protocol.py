"""A proxy says first whom it speaks for; whoever does not is not heard."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from typing import TYPE_CHECKING

import pytest
from support.certificates import Authority
from support.http import Wire, connected, request, served
from support.loops import on_every_loop, until
from tarmac import TLS, App, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.live

LINE = b"PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n"
SECURE = b"\x20\x00\x05\x01\x00\x00\x00\x00"


def binary(source: str, port: int, *facts: bytes, command: int = 0x21) -> bytes:
    """A header of version 2."""
    address = ipaddress.ip_address(source).packed
    ports = port.to_bytes(2, "big") + b"\x00\x50"
    rest = address + address + ports + b"".join(facts)
    family = 0x11 if len(address) == 4 else 0x21
    return b"\r\n\r\n\0\r\nQUIT\n" + bytes([command, family]) + len(rest).to_bytes(2, "big") + rest


def site() -> App:
    app = App()
    app.get("/")(lambda request: f"{request.scheme} {request.client}")
    return app


def headers() -> Iterator[tuple[bytes, str]]:
    yield LINE, "http ('192.0.2.1', 56324)"
    yield b"PROXY TCP6 2001:db8::1 ::1 1 2\r\n", "http ('2001:db8::1', 1)"
    yield binary("192.0.2.7", 99), "http ('192.0.2.7', 99)"
    yield binary("2001:db8::2", 7), "http ('2001:db8::2', 7)"
    yield binary("192.0.2.7", 99, SECURE), "https ('192.0.2.7', 99)"


@on_every_loop
async def test_the_client_is_the_one_that_the_proxy_names():
    async with served(site(), proxy_protocol=True) as server:
        for header, expected in headers():
            async with Wire(server.port) as wire:
                wire.send(header + request("/"))
                assert expected == (await wire.answer()).body.decode()
                assert expected == (await wire.get("/")).body.decode(), "for as long as the connection lasts"


@on_every_loop
async def test_the_header_may_come_in_pieces():
    async with served(site(), proxy_protocol=True) as server:
        for header, expected in headers():
            async with Wire(server.port) as wire:
                wire.writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for byte in header:
                    wire.send(bytes([byte]))
                    await asyncio.sleep(0)
                assert expected == (await wire.get("/")).body.decode()


@on_every_loop
async def test_a_proxy_that_speaks_for_itself_is_the_client():
    async with served(site(), proxy_protocol=True) as server:
        for header in (b"PROXY UNKNOWN\r\n", binary("192.0.2.1", 1, command=0x20)):
            async with Wire(server.port) as wire:
                wire.send(header + request("/"))
                own = wire.writer.get_extra_info("sockname")
                assert f"http {own!r}" == (await wire.answer()).body.decode()


@on_every_loop
async def test_whoever_does_not_say_it_is_cut_off_without_a_word():
    async with served(site(), proxy_protocol=True) as server:
        for start in (request("/"), b"PROXY TCP4 1.2.3.4\r\n", LINE.replace(b"443", b"99999"), b"\x16\x03\x01"):
            async with Wire(server.port) as wire:
                wire.send(start + request("/"))
                assert await wire.ended()
        await until(lambda: server.connections == 0)


@on_every_loop
async def test_it_has_to_be_said_in_time():
    async with served(site(), proxy_protocol=True, limits=Limits(handshake_timeout=0.2)) as server:
        async with Wire(server.port) as silent, Wire(server.port) as slow:
            slow.send(LINE[:-1])
            assert await silent.ended()
            assert await slow.ended()
        async with Wire(server.port) as wire:
            wire.send(LINE)
            # The patience with the proxy is over, that with the client has begun.
            await asyncio.sleep(0.4)
            assert 200 == (await wire.get("/")).status


@on_every_loop
async def test_after_it_the_timeouts_of_requests_count():
    async with served(site(), proxy_protocol=True, limits=Limits(header_timeout=0.2)) as server:
        async with Wire(server.port) as wire:
            wire.send(LINE)
            assert await wire.ended()
        async with Wire(server.port) as wire:
            wire.send(LINE + b"GET / H")
            assert 408 == (await wire.answer()).status


@on_every_loop
async def test_a_proxy_that_leaves_is_forgotten():
    async with served(site(), proxy_protocol=True) as server:
        for start in (b"", LINE[:20], LINE):
            async with Wire(server.port) as wire:
                wire.send(start)
                wire.writer.write_eof()
                assert await wire.ended()
        await until(lambda: server.connections == 0)


@on_every_loop
async def test_without_the_switch_it_is_a_bad_request():
    async with connected(site()) as wire:
        wire.send(LINE + request("/"))
        assert 400 == (await wire.answer()).status


@on_every_loop
async def test_it_comes_before_tls(tmp_path):
    authority = Authority(tmp_path)
    tls = TLS(*authority.issue("a.example"))
    async with served(site(), proxy_protocol=True, tls=tls) as server:
        for header in (LINE, binary("192.0.2.1", 56324)):
            said = await asyncio.to_thread(_ask, server.port, header, authority.client())
            assert said.endswith(b"https ('192.0.2.1', 56324)")
        async with Wire(server.port) as wire:
            wire.send(LINE + request("/"))
            assert b"this port speaks TLS\n" == (await wire.answer()).body


def _ask(port: int, header: bytes, context: ssl.SSLContext) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as plain:
        plain.sendall(header)
        with context.wrap_socket(plain, server_hostname="a.example") as secured:
            secured.sendall(request("/", headers="Connection: close\r\n"))
            said = b""
            while data := secured.recv(10_000):
                said += data
            return said
