"""What systemd hands over and hears."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest
from tarmac.http.notify import Notifier, listen_descriptors

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        ({}, ()),
        ({"LISTEN_FDS": "1"}, ()),
        ({"LISTEN_PID": "1", "LISTEN_FDS": "1"}, ()),
        ({"LISTEN_PID": "us", "LISTEN_FDS": "many"}, ()),
    ],
)
def test_descriptors_of_others_are_not_ours(monkeypatch, environment, found):
    for name, value in environment.items():
        monkeypatch.setenv(name, value.replace("us", str(os.getpid())))
    assert found == listen_descriptors()
    assert "LISTEN_FDS" not in os.environ, "a child must not take them for its own"


def test_a_notifier_speaks_to_the_socket_it_was_given(monkeypatch, tmp_path: Path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        monkeypatch.setenv("WATCHDOG_USEC", "3000000")
        notifier = Notifier()
        assert 1.5 == notifier.watchdog
        for say in (notifier.ready, notifier.reloading, notifier.stopping, notifier.alive):
            say()
        said = [manager.recv(100).decode() for _ in range(4)]
    assert ["READY=1", "STOPPING=1", "WATCHDOG=1"] == [said[0], *said[2:]]
    assert said[1].startswith("RELOADING=1\nMONOTONIC_USEC=")
    notifier.alive()  # the manager has gone: nobody minds


def test_an_abstract_socket_is_found_too(monkeypatch):
    name = f"tarmac-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(f"\0{name}")
        monkeypatch.setenv("NOTIFY_SOCKET", f"@{name}")
        Notifier().ready()
        assert b"READY=1" == manager.recv(100)


def test_without_a_manager_nothing_is_said(monkeypatch):
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    monkeypatch.delenv("WATCHDOG_USEC", raising=False)
    notifier = Notifier()
    notifier.ready()
    assert notifier.watchdog is None
