"""The connector scenario: the same operations, workers and stop for every connector. Commands come in as JSON lines.

A command is {"operation", "in_flight", "seconds", "limit"}; the answer is {"operations", "seconds"}.
The loop stands still between commands, so an idle client costs the others nothing.
"""

import asyncio
import itertools
import json
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

ROWS = 1000
BODY = "x" * 1500

Operate = Callable[[int], Awaitable[Any]]


class Connector(Protocol):
    """One connection; every method takes a running number and returns an awaitable at once."""

    async def open(self, port: int) -> None: ...
    def ping(self, _number: int) -> Awaitable[Any]: ...
    def select(self, number: int) -> Awaitable[Any]: ...
    def insert(self, number: int) -> Awaitable[Any]: ...
    def update(self, number: int) -> Awaitable[Any]: ...
    def delete(self, number: int) -> Awaitable[Any]: ...
    def call(self, number: int) -> Awaitable[Any]: ...
    def value(self, answer: Any) -> Any: ...  # what the called procedure returned


def main(connector: Connector, port: int, loop_factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(connector.open(port))
        runner.run(prove(connector))
        answer({"ready": True})
        for line in sys.stdin:
            answer(runner.run(slot(connector, **json.loads(line))))


async def prove(connector: Connector) -> None:
    """The operations mean what they say, before any of them is counted."""
    rows = await connector.select(7)
    assert (rows[0][0], rows[0][2]) == (7, "row 7"), rows
    answer = connector.value(await connector.call(5))
    assert answer == 6, f"bench_add(5, 1) gave {answer}"


async def slot(
    connector: Connector, operation: str, in_flight: int, seconds: float, limit: int | None
) -> dict[str, float]:
    operate: Operate = getattr(connector, operation)
    work = _work_and_touch if operation == "select" else _work
    clock = Clock(limit or sys.maxsize)
    asyncio.get_running_loop().call_later(seconds, clock.stop)
    started = time.perf_counter()
    done = await asyncio.gather(*(work(operate, clock) for _ in range(in_flight)))
    return {"operations": sum(done), "seconds": time.perf_counter() - started}


class Clock:
    """Tells the workers when to stop and numbers their operations."""

    def __init__(self, limit: int) -> None:
        self.running = True
        self.limit = limit
        self.take = itertools.count().__next__

    def stop(self) -> None:
        self.running = False


async def _work(operate: Operate, clock: Clock) -> int:
    done = 0
    while clock.running and (number := clock.take()) < clock.limit:
        await operate(number)
        done += 1
    return done


async def _work_and_touch(operate: Operate, clock: Clock) -> int:
    """Reads a field of each row: a connector that decodes late must decode too."""
    done = 0
    while clock.running:
        number = clock.take() % ROWS
        rows = await operate(number)
        if rows[0][0] != number:
            raise AssertionError(f"row {number} came back as {rows[0]}")
        done += 1
    return done


def answer(message: dict[str, Any]) -> None:
    print(json.dumps(message), flush=True)
