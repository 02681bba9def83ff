"""The scenario on asynctnt. usage: client_asynctnt.py PORT [asyncio|uvloop]."""

import sys
from collections.abc import Awaitable
from typing import Any

import asynctnt
from loops import loop_factory
from scenario import BODY, ROWS, main


class Client:
    async def open(self, port: int) -> None:
        self._connection = await asynctnt.connect(host="127.0.0.1", port=port, ping_timeout=0)

    def ping(self, _number: int) -> Awaitable[Any]:
        return self._connection.ping()

    def select(self, number: int) -> Awaitable[Any]:
        return self._connection.select("rows", [number])

    def insert(self, number: int) -> Awaitable[Any]:
        return self._connection.insert("blobs", [number, BODY])

    def update(self, number: int) -> Awaitable[Any]:
        return self._connection.update("rows", [number % ROWS], [["+", 1, 1]])

    def delete(self, number: int) -> Awaitable[Any]:
        return self._connection.delete("crumbs", [number])

    def call(self, number: int) -> Awaitable[Any]:
        return self._connection.call("bench_add", [number, 1])

    def value(self, answer: Any) -> Any:
        return answer[0]


main(Client(), int(sys.argv[1]), loop_factory(sys.argv[2]))
