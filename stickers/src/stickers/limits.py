"""How often one session or one address may vote: token buckets in bounded memory."""

from collections import OrderedDict
from collections.abc import Callable
from time import monotonic
from typing import Final

MOST_KEYS: Final = 50_000
ADDRESS_FACTOR: Final = 20
"""An address may stand for a whole office: it may do so many times what one session may."""


class RateLimit:
    """`per_minute` for every key, with a minute's worth at once; 0 lets everything through."""

    __slots__ = ("_buckets", "_clock", "_per_minute")

    def __init__(self, per_minute: float, clock: Callable[[], float] = monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, key: str) -> bool:
        """Take one from the bucket of `key`; False if it is empty."""
        if not self._per_minute:
            return True
        now = self._clock()
        filled, at = self._buckets.pop(key, (self._per_minute, now))
        filled = min(self._per_minute, filled + (now - at) * self._per_minute / 60)
        allowed = filled >= 1
        self._buckets[key] = (filled - 1 if allowed else filled, now)
        if len(self._buckets) > MOST_KEYS:
            self._buckets.popitem(last=False)
        return allowed

    def __len__(self) -> int:
        return len(self._buckets)
