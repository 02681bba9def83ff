"""``RateLimit``: so many requests in so much time from each client; the others are answered 429."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

from tarmac.errors import ConfigurationError, TooManyRequests

if TYPE_CHECKING:
    from tarmac._native import Request
    from tarmac.http.routing import CallNext

__all__ = ["Buckets", "RateLimit"]


class Buckets:
    """Token buckets by key, at most *most* of them: the one that was used least recently goes first."""

    def __init__(self, rate: float, size: float, most: int, now: Callable[[], float] = monotonic) -> None:
        self._rate = rate
        self._size = size
        self._most = most
        self._now = now
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, and when there were so many

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, key: str) -> float:
        """Take a token: 0.0, or how many seconds until there will be one."""
        now = self._now()
        tokens, since = self._buckets.pop(key, (self._size, now))
        tokens = min(self._size, tokens + (now - since) * self._rate)
        wait = 0.0 if tokens >= 1 else (1 - tokens) / self._rate
        self._buckets[key] = (tokens if wait else tokens - 1, now)
        if len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
        return wait


class RateLimit:
    """Let *requests* pass in *per* seconds for each key, in bursts of up to *burst* (default: *requests*).

    ``key(request)`` says whose request it is, by default the client's address (put ``ProxyHeaders`` around
    this one behind a proxy); ``None`` is not limited. At most *most_keys* are remembered. What is too much is
    answered 429 with ``Retry-After``. Each worker process counts for itself.
    """

    def __init__(
        self,
        requests: float,
        per: float = 1.0,
        *,
        burst: float | None = None,
        key: Callable[[Request], str | None] | None = None,
        most_keys: int = 100_000,
        now: Callable[[], float] = monotonic,
    ) -> None:
        size = requests if burst is None else burst
        if requests <= 0 or per <= 0 or size < 1 or most_keys < 1:
            message = f"a rate is above zero and a burst at least one request: {requests} in {per} s, burst {size}"
            raise ConfigurationError(message)
        self.buckets = Buckets(requests / per, size, most_keys, now)
        self._key = key or _address

    async def __call__(self, request: Request, call_next: CallNext) -> Any:
        """Let the request pass, or refuse it."""
        key = self._key(request)
        if key is not None and (wait := self.buckets.take(key)) > 0:
            raise TooManyRequests(headers={"Retry-After": str(math.ceil(wait))})
        return await call_next(request)


def _address(request: Request) -> str | None:
    """The client's address; of IPv6 the network, since one client has all of it."""
    client = request.client
    if client is None:
        return None
    host = client[0]
    if ":" not in host:
        return host
    from ipaddress import IPv6Network  # noqa: PLC0415 - only clients of that kind need it

    return str(IPv6Network((host, 64), strict=False))
