"""TLS and the PROXY protocol on the command line; new certificates by SIGHUP and in new workers."""

from __future__ import annotations

import signal
import socket
import sys
from typing import TYPE_CHECKING

import pytest
from support.certificates import Authority, der
from support.http import request
from support.waiting import wait_for

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable
    from pathlib import Path

    from support.process import Process

    Tarmac = Callable[..., tuple[Process, int]]

pytestmark = pytest.mark.live

PROGRAM = """
from tarmac import App

app = App()
app.get("/")(lambda request: f"{request.scheme} {request.client[0]} {bool(request.client_certificate)}")
"""


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def tarmac(run_process: Callable[..., Process], tmp_path: Path) -> Tarmac:
    """Give `tarmac(*options)`; it runs the program and tells the process and its port."""
    (tmp_path / "program.py").write_text(PROGRAM)

    def start(*options: str | Path) -> tuple[Process, int]:
        command = [sys.executable, "-m", "tarmac", "run", "program:app", "--app-dir", tmp_path, "--port", "0"]
        process = run_process(*command, *options)
        return process, int(process.wait_for_line(r"^listening on https?://127\.0\.0\.1:(\d+)$")[1])

    return start


def ask(port: int, context: ssl.SSLContext, first: bytes = b"") -> tuple[bytes, bytes]:
    """What is answered, and the certificate that was shown."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as plain:
        plain.sendall(first)
        with context.wrap_socket(plain, server_hostname="localhost") as secured:
            secured.sendall(request("/", headers="Connection: close\r\n"))
            said = b""
            while data := secured.recv(10_000):
                said += data
            return said.rpartition(b"\r\n\r\n")[2], secured.getpeercert(binary_form=True) or b""


@pytest.mark.parametrize("workers", [(), ("--workers", "2")])
def test_the_options_of_the_command_line(tarmac: Tarmac, authority: Authority, workers):
    certificate, key = authority.issue("localhost")
    options = ("--tls-cert", certificate, "--tls-key", key, "--tls-client-ca", authority.roots)
    process, port = tarmac(*options, "--tls-minimum", "1.3", "--proxy-protocol", *workers)
    assert "listening on https://" in process.output
    header = b"PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n"
    answer, shown = ask(port, authority.client(name="me.example"), header)
    assert b"https 192.0.2.1 True" == answer
    assert der(certificate) == shown
    assert 0 == process.stop()


def test_sighup_reads_the_certificates_again(tarmac: Tarmac, authority: Authority):
    certificate, key = authority.issue("localhost")
    process, port = tarmac("--tls-cert", certificate, "--tls-key", key)
    process.send(signal.SIGHUP)
    process.wait_for_line(f"read {certificate} and {key} again")
    authority.issue("localhost")
    process.send(signal.SIGHUP)
    wait_for(lambda: der(certificate) == ask(port, authority.client())[1], what="the new certificate")
    assert 0 == process.stop()


def test_new_workers_take_new_certificates_up(tarmac: Tarmac, authority: Authority):
    certificate, key = authority.issue("localhost")
    process, port = tarmac("--tls-cert", certificate, "--tls-key", key, "--workers", "1")
    assert der(certificate) == ask(port, authority.client())[1]
    authority.issue("localhost")
    process.send(signal.SIGHUP)
    process.wait_for_line(f"read {certificate} and {key} again")
    wait_for(lambda: der(certificate) == ask(port, authority.client())[1], what="the new certificate")
    assert 0 == process.stop()


def test_wrong_files_and_options_are_told(run_process, authority: Authority, tmp_path: Path):
    (tmp_path / "program.py").write_text(PROGRAM)
    certificate, key = authority.issue("localhost")
    for options, message in (
        (["--tls-key", key], "TLS needs a certificate: --tls-cert FILE --tls-key FILE"),
        (["--tls-cert", certificate], f"{certificate} holds no private key"),
        (["--tls-cert", tmp_path / "none", "--tls-key", key], f"{tmp_path / 'none'} cannot be read"),
    ):
        process = run_process(
            sys.executable, "-m", "tarmac", "run", "program:app", "--app-dir", tmp_path, "--port", "0", *options
        )
        assert 1 == process.wait()
        assert f"tarmac: {message}" in process.output
