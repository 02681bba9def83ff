"""A running site: settings, store, templates, limits and the tasks that run beside requests."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, Final

from stickers.domain import Statistics, StoreUnavailable
from stickers.files import Static
from stickers.http import PageRequest, PageResponse
from stickers.limits import ADDRESS_FACTOR, RateLimit
from stickers.problems import Problem, problem_page
from stickers.settings import Settings
from stickers.stores import Store
from stickers.templates import Templates

Page = Callable[[PageRequest, Store], Awaitable[PageResponse]]

REFRESH_SECONDS: Final = 5.0
"""How old the About page's numbers may be."""

_log = logging.getLogger("stickers")


class Site:
    """Engines make one, `start` it in their loop, and let it `answer`."""

    def __init__(self, settings: Settings, store: Store, clock: Callable[[], float] = time.time) -> None:
        self.settings = settings
        self.store = store
        self.statistics = Statistics()
        self.templates = Templates()
        self.static = Static()
        self.session_votes = RateLimit(settings.rate_limit)
        self.address_votes = RateLimit(settings.rate_limit * ADDRESS_FACTOR)
        self.newcomers = RateLimit(settings.rate_limit * ADDRESS_FACTOR)
        self._clock = clock
        self._tasks: list[asyncio.Task[None]] = []

    def clock(self) -> int:
        """Seconds since 1970."""
        return int(self._clock())

    async def start(self) -> None:
        """Open the store; if it is down, start all the same and answer 503 until it is back."""
        with suppress(StoreUnavailable):
            await self.store.open()
            await self._refresh_statistics()
        self._run_every(REFRESH_SECONDS, self._refresh_statistics)
        if not self.store.expires_itself:
            self._run_every(REFRESH_SECONDS, self._expire)

    async def stop(self) -> None:
        """End the tasks, close the store."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()
        await self.store.close()

    async def answer(self, page: Page, request: PageRequest) -> PageResponse:
        """The page, or the page that says what went wrong. Never raises."""
        try:
            return await page(request, self.store)
        except Problem as problem:
            return problem_page(request, problem.status)
        except StoreUnavailable as error:
            _log.warning("%s: store unavailable: %r", request.path, error.__cause__)
            return problem_page(request, 503)
        except Exception:  # noqa: BLE001 - a defect of a page must not reach the visitor
            _log.exception("%s failed", request.path)
            return problem_page(request, 500)

    async def _refresh_statistics(self) -> None:
        self.statistics = await self.store.statistics()

    async def _expire(self) -> None:
        await self.store.expire(self.clock())

    def _run_every(self, seconds: float, job: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._tasks.append(asyncio.create_task(_forever(seconds, job)))


async def _forever(seconds: float, job: Callable[[], Coroutine[Any, Any, None]]) -> None:
    while True:
        await asyncio.sleep(seconds)
        try:
            await job()
        except StoreUnavailable as error:
            _log.warning("in the background: store unavailable: %r", error.__cause__)
        except Exception:  # noqa: BLE001 - statistics and expiry outlive every error
            _log.exception("a background job failed, it goes on")
