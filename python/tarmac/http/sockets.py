"""Listening sockets: TCP, Unix, or inherited. Bound here, listening only when the program is ready.

Every worker binds its own socket to the same port (SO_REUSEPORT): the kernel spreads connections, and a
nested epoll cannot use EPOLLEXCLUSIVE.
"""

from __future__ import annotations

import contextlib
import os
import socket
from dataclasses import dataclass, field
from pathlib import Path

from tarmac.errors import ConfigurationError

__all__ = ["Address", "bind"]


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen: one of TCP (*host* and *port*), a Unix socket path, or an inherited descriptor."""

    host: str = "127.0.0.1"
    port: int = 8080
    uds: str | None = None
    fd: int | None = None
    backlog: int = field(default=2048, kw_only=True)

    def __post_init__(self) -> None:
        if self.uds is not None and self.fd is not None:
            message = "listen on a Unix socket or on an inherited descriptor, not on both"
            raise ConfigurationError(message)
        if not 0 <= self.port <= 65535:  # noqa: PLR2004 - 16 bits
            message = f"a port is 0 to 65535, not {self.port}"
            raise ConfigurationError(message)

    @property
    def shared(self) -> bool:
        """Whether workers share one socket because it cannot be bound twice."""
        return self.uds is not None or self.fd is not None

    def url(self, port: int) -> str:
        """What to tell people, where TCP was really bound to *port*."""
        if self.uds is not None:
            return f"unix:{self.uds}"
        if self.fd is not None:
            return f"fd {self.fd}"
        host = f"[{self.host}]" if ":" in self.host else self.host or "0.0.0.0"  # noqa: S104 - told, not bound
        return f"http://{host}:{port}"


def bind(address: Address) -> list[socket.socket]:
    """Sockets bound to *address*; a name such as localhost may have several, all on one port.

    Raises ``OSError`` naming the address when it cannot be had.
    """
    if address.fd is not None:
        return [_inherited(address.fd)]
    if address.uds is not None:
        return [_unix(address.uds)]
    return _tcp(address.host, address.port)


def port_of(sockets: list[socket.socket]) -> int:
    """The port that TCP sockets were bound to; 0 for others."""
    for one in sockets:
        if one.family in {socket.AF_INET, socket.AF_INET6}:
            return int(one.getsockname()[1])
    return 0


def remove_unix(path: str) -> None:
    """Take the name of a Unix socket away."""
    with contextlib.suppress(FileNotFoundError):
        Path(path).unlink()


def _tcp(host: str, port: int) -> list[socket.socket]:
    found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    sockets: list[socket.socket] = []
    try:
        for family, kind, protocol, _, where in dict.fromkeys(found):
            sockets.append(_bound(family, kind, protocol, (where[0], port, *where[2:])))
            port = port or port_of(sockets)
    except OSError as error:
        for one in sockets:
            one.close()
        message = f"cannot listen on {host or '*'}:{port}: {error.strerror}"
        raise OSError(error.errno, message) from None
    return sockets


def _bound(family: int, kind: int, protocol: int, where: tuple[object, ...]) -> socket.socket:
    one = socket.socket(family, kind, protocol)
    try:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if family == socket.AF_INET6:
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        one.setblocking(False)  # noqa: FBT003 - the standard library calls it so
        one.bind(where)
    except BaseException:
        one.close()
        raise
    return one


def _unix(path: str) -> socket.socket:
    _remove_stale(path)
    one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        one.setblocking(False)  # noqa: FBT003 - the standard library calls it so
        one.bind(path)
    except OSError as error:
        one.close()
        message = f"cannot listen on {path}: {error.strerror}"
        raise OSError(error.errno, message) from None
    return one


def _remove_stale(path: str) -> None:
    """Remove a socket that nobody listens on any more; leave everything else in place."""
    if not Path(path).is_socket():
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            remove_unix(path)


def _inherited(fd: int) -> socket.socket:
    try:
        one = socket.socket(fileno=os.dup(fd))
    except OSError as error:
        message = f"descriptor {fd} is not a socket: {error.strerror}"
        raise OSError(error.errno, message) from None
    one.setblocking(False)  # noqa: FBT003 - the standard library calls it so
    return one
