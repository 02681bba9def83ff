"""``TrustedHosts``: requests for other names than one's own are refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tarmac.errors import BadRequest, ConfigurationError

if TYPE_CHECKING:
    from tarmac._native import Request
    from tarmac.http.routing import CallNext

__all__ = ["TrustedHosts"]


class TrustedHosts:
    """Answer 400 where ``Host`` is not one of *hosts*: exact names, or ``*.example.org`` for all below it.

    A name in ``Host`` that the program puts into links and mails must be one that it knows.
    """

    def __init__(self, hosts: Sequence[str]) -> None:
        if isinstance(hosts, str) or not hosts:
            message = f'TrustedHosts takes a list such as ["example.org", "*.example.org"], not {hosts!r}'
            raise ConfigurationError(message)
        for host in hosts:
            if "*" in host.removeprefix("*.") or "/" in host:
                message = f"a host is a name, or *.name for all below it: {host!r}"
                raise ConfigurationError(message)
        self._exact = {host.lower() for host in hosts if not host.startswith("*.")}
        self._below = tuple(host[1:].lower() for host in hosts if host.startswith("*."))

    async def __call__(self, request: Request, call_next: CallNext) -> Any:
        """Let the request pass, if it is for us."""
        name = _without_port(request.host)
        if name in self._exact or (self._below and name.endswith(self._below)):
            return await call_next(request)
        raise BadRequest("this host is not served here")


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    if colon and port.isdigit():
        host = name
    return host.removesuffix(".").lower()
