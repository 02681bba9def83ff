"""No connector at all: each operation is one bare future of the loop. What the scenario itself costs.

usage: client_future.py PORT [asyncio|uvloop]
"""

import asyncio
import sys
from collections.abc import Awaitable
from typing import Any

from loops import loop_factory
from scenario import main


class Client:
    async def open(self, _port: int) -> None:
        self._loop = asyncio.get_running_loop()

    def ping(self, _number: int) -> Awaitable[Any]:
        return self._answered(None)

    def select(self, number: int) -> Awaitable[Any]:
        return self._answered([(number, 0, f"row {number}")])

    def call(self, number: int) -> Awaitable[Any]:
        return self._answered(number + 1)

    def value(self, answer: Any) -> Any:
        return answer

    def _answered(self, value: Any) -> Awaitable[Any]:
        future = self._loop.create_future()
        self._loop.call_soon(future.set_result, value)
        return future


main(Client(), int(sys.argv[1]), loop_factory(sys.argv[2]))
