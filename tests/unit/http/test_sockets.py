"""Listening sockets: who gets the port, who gets the blame."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest
from tarmac import ConfigurationError
from tarmac.http.sockets import Address, bind, port_of

if TYPE_CHECKING:
    from pathlib import Path


def test_port_zero_becomes_a_real_one_and_two_may_share_it():
    (first,) = bind(Address("127.0.0.1", 0))
    (second,) = bind(Address("127.0.0.1", port_of([first])))
    with first, second:
        assert first.getsockname() == second.getsockname()
        assert first.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1


def test_a_taken_port_is_named():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1:{port}: Address already in use"):
            bind(Address("127.0.0.1", port))


def test_a_stale_unix_socket_is_replaced_a_live_one_is_not(tmp_path: Path):
    path = tmp_path / "x.sock"
    bind(Address(uds=str(path)))[0].close()
    (again,) = bind(Address(uds=str(path)))
    with again:
        again.listen()
        with pytest.raises(OSError, match="cannot listen"):
            bind(Address(uds=str(path)))


def test_a_file_is_not_removed_for_a_socket(tmp_path: Path):
    path = tmp_path / "precious"
    path.write_text("data")
    with pytest.raises(OSError, match="cannot listen"):
        bind(Address(uds=str(path)))
    assert path.read_text() == "data"


def test_an_inherited_socket_is_used_and_stays_the_callers():
    with socket.create_server(("127.0.0.1", 0)) as given:
        (mine,) = bind(Address(fd=given.fileno()))
        assert given.getsockname() == mine.getsockname()
        mine.close()
        assert given.getsockname()


def test_a_descriptor_that_is_no_socket_is_named(tmp_path: Path):
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(OSError, match=f"descriptor {descriptor} is not a socket"):
            bind(Address(fd=descriptor))
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("wrong", [{"port": 65536}, {"port": -1}, {"uds": "x", "fd": 3}])
def test_an_address_that_cannot_be_is_refused(wrong):
    with pytest.raises(ConfigurationError):
        Address(**wrong)


@pytest.mark.parametrize(
    ("address", "url"),
    [
        (Address("127.0.0.1", 0), "http://127.0.0.1:81"),
        (Address("::1", 0), "http://[::1]:81"),
        (Address(uds="/x.sock"), "unix:/x.sock"),
        (Address(fd=3), "fd 3"),
    ],
)
def test_an_address_tells_where_it_is(address, url):
    assert url == address.url(81)
