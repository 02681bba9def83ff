"""The scenario on tarmac.tarantool. usage: client_tarmac.py PORT [asyncio|uvloop]."""

import sys
from collections.abc import Awaitable
from typing import Any

from loops import loop_factory
from scenario import BODY, ROWS, main
from tarmac import tarantool as tnt


class Client:
    async def open(self, port: int) -> None:
        self._db = await tnt.connect(f"tarantool://127.0.0.1:{port}")
        self._rows, self._blobs, self._crumbs = (self._db.space(name) for name in ("rows", "blobs", "crumbs"))

    def ping(self, _number: int) -> Awaitable[Any]:
        return self._db.ping()

    def select(self, number: int) -> Awaitable[Any]:
        return self._rows.select((number,))

    def insert(self, number: int) -> Awaitable[Any]:
        return self._blobs.insert((number, BODY))

    def update(self, number: int) -> Awaitable[Any]:
        return self._rows.update((number % ROWS,), ["+", 1, 1])

    def delete(self, number: int) -> Awaitable[Any]:
        return self._crumbs.delete((number,))

    def call(self, number: int) -> Awaitable[Any]:
        return self._db.call("bench_add", number, 1)

    def value(self, answer: Any) -> Any:
        return answer


main(Client(), int(sys.argv[1]), loop_factory(sys.argv[2]))
