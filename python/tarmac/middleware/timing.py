"""``Timing``: how long the answer took and what of it, in ``Server-Timing`` for a browser's tools."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from time import perf_counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tarmac._native import Request, Response
    from tarmac.http.routing import CallNext

__all__ = ["Timing", "Timings"]

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class Timings:
    """The parts of one request that were measured: ``with request.state.timings.measure("db"): ...``."""

    def __init__(self) -> None:
        self.started = perf_counter()
        self._parts: dict[str, float] = {}

    @contextlib.contextmanager
    def measure(self, name: str) -> Iterator[None]:
        """Add the time of a block to the part called *name*."""
        started = perf_counter()
        try:
            yield
        finally:
            self.add(name, perf_counter() - started)

    def add(self, name: str, seconds: float) -> None:
        """Add *seconds* to the part called *name*. Raises ``ValueError`` for what is no token."""
        if not _TOKEN.fullmatch(name):
            message = f"a part of a timing is named by letters, digits and dashes, not {name!r}"
            raise ValueError(message)
        self._parts[name] = self._parts.get(name, 0.0) + seconds

    def line(self, total: str) -> str:
        """The value of ``Server-Timing``, in milliseconds."""
        parts = {total: perf_counter() - self.started, **self._parts}
        return ", ".join(f"{name};dur={seconds * 1000:.1f}" for name, seconds in parts.items())


class Timing:
    """Tell in ``Server-Timing`` how long the answer took, under the name *total*, and its measured parts."""

    def __init__(self, *, total: str = "total") -> None:
        self._total = total

    async def __call__(self, request: Request, call_next: CallNext) -> Any:
        """Measure."""
        request.state.timings = Timings()
        response = await call_next(request)
        self.decorate(request, response)
        return response

    def decorate(self, request: Request, response: Response) -> None:
        """Put what was measured on *response*."""
        if (timings := getattr(request.state, "timings", None)) is not None:
            response.headers.append("Server-Timing", timings.line(self._total))
