"""``ProxyHeaders``: who the client really is, told by proxies that are trusted, and by no one else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Any, Literal

from tarmac.errors import ConfigurationError

if TYPE_CHECKING:
    from tarmac._native import Request
    from tarmac.http.routing import CallNext

__all__ = ["ProxyHeaders"]

Network = IPv4Network | IPv6Network
# One pair of RFC 7239: a token, and a token or a quoted string; then what separates it from the next.
_PAIR = re.compile(r'\s*([!#$%&\'*+.^_`|~0-9A-Za-z-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]+))\s*(;|,|$)')
_HOST = re.compile(r"[A-Za-z0-9.-]+(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?")


@dataclass(frozen=True, slots=True)
class _Hop:
    """What one proxy says of whoever connected to it."""

    client: tuple[str, int] | None
    scheme: str | None = None
    host: str | None = None


class ProxyHeaders:
    """Take ``request.client``, ``.scheme`` and ``.host`` from what the proxies in front say.

    ``trusted`` are the addresses and networks of the proxies, and ``"unix"`` for whoever comes by a Unix
    socket. The chain is read from its near end: the client is the last address that is not a trusted proxy,
    whatever else stands before it. ``use`` is the kind of header that your proxy sets: the other one would
    be the client's own invention.
    """

    def __init__(
        self,
        *,
        trusted: Sequence[str] = ("127.0.0.1", "::1"),
        use: Literal["x-forwarded", "forwarded"] = "x-forwarded",
    ) -> None:
        if use not in {"x-forwarded", "forwarded"}:
            message = f'use is "x-forwarded" or "forwarded", not {use!r}'
            raise ConfigurationError(message)
        self._networks = [_network(one) for one in trusted if one != "unix"]
        self._trusts_unix = "unix" in trusted
        self._read = _forwarded if use == "forwarded" else _x_forwarded

    async def __call__(self, request: Request, call_next: CallNext) -> Any:
        """Tell the request where it came from."""
        peer = request.client
        if self._trusts_unix if peer is None else self._trusts(peer[0]):
            hop = self._first_untrusted(self._read(request))
            if hop is not None:
                request.override(client=hop.client, scheme=hop.scheme, host=hop.host)
        return await call_next(request)

    def _first_untrusted(self, hops: Iterator[_Hop]) -> _Hop | None:
        """From the near end on: the first whose client is no proxy of ours, or the last that can be read."""
        found = None
        for hop in hops:
            if hop.client is None and found is not None:
                break  # an invented name: what stands before it is as little to be believed
            found = hop
            if hop.client is None or not self._trusts(hop.client[0]):
                break
        return found

    def _trusts(self, address: str) -> bool:
        parsed = _address(address)
        return parsed is not None and any(parsed in network for network in self._networks)


def _x_forwarded(request: Request) -> Iterator[_Hop]:
    """The hops that X-Forwarded-For, -Proto and -Host tell of, the nearest first."""
    clients = _list(request, "x-forwarded-for")
    schemes, hosts = _list(request, "x-forwarded-proto"), _list(request, "x-forwarded-host")
    for place in range(max(len(clients), 1)):
        client = _node(clients[-1 - place]) if clients else None
        yield _Hop(client, _scheme(_beside(schemes, clients, place)), _host(_beside(hosts, clients, place)))


def _beside(values: list[str], clients: list[str], place: int) -> str | None:
    """What belongs to the same hop: lists of equal length run side by side, else the nearest proxy's word counts."""
    if not values:
        return None
    return values[-1 - place] if len(values) == len(clients) else values[-1]


def _forwarded(request: Request) -> Iterator[_Hop]:
    """The hops of ``Forwarded`` (RFC 7239), the nearest first; nothing of one that is malformed."""
    elements = _parsed(", ".join(request.headers.get_all("forwarded")))
    for element in reversed(elements):
        yield _Hop(_node(element.get("for", "")), _scheme(element.get("proto")), _host(element.get("host")))


def _parsed(value: str) -> list[dict[str, str]]:
    elements: list[dict[str, str]] = [{}]
    place = 0
    while place < len(value):
        match = _PAIR.match(value, place)
        if match is None:
            return []
        name, quoted, token, separator = match.groups()
        text = token if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        elements[-1][name.lower()] = text
        if separator == ",":
            elements.append({})
        place = match.end()
    return [element for element in elements if element]


def _list(request: Request, name: str) -> list[str]:
    values = ",".join(request.headers.get_all(name))
    return [value.strip() for value in values.split(",")] if values else []


def _node(text: str) -> tuple[str, int] | None:
    """An address and its port, 0 if there is none; ``None`` for ``unknown``, ``_hidden`` and nonsense."""
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        port = rest.removeprefix(":")
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
    else:
        host, port = text, ""
    parsed = _address(host)
    if parsed is None:
        return None
    number = int(port) if port.isascii() and port.isdigit() else 0
    return str(parsed), number if number < 1 << 16 else 0


def _scheme(text: str | None) -> str | None:
    lowered = (text or "").lower()
    return lowered if lowered in {"http", "https"} else None


def _host(text: str | None) -> str | None:
    return text if text and _HOST.fullmatch(text) else None


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        parsed = ip_address(text)
    except ValueError:
        return None
    return getattr(parsed, "ipv4_mapped", None) or parsed


def _network(text: str) -> Network:
    try:
        return ip_network(text)
    except ValueError as error:
        message = f'a trusted proxy is an address, a network such as 10.0.0.0/8, or "unix": {error}'
        raise ConfigurationError(message) from None
