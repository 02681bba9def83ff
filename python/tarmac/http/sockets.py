"""Listening sockets: TCP, Unix, or inherited. Bound here, listening only when the program is ready.

Every worker binds its own socket to the same port (SO_REUSEPORT): the kernel spreads connections, and a
nested epoll cannot use EPOLLEXCLUSIVE.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import socket
import struct
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tarmac.errors import ConfigurationError

__all__ = ["Address", "bind", "check_free", "let_in", "turn_away", "waiting"]

# RFC 9293 section 3.1: in a TCP header, byte 13 holds the flags; a connection begins with SYN and no ACK.
_SYN_ALONE = (
    (0x30, 0, 0, 13),  # load the flags
    (0x54, 0, 0, 0x12),  # keep SYN and ACK
    (0x15, 0, 1, 0x02),  # SYN alone?
    (0x06, 0, 0, 0),  # drop it: the client asks again
    (0x06, 0, 0, 0xFFFFFFFF),
)
# Bytes that the kernel takes beyond what the client has room for. Without a bound it takes megabytes for each
# slow reader, and some hundred of them exhaust the TCP memory of the whole machine.
_UNSENT = 256 * 1024
_SO_ATTACH_FILTER, _SO_DETACH_FILTER = 26, 27  # not in the socket module


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen: one of TCP (*host* and *port*), a Unix socket path, or inherited descriptors.

    ``uds_mode`` are the rights of a Unix socket (``0o660``), ``uds_owner`` is ``user``, ``user:group`` or
    ``:group``. ``reuse_port`` allows a port on which other servers of the same user listen already.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    uds: str | None = None
    fd: int | tuple[int, ...] | None = None
    backlog: int = field(default=2048, kw_only=True)
    uds_mode: int | None = field(default=None, kw_only=True)
    uds_owner: str | None = field(default=None, kw_only=True)
    reuse_port: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.uds is not None and self.fd is not None:
            message = "listen on a Unix socket or on an inherited descriptor, not on both"
            raise ConfigurationError(message)
        if not 0 <= self.port <= 65535:  # noqa: PLR2004 - 16 bits
            message = f"a port is 0 to 65535, not {self.port}"
            raise ConfigurationError(message)
        if self.uds is None and (self.uds_mode is not None or self.uds_owner is not None):
            message = "a mode and an owner are a Unix socket's: say uds too"
            raise ConfigurationError(message)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The inherited descriptors."""
        return (self.fd,) if isinstance(self.fd, int) else self.fd or ()

    @property
    def shared(self) -> bool:
        """Whether workers share one socket because it cannot be bound twice."""
        return self.uds is not None or self.fd is not None

    def url(self, port: int, *, secure: bool = False) -> str:
        """What to tell people, where TCP was really bound to *port*."""
        if self.uds is not None:
            return f"unix:{self.uds}"
        if self.fd is not None:
            return f"fd {' '.join(map(str, self.descriptors))}"
        host = f"[{self.host}]" if ":" in self.host else self.host or "0.0.0.0"  # noqa: S104 - told, not bound
        return f"{'https' if secure else 'http'}://{host}:{port}"


def bind(address: Address) -> list[socket.socket]:
    """Sockets bound to *address*; a name such as localhost may have several, all on one port.

    Raises ``OSError`` naming the address when it cannot be had.
    """
    if address.fd is not None:
        return [_inherited(descriptor) for descriptor in address.descriptors]
    if address.uds is not None:
        return [_unix(address.uds, address.uds_mode, address.uds_owner)]
    return _tcp(address.host, address.port)


def check_free(address: Address) -> None:
    """Raise ``OSError`` when somebody listens there already.

    With SO_REUSEPORT two servers of one user would both be given the port, and half the requests each.
    """
    if address.shared or address.port == 0 or address.reuse_port:
        return
    for one in _tcp(address.host, address.port, reuse_port=False):
        one.close()


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


def turn_away(listening: Sequence[socket.socket]) -> None:
    """Let nobody begin a connection any more, without a reset for those who have begun.

    A listening socket that is closed resets what waits in its queue. So the queue is closed at its
    entrance first: a Unix socket loses its name (see ``remove_unix``), TCP drops the first packet.
    """
    code = array("B", b"".join(struct.pack("HBBI", *line) for line in _SYN_ALONE))
    program = struct.pack("HxxxxxxP", len(_SYN_ALONE), code.buffer_info()[0])
    for one in listening:
        if one.family in {socket.AF_INET, socket.AF_INET6}:
            with contextlib.suppress(OSError):  # forbidden in some containers: then a reset may happen
                one.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)


def let_in(listening: Sequence[socket.socket]) -> None:
    """Take `turn_away` back."""
    for one in listening:
        with contextlib.suppress(OSError):  # there was nothing to take back
            one.setsockopt(socket.SOL_SOCKET, _SO_DETACH_FILTER, 0)


def waiting(listening: Sequence[socket.socket]) -> bool:
    """Whether connections wait to be accepted."""
    poller = select.poll()
    for one in listening:
        poller.register(one, select.POLLIN)
    return bool(poller.poll(0))


def _tcp(host: str, port: int, *, reuse_port: bool = True) -> list[socket.socket]:
    found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    sockets: list[socket.socket] = []
    try:
        for family, kind, protocol, _, where in dict.fromkeys(found):
            sockets.append(_bound(family, kind, protocol, (where[0], port, *where[2:]), reuse_port=reuse_port))
            port = port or port_of(sockets)
    except OSError as error:
        for one in sockets:
            one.close()
        message = f"cannot listen on {host or '*'}:{port}: {error.strerror}"
        raise OSError(error.errno, message) from None
    return sockets


def _bound(family: int, kind: int, protocol: int, where: tuple[object, ...], *, reuse_port: bool) -> socket.socket:
    one = socket.socket(family, kind, protocol)
    try:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, reuse_port)
        _tune(one)
        if family == socket.AF_INET6:
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        one.setblocking(False)  # noqa: FBT003 - the standard library calls it so
        one.bind(where)
    except BaseException:
        one.close()
        raise
    return one


def _tune(one: socket.socket) -> None:
    """What accepted connections inherit from the socket that they came by."""
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _UNSENT)


def _unix(path: str, mode: int | None, owner: str | None) -> socket.socket:
    _remove_stale(path)
    one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with contextlib.ExitStack() as undo:
        undo.callback(one.close)
        try:
            one.setblocking(False)  # noqa: FBT003 - the standard library calls it so
            one.bind(path)
            undo.callback(remove_unix, path)
            # Nobody can connect before it listens: no moment with the wrong rights.
            if owner is not None:
                _give(path, owner)
            if mode is not None:
                Path(path).chmod(mode)
        except OSError as error:
            message = f"cannot listen on {path}: {error.strerror}"
            raise OSError(error.errno, message) from None
        undo.pop_all()
    return one


def _give(path: str, owner: str) -> None:
    user, _, group = owner.partition(":")
    try:
        shutil.chown(path, user or None, group or None)  # type: ignore[arg-type]
    except (LookupError, ValueError) as error:
        message = f"cannot give {path} to {owner!r}: {error}"
        raise ConfigurationError(message) from None


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
    if one.family in {socket.AF_INET, socket.AF_INET6}:
        _tune(one)
    return one
