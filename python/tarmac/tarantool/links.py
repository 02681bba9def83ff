"""Makes the native link of a target, once its addresses are known."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

from tarmac._native import Link, Reactor
from tarmac.tarantool.errors import NetworkError, error_for

if TYPE_CHECKING:
    from tarmac.tarantool.address import Options, Target

Address = tuple[str, int] | str

__all__ = ["Address", "fixed_address", "looked_up", "make_link", "not_found"]


def make_link(reactor: Reactor, addresses: list[Address], target: Target, options: Options, loop: object) -> Link:
    """A link that opens a socket at its first query; *loop* is None where there is no asyncio."""
    return Link(
        reactor,
        addresses,
        user=target.user,
        password=target.password,
        loop=loop,
        errors=error_for,
        in_flight=options.in_flight,
        timeout=options.timeout,
        connect_timeout=options.connect_timeout,
        reconnect_min=options.reconnect_min,
        reconnect_max=options.reconnect_max,
        fail_fast=options.fail_fast,
        max_packet=options.max_packet,
    )


def fixed_address(target: Target) -> list[Address] | None:
    """The address of a target that needs no look-up, or None."""
    if target.path is not None:
        return [target.path]
    if target.host is not None and target.numeric:
        return [(target.host, target.port)]
    return None


def looked_up(found: list[tuple[Any, ...]]) -> list[Address]:
    """What ``getaddrinfo`` found, each address once."""
    return list(dict.fromkeys((str(where[0]), int(where[1])) for *_, where in found))


def not_found(target: Target, error: OSError) -> NetworkError:
    """What to raise when the name of *target* has no address."""
    return NetworkError(f"{target.host} cannot be looked up: {error.strerror or error}")


def look_up_now(target: Target) -> list[Address]:
    """The addresses of *target*, for code that may block; gevent patches ``socket`` where it is asked to."""
    fixed = fixed_address(target)
    if fixed is not None:
        return fixed
    try:
        return looked_up(socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM))
    except OSError as error:
        raise not_found(target, error) from error
