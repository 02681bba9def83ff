"""Cancelled, failing or waiting: a handler goes the same way in light tasks as in plain ones.

Each story is told twice, once for each way, and what happened must be the same.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from typing import Any

import anyio
import pytest
from support.http import Wire, request
from support.loops import LOOPS
from tarmac import App, serve, stream

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(sys.version_info >= (3, 14), reason="from 3.14 on every task is a plain one"),
]


class Story:
    """What a handler does and what is seen of it."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.task: asyncio.Task[Any] | None = None

    def begin(self, look: Any) -> asyncio.Task[Any]:
        """Keep the task, and look at it if that is wanted."""
        self.task = task = asyncio.current_task()
        if look:
            look(task)
        return task

    async def watch(self, name: str, awaited: Any) -> Any:
        """Await, and tell how that ended."""
        try:
            result = await awaited
        except BaseException as error:
            # anyio says which task it was.
            self.events.append((name, type(error).__name__, str(error).partition(" via ")[0]))
            raise
        self.events.append((name, result))
        return result


async def cancels_itself_and_waits_for_a_future(story, task):
    future = asyncio.get_running_loop().create_future()
    task.cancel("why")
    try:
        await story.watch("future", future)
    finally:
        story.events.append(("cancelled with it", future.cancelled()))


async def cancels_itself_and_waits_for_a_task(story, task):
    async def child():
        await story.watch("child", asyncio.sleep(5))

    inner = asyncio.create_task(child())
    task.cancel()
    await story.watch("task", inner)


async def cancels_itself_and_waits_for_what_is_done(story, task):
    future = asyncio.get_running_loop().create_future()
    future.set_result("done")
    task.cancel()
    await story.watch("done future", future)
    await story.watch("sleep", asyncio.sleep(0))


async def cancels_itself_and_waits_for_a_shield(story, task):
    inner = asyncio.create_task(asyncio.sleep(0.001, "whole"))
    task.cancel()
    with suppress(asyncio.CancelledError):
        await story.watch("shield", asyncio.shield(inner))
    return await story.watch("inner", inner)


async def cancels_itself_and_yields(story, task):
    task.cancel("soon")
    with suppress(asyncio.CancelledError):
        await story.watch("sleep", asyncio.sleep(0))
    story.events.append(task.cancelling())
    await story.watch("again", asyncio.sleep(0.001, "slept"))
    return "done"


async def cancels_itself_and_returns(story, task):
    task.cancel()
    return "returned"


async def cancels_itself_and_fails(story, task):
    task.cancel()
    raise ValueError


async def cancels_itself_and_thinks_again(story, task):
    task.cancel()
    story.events.append((task.cancelling(), task.uncancel()))
    with suppress(asyncio.CancelledError):
        await story.watch("sleep", asyncio.sleep(0, "kept"))
    return "done"


async def cancels_itself_twice(story, task):
    for _ in range(2):
        task.cancel()
        with suppress(asyncio.CancelledError):
            await story.watch("sleep", asyncio.sleep(5))
    story.events.append(task.cancelling())
    return "done"


async def cancels_itself_and_streams(story, task):
    async def pieces():
        yield "one"
        await story.watch("piece", asyncio.sleep(0))
        yield "two"

    task.cancel()
    return stream(pieces())


async def cancels_itself_and_streams_at_once(story, task):
    task.cancel()
    return stream(["one", "two"])


async def raises_cancelled(story, task):
    raise asyncio.CancelledError


async def is_cancelled_by_the_loop(story, task):
    asyncio.get_running_loop().call_soon(task.cancel, "from outside")
    await story.watch("sleep", asyncio.sleep(5))


async def is_cancelled_after_a_while(story, task):
    await story.watch("first", asyncio.sleep(0))
    asyncio.get_running_loop().call_later(0.001, task.cancel)
    await story.watch("second", asyncio.sleep(5))


async def is_cancelled_and_swallows_it(story, task):
    asyncio.get_running_loop().call_soon(task.cancel)
    with suppress(asyncio.CancelledError):
        await story.watch("sleep", asyncio.sleep(5))
    return "alive"


async def times_out_at_once(story, task):
    with suppress(TimeoutError):
        async with asyncio.timeout(0):
            await story.watch("sleep", asyncio.sleep(5))
    story.events.append(task.cancelling())
    return await story.watch("wait_for", asyncio.wait_for(asyncio.sleep(0, "in time"), 5))


async def has_a_group_that_fails(story, task):
    async def broken():
        raise KeyError

    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(broken())
            group.create_task(story.watch("sibling", asyncio.sleep(5)))
            await story.watch("parent", asyncio.sleep(5))
    except* KeyError:
        story.events.append(("after", task.cancelling()))
    return "done"


async def has_scopes_of_anyio(story, task):
    with anyio.CancelScope() as scope:
        scope.cancel()
        await story.watch("in the scope", anyio.sleep(5))
    with anyio.move_on_after(0.001):
        async with anyio.create_task_group() as group:
            group.start_soon(anyio.sleep, 5)
            await anyio.sleep(5)
    story.events.append((scope.cancelled_caught, task.cancelling()))
    return "done"


async def keeps_its_turn(story, task):
    """What was queued before a bare yield runs before what comes after it, and nothing more."""
    loop = asyncio.get_running_loop()
    for number in range(3):
        loop.call_soon(story.events.append, number)
        await asyncio.sleep(0)
        story.events.append(f"after {number}")
    return "done"


async def yields_rubbish(story, task):
    class Rubbish:
        def __await__(self) -> Any:
            yield 42

    with suppress(RuntimeError):
        await story.watch("rubbish", Rubbish())
    return "done"


async def fails_after_a_step(story, task):
    await asyncio.sleep(0)
    raise LookupError


STORIES = [
    value for value in list(vars().values()) if asyncio.iscoroutinefunction(value) and value.__module__ == __name__
]
LOOKS = {"untouched": None, "looked at": lambda task: task.get_name()}


async def tell(way: str, narrate: Any, look: Any) -> list[Any]:
    story, app = Story(), App()

    @app.get("/")
    async def handler(request):
        return await narrate(story, story.begin(look))

    async with await serve(app, port=0, tasks=way) as server, Wire(server.port) as wire:
        wire.send(request("/", headers="Connection: close\r\n"))
        answer = await wire.rest()
        status, _, body = answer.partition(b"\r\n\r\n")
        with suppress(asyncio.CancelledError):
            await asyncio.wait([story.task])
    story.events.append(("answer", status.split(b" ")[1], body))
    story.events.append(("task", story.task.cancelled(), story.task.cancelled() or story.task.exception()))
    return story.events


@pytest.mark.parametrize("loop_name", LOOPS)
@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("narrate", STORIES, ids=lambda story: story.__name__)
def test_both_ways_tell_the_same_story(narrate, look, loop_name):
    if sys.version_info < (3, 12) and narrate is cancels_itself_and_waits_for_a_task:
        pytest.skip("before 3.12 the cancellation comes a pass later: the inner task has begun by then")

    def told(way: str) -> list[Any]:
        with asyncio.Runner(loop_factory=LOOPS[loop_name]) as runner:
            return runner.run(tell(way, narrate, LOOKS[look]))

    assert told("plain") == told("light")


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "SystemExit(3)", "GeneratorExit"])
@pytest.mark.parametrize("where", ["", "await asyncio.sleep(0)"])
def test_what_ends_the_process_ends_it_in_both_ways(run_process, error, where, tmp_path):
    def ended(way: str) -> int:
        program = f"""
import asyncio, socket
from tarmac import App, serve
app = App()
@app.get("/")
async def handler(request):
    {where}
    raise {error}
async def main():
    server = await serve(app, port=0, tasks={way!r})
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.sendall(b"GET / HTTP/1.1\\r\\nHost: here\\r\\n\\r\\n")
        await asyncio.sleep(1)
        print(client.recv(12))
asyncio.run(main())
"""
        path = tmp_path / f"{way}.py"
        path.write_text(program)
        process = run_process(sys.executable, path)
        return process.wait(), "500" in process.output, error.partition("(")[0] in process.output

    assert ended("plain") == ended("light")
