"""Requests over TLS: versions, names, clients with certificates, new certificates, and those who do not speak it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import ssl
import struct
from typing import TYPE_CHECKING, Self

import pytest
import tarmac
from support.certificates import Authority, der
from support.http import Wire, request, served
from support.loops import on_every_loop, until
from support.tls_talk import Talk
from tarmac import TLS, App, ConfigurationError, Limits

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.live


@pytest.fixture
def authority(tmp_path) -> Authority:
    return Authority(tmp_path)


class SecureWire(Wire):
    """A connection over TLS."""

    def __init__(self, port: int, context: ssl.SSLContext, name: str = "a.example") -> None:
        super().__init__(port)
        self._context = context
        self._name = name

    async def __aenter__(self) -> Self:
        self.reader, self.writer = await asyncio.open_connection(
            "127.0.0.1", self._port, ssl=self._context, server_hostname=self._name
        )
        return self

    @property
    def secured(self) -> ssl.SSLObject:
        return self.writer.get_extra_info("ssl_object")


def site() -> App:
    app = App()
    app.get("/")(lambda request: f"{request.scheme} {request.version}")
    app.post("/")(lambda request: request.content)
    app.get("/big")(lambda request: b"x" * 3_000_000)

    @app.get("/who")
    def who(request):
        return request.client_certificate or "nobody"

    @app.get("/slow")
    async def slow(request):
        await asyncio.sleep(0.1)
        return "slow"

    return app


@on_every_loop
async def test_requests_are_answered_over_tls(authority):
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        async with served(site(), tls=TLS(*authority.issue("a.example"))) as server:
            context = authority.client()
            context.minimum_version = context.maximum_version = version
            context.set_alpn_protocols(["h2", "http/1.1"])
            async with SecureWire(server.port, context) as wire:
                assert f"https://127.0.0.1:{server.port}" == server.url
                assert b"https 1.1" == (await wire.get("/")).body
                assert "http/1.1" == wire.secured.selected_alpn_protocol()
                for body in (b"", b"x", b"x" * 1_000_000):
                    assert body == (await wire.get("/", method="POST", body=body)).body
                assert 3_000_000 == len((await wire.get("/big")).body)
                wire.send(request("/slow") + request("/") + request("/big") + request("/"))
                bodies = [len((await wire.answer()).body) for _ in range(4)]
                assert [4, 9, 3_000_000, 9] == bodies
                assert b"nobody" == (await wire.get("/who")).body


@on_every_loop
async def test_a_closed_connection_says_good_bye(authority):
    async with (
        served(site(), tls=TLS(*authority.issue("a.example"))) as server,
        SecureWire(server.port, authority.client()) as wire,
    ):
        wire.send(request("/", headers="Connection: close\r\n"))
        assert b"https 1.1" == (await wire.answer()).body
        # Without the good-bye the ssl module would raise here.
        assert await wire.ended()


@on_every_loop
async def test_a_client_that_says_good_bye_is_still_answered(authority):
    """Its own half is closed, by TLS or by TCP alone; what it asked for still comes."""
    async with served(site(), tls=TLS(*authority.issue("a.example"))) as server:
        for by_tls in (True, False):
            with socket.create_connection(("127.0.0.1", server.port)) as plain:
                plain.settimeout(0)
                talk = Talk(plain, authority.client())
                await talk.shake_hands()
                talk.object.write(request("/slow"))
                if by_tls:
                    with contextlib.suppress(ssl.SSLError):
                        talk.object.unwrap()
                await talk.flush()
                plain.shutdown(socket.SHUT_WR)
                answer = await talk.read_all()
            assert answer.endswith(b"slow")


@on_every_loop
async def test_everything_may_come_byte_by_byte(authority):
    async with served(site(), tls=TLS(*authority.issue("a.example"))) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as plain:
            plain.settimeout(0)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            talk = Talk(plain, authority.client())
            await talk.shake_hands(piece=1)
            talk.object.write(request("/", headers="Connection: close\r\n"))
            await talk.flush(piece=1)
            assert (await talk.read_all()).endswith(b"https 1.1")


@on_every_loop
async def test_a_plain_request_is_told_that_this_port_speaks_tls(authority):
    async with served(site(), tls=TLS(*authority.issue("a.example"))) as server:
        for first in (request("/"), b"G"):
            async with Wire(server.port) as wire:
                wire.send(first)
                answer = await wire.answer()
                assert 400 == answer.status
                assert b"this port speaks TLS\n" == answer.body
                assert "close" == answer.header("Connection")
                assert await wire.ended()


@on_every_loop
async def test_garbage_is_answered_with_an_alert_and_a_good_end(authority):
    async with served(site(), tls=TLS(*authority.issue("a.example"))) as server:
        for garbage in (b"\x16\x03\x01\xff\xff" + b"x" * 100, b"\x00" * 50, b"\x80\x2e\x01\x03\x01"):
            async with Wire(server.port) as wire:
                wire.send(garbage)
                wire.writer.write_eof()
                rest = await wire.rest()
                assert not rest or rest[0] == 21
        await until(lambda: server.connections == 0)
        # In the middle of a conversation, too.
        with socket.create_connection(("127.0.0.1", server.port)) as plain:
            plain.settimeout(0)
            talk = Talk(plain, authority.client())
            await talk.shake_hands()
            talk.object.write(request("/slow"))
            await talk.flush()
            await asyncio.get_running_loop().sock_sendall(plain, b"\x17\x03\x03\x00\x20" + b"x" * 32)
            with pytest.raises(ssl.SSLError, match=r"(?i)alert|bad record"):
                await talk.read_all()
        await until(lambda: server.connections == 0)


@on_every_loop
async def test_a_client_that_does_not_finish_its_handshake_is_dropped(authority):
    tls = TLS(*authority.issue("a.example"))
    async with served(site(), tls=tls, limits=Limits(handshake_timeout=0.2)) as server:
        async with Wire(server.port) as silent, Wire(server.port) as slow:
            slow.send(b"\x16\x03\x01\x02\x00\x01")
            assert await silent.ended()
            assert await slow.ended()
        async with SecureWire(server.port, authority.client()) as wire:
            await asyncio.sleep(0.4)
            assert b"https 1.1" == (await wire.get("/")).body, "the patience was for the handshake"


@on_every_loop
async def test_after_the_handshake_the_timeouts_of_requests_count(authority):
    tls = TLS(*authority.issue("a.example"))
    limits = Limits(header_timeout=0.2, idle_timeout=0.2)
    async with served(site(), tls=tls, limits=limits) as server:
        async with SecureWire(server.port, authority.client()) as silent:
            assert await silent.ended()
        async with SecureWire(server.port, authority.client()) as slow:
            slow.send("GET / HT")
            assert 408 == (await slow.answer()).status
            assert await slow.ended()


@on_every_loop
async def test_the_oldest_version_can_be_raised(authority):
    async with served(site(), tls=TLS(*authority.issue("a.example"), minimum="1.3")) as server:
        context = authority.client()
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        with pytest.raises(ssl.SSLError, match=r"(?i)version"):
            await SecureWire(server.port, context).__aenter__()
        async with SecureWire(server.port, authority.client()) as wire:
            assert b"https 1.1" == (await wire.get("/")).body


@on_every_loop
async def test_a_protocol_that_is_not_spoken_is_refused(authority):
    async with served(site(), tls=TLS(*authority.issue("a.example"))) as server:
        context = authority.client()
        context.set_alpn_protocols(["h2"])
        with pytest.raises(ssl.SSLError, match=r"(?i)application protocol|alert"):
            await SecureWire(server.port, context).__aenter__()


@on_every_loop
async def test_the_name_chooses_the_certificate(authority):
    first, second = authority.issue("a.example", file="a"), authority.issue("*.b.example", file="b")
    async with served(site(), tls=TLS(*first, more=[second])) as server:
        for name, (certificate, _) in (("a.example", first), ("x.b.example", second)):
            async with SecureWire(server.port, authority.client(), name) as wire:
                assert der(certificate) == wire.secured.getpeercert(binary_form=True)
                assert b"https 1.1" == (await wire.get("/")).body
        with pytest.raises(ssl.SSLCertVerificationError):
            await SecureWire(server.port, authority.client(), "c.example").__aenter__()


@on_every_loop
async def test_clients_have_to_show_a_certificate(authority, tmp_path):
    pair = authority.issue("a.example")
    (tmp_path / "other").mkdir()
    stranger = authority.client()
    Authority(tmp_path / "other").inner.issue_cert("me.example").configure_cert(stranger)
    async with served(site(), tls=TLS(*pair, client_ca=authority.roots)) as server:
        async with SecureWire(server.port, authority.client(name="me.example")) as wire:
            shown = (await wire.get("/who")).body
            assert b"me.example" in shown
            assert ssl.DER_cert_to_PEM_cert(shown)
        for context in (authority.client(), stranger):
            with pytest.raises((ssl.SSLError, ConnectionError, asyncio.IncompleteReadError)):
                async with SecureWire(server.port, context) as wire:
                    await wire.get("/who")
    async with served(site(), tls=TLS(*pair, client_ca=authority.roots, client_required=False)) as server:
        async with SecureWire(server.port, authority.client()) as wire:
            assert b"nobody" == (await wire.get("/who")).body
        async with SecureWire(server.port, authority.client(name="me.example")) as wire:
            assert b"me.example" in (await wire.get("/who")).body


def shown_now(server: tarmac.Server, authority: Authority) -> bytes:
    with (
        socket.create_connection(("127.0.0.1", server.port), timeout=5) as plain,
        authority.client().wrap_socket(plain, server_hostname="a.example") as secured,
    ):
        return secured.getpeercert(binary_form=True) or b""


async def until_shown(server: tarmac.Server, authority: Authority, certificate: bytes) -> None:
    async with asyncio.timeout(5):
        while await asyncio.to_thread(shown_now, server, authority) != certificate:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.02)


@on_every_loop
async def test_new_certificates_are_taken_up_and_open_connections_stay(authority, caplog):
    caplog.set_level(logging.INFO, "tarmac.tls")
    certificate, key = authority.issue("a.example")
    tls = TLS(certificate, key, watch=0.02)
    async with served(site(), tls=tls) as server, SecureWire(server.port, authority.client()) as wire:
        for _ in range(2):
            authority.issue("a.example")
            await until_shown(server, authority, der(certificate))
            assert b"https 1.1" == (await wire.get("/")).body
        good = certificate.read_bytes()
        certificate.write_text("half a fi")
        await until(lambda: "stay as they were" in caplog.text)
        certificate.write_bytes(good)
        assert der(certificate) == await asyncio.to_thread(shown_now, server, authority)
        assert b"https 1.1" == (await wire.get("/")).body


@on_every_loop
async def test_certificates_are_read_again_when_asked(authority):
    certificate, key = authority.issue("a.example")
    tls = TLS(certificate, key, watch=None)
    before = der(certificate)
    async with served(site(), tls=tls) as server:
        authority.issue("a.example")
        assert before == await asyncio.to_thread(shown_now, server, authority)
        tls.reload()
        assert der(certificate) == await asyncio.to_thread(shown_now, server, authority)
        key.unlink()
        with pytest.raises(ConfigurationError, match=r"server\.key cannot be read"):
            tls.reload()
        assert der(certificate) == await asyncio.to_thread(shown_now, server, authority)


@on_every_loop
async def test_a_client_that_does_not_read_is_dropped(authority):
    tls = TLS(*authority.issue("a.example"))
    async with served(site(), tls=tls, limits=Limits(write_timeout=0.2)) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as plain:
            plain.settimeout(0)
            talk = Talk(plain, authority.client())
            await talk.shake_hands()
            talk.object.write(request("/big") * 10)
            await talk.flush()
            await until(lambda: server.connections == 1)
            await until(lambda: server.connections == 0)


@on_every_loop
async def test_a_client_that_resets_is_forgotten(authority):
    tls = TLS(*authority.issue("a.example"))
    async with served(site(), tls=tls) as server:
        plain = socket.create_connection(("127.0.0.1", server.port))
        plain.settimeout(0)
        talk = Talk(plain, authority.client())
        await talk.shake_hands()
        talk.object.write(request("/slow") + request("/big"))
        await talk.flush()
        await until(lambda: server.requests_in_flight > 0)
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        plain.close()
        await until(lambda: server.connections == 0)


@on_every_loop
async def test_files_go_over_tls(authority, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(os.urandom(2_000_000))
    app = App()

    @app.get("/")
    async def send(request):
        writer = request.start(200, length=2 * path.stat().st_size - 100)
        with path.open("rb") as file:
            await writer.send_file(file.fileno(), 100, path.stat().st_size - 100)
            await writer.send_file(file.fileno(), 0, path.stat().st_size)
        writer.end()

    async with (
        served(app, tls=TLS(*authority.issue("a.example"))) as server,
        SecureWire(server.port, authority.client()) as wire,
    ):
        for _ in range(2):
            assert path.read_bytes()[100:] + path.read_bytes() == (await wire.get("/")).body


def test_what_is_wrong_is_told_at_once(authority, tmp_path: Path):
    certificate, key = authority.issue("a.example")
    _, other = authority.issue("a.example", file="other")
    both = tmp_path / "both.pem"
    both.write_bytes(certificate.read_bytes() + key.read_bytes())
    assert f"<TLS {both}>" == repr(TLS(both))
    locked = tmp_path / "locked.pem"
    locked.write_text("-----BEGIN ENCRYPTED PRIVATE KEY-----\naGVsbG8=\n-----END ENCRYPTED PRIVATE KEY-----\n")
    for words, message in (
        ({"cert": certificate}, r"server\.pem holds no private key"),
        ({"cert": certificate, "key": other}, r"other\.key is not the key of the first certificate in .*server\.pem"),
        ({"cert": certificate, "key": locked}, r"locked\.pem is encrypted with a passphrase"),
        ({"cert": tmp_path / "missing", "key": key}, r"missing cannot be read: No such file"),
        ({"cert": key, "key": key}, r"server\.key holds no certificate"),
        ({"cert": both, "minimum": "1.1"}, r"the minimum is '1\.2' or '1\.3', not '1\.1'"),
        ({"cert": both, "alpn": [""]}, r"a protocol's name has 1 to 255 bytes"),
        ({"cert": both, "client_ca": key}, r"server\.key holds no certificate"),
        ({"cert": both, "watch": 0}, r"watch is a number of seconds above 0"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            TLS(**words)
