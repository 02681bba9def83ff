"""Where a database is and how to reach it, from a URL.

::

    tarantool://user:password@host:3301?timeout=1
    unix:/run/tarantool.sock          unix://user:password@/run/tarantool.sock
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field, fields, replace
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from tarmac.tarantool.errors import NotSupported, UsageError

__all__ = ["Options", "Target", "parse"]

_DEFAULT_PORT = 3301
_TRUE, _FALSE = frozenset({"1", "true", "yes", "on"}), frozenset({"0", "false", "no", "off"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a connection behaves; each is a keyword of ``connect`` and a parameter of the URL."""

    timeout: float | None = None  # seconds for a query, its wait for a connection included; None: no end
    connect_timeout: float = 5.0  # seconds for one attempt to connect
    in_flight: int = 512  # queries on their way; more wait. A 2.6 server handles 768 for all its clients
    reconnect_min: float = 0.05  # seconds before the second attempt; doubles, with jitter
    reconnect_max: float = 2.0
    fail_fast: bool = False  # without a connection queries fail at once instead of waiting
    max_packet: int = 256 * 1024 * 1024  # bytes of one reply


@dataclass(frozen=True, slots=True)
class Target:
    """One server: a host and port or a Unix socket, and who we are there."""

    host: str | None = None
    port: int = _DEFAULT_PORT
    path: str | None = None
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    @property
    def numeric(self) -> bool:
        """Whether the host needs no look-up."""
        if self.host is None:
            return True
        try:
            ipaddress.ip_address(self.host)
        except ValueError:
            return False
        return True

    def __str__(self) -> str:
        """The URL without the password."""
        who = f"{self.user}@" if self.user else ""
        if self.path is not None:
            return f"unix://{who}{self.path}" if who else f"unix:{self.path}"
        host = f"[{self.host}]" if self.host and ":" in self.host else self.host
        return f"tarantool://{who}{host}:{self.port}"


def parse(url: str, options: dict[str, Any]) -> tuple[Target, Options]:
    """The target and options of *url*; keywords win over the URL's parameters.

    Raises ``UsageError`` that says what is wrong, and ``NotSupported`` for TLS.
    """
    parts = urlsplit(url)
    given = {**_parameters(parts.query), **options}
    user = given.pop("user", None) or (unquote(parts.username) if parts.username else None)
    password = given.pop("password", None) or (unquote(parts.password) if parts.password else None)
    target = replace(_where(url, parts), user=user, password=password)
    unknown = given.keys() - {one.name for one in fields(Options)}
    if unknown:
        message = f"connect has no option {', '.join(sorted(unknown))}"
        raise UsageError(message)
    return target, _checked(Options(**given))


def _where(url: str, parts: SplitResult) -> Target:
    if parts.scheme == "tarantools":
        message = "tarantools:// (TLS) comes with a later release; tarantool:// is plain TCP"
        raise NotSupported(message)
    if parts.scheme == "unix":
        if not parts.path:
            message = f"unix: needs a path, such as unix:/run/tarantool.sock: {url!r}"
            raise UsageError(message)
        return Target(path=unquote(parts.path))
    if parts.scheme != "tarantool":
        message = f"a database URL starts with tarantool:// or unix:, not {url!r}"
        raise UsageError(message)
    if parts.path.strip("/"):
        message = f"a Tarantool has no databases to choose from: {parts.path!r} means nothing"
        raise UsageError(message)
    try:
        return Target(host=parts.hostname or "127.0.0.1", port=parts.port or _DEFAULT_PORT)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _parameters(query: str) -> dict[str, Any]:
    kinds = {one.name: one.type for one in fields(Options)}
    try:
        return {name: _converted(name, value, str(kinds.get(name, "str"))) for name, value in parse_qsl(query)}
    except ValueError as error:
        raise UsageError(str(error)) from None


def _converted(name: str, value: str, kind: str) -> Any:
    if kind == "bool":
        if value.lower() in _TRUE | _FALSE:
            return value.lower() in _TRUE
        message = f"{name} is true or false, not {value!r}"
        raise ValueError(message)
    if kind == "int":
        return int(value)
    if kind.startswith("float"):
        return float(value)
    return value


def _checked(options: Options) -> Options:
    for name in ("timeout", "connect_timeout", "in_flight", "reconnect_min", "reconnect_max", "max_packet"):
        value = getattr(options, name)
        if value is not None and value <= 0:
            message = f"{name} is above 0, not {value}"
            raise UsageError(message)
    return options
