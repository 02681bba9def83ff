"""The connector scenario: the same operations, workers and stop for every connector. Commands come in as JSON lines.

A command is {"operation", "in_flight", "seconds", "limit"}; the answer is {"operations", "seconds"}.
The loop stands still between commands, so an idle client costs the others nothing.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Protocol

ROWS = 1000
BODY = "x" * 1500
ENDLESS = 1_000_000_000

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
    connector: Connector,
    operation: str,
    in_flight: int,
    seconds: float,
    limit: int | None,
) -> dict[str, float]:
    operate: Operate = getattr(connector, operation)
    work = _work_and_touch if operation == "select" else _work
    end = limit or ENDLESS
    # One iterator numbers the operations of all workers and ends them, at the least cost to the client.
    numbers = iter(range(end))
    asyncio.get_running_loop().call_later(seconds, numbers.__setstate__, end)
    started = time.perf_counter()
    done = await asyncio.gather(*(work(operate, numbers) for _ in range(in_flight)))
    return {"operations": sum(done), "seconds": time.perf_counter() - started}


async def _work(operate: Operate, numbers: Iterator[int]) -> int:
    done = 0
    for number in numbers:
        await operate(number)
        done += 1
    return done


async def _work_and_touch(operate: Operate, numbers: Iterator[int]) -> int:
    """Reads a field of each row: a connector that decodes late must decode too."""
    done = 0
    for number in numbers:
        rows = await operate(number % ROWS)
        if rows[0][0] != number % ROWS:
            raise AssertionError(f"row {number % ROWS} came back as {rows[0]}")
        done += 1
    return done


def answer(message: dict[str, Any]) -> None:
    print(json.dumps(message), flush=True)
