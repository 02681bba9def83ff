"""Listening sockets: who gets the port, who gets the blame."""

from __future__ import annotations

import grp
import os
import pwd
import socket
import stat
from typing import TYPE_CHECKING

import pytest
from tarmac import ConfigurationError
from tarmac.http.sockets import Address, bind, check_free, let_in, port_of, turn_away, waiting

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


@pytest.mark.parametrize(
    "wrong", [{"port": 65536}, {"port": -1}, {"uds": "x", "fd": 3}, {"uds_mode": 0o660}, {"uds_owner": "me"}]
)
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


@pytest.mark.parametrize("inherited", [False, True])
def test_the_kernel_does_not_hold_megabytes_for_a_slow_reader(inherited):
    """Accepted connections inherit it from the listening socket; also from one that somebody else opened."""
    with socket.create_server(("127.0.0.1", 0)) as given:
        (mine,) = bind(Address(fd=given.fileno()) if inherited else Address(port=0))
        with mine:
            mine.listen()
            with socket.create_connection(mine.getsockname()):
                mine.settimeout(5)
                accepted, _ = mine.accept()
                with accepted:
                    assert 256 * 1024 == accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT)
                    assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_port_where_somebody_listens_is_told_unless_it_may_be_shared():
    (first,) = bind(Address(port=0))
    with first:
        port = port_of([first])
        check_free(Address(port=port))
        first.listen()
        with pytest.raises(OSError, match="Address already in use"):
            check_free(Address(port=port))
        check_free(Address(port=port, reuse_port=True))
        check_free(Address(port=0))


def test_who_is_turned_away_tries_again_and_who_was_let_in_stays():
    (listening,) = bind(Address(port=0))
    with listening:
        listening.listen()
        with socket.create_connection(listening.getsockname()):
            assert waiting([listening])
            turn_away([listening])
            with pytest.raises(TimeoutError):
                socket.create_connection(listening.getsockname(), timeout=0.2)
            listening.accept()[0].close()
            assert not waiting([listening])
        let_in([listening])
        let_in([listening])
        socket.create_connection(listening.getsockname(), timeout=5).close()
        assert waiting([listening])


def test_a_unix_socket_gets_its_mode_and_owner(tmp_path: Path):
    path = tmp_path / "x.sock"
    owner = f"{pwd.getpwuid(os.getuid()).pw_name}:{grp.getgrgid(os.getgid()).gr_name}"
    with bind(Address(uds=str(path), uds_mode=0o640, uds_owner=owner))[0]:
        assert 0o640 == stat.S_IMODE(path.stat().st_mode)
        assert (os.getuid(), os.getgid()) == (path.stat().st_uid, path.stat().st_gid)


def test_an_owner_that_is_nobody_is_told_and_leaves_no_socket(tmp_path: Path):
    path = tmp_path / "x.sock"
    with pytest.raises(ConfigurationError, match=r"cannot give .* to 'nobody-of-that-name'"):
        bind(Address(uds=str(path), uds_owner="nobody-of-that-name"))
    assert not path.exists()
