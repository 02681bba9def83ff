"""What becomes of the tasks of light handlers: used again, or kept by somebody and never used again."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import sys
import weakref
from typing import Any

import pytest
from support.http import Wire, request
from support.inside import ask, is_light
from support.loops import LOOPS, on_every_loop, until
from tarmac import App, serve, stream
from tarmac.http.tasks import light_is_possible

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(sys.version_info >= (3, 14), reason="from 3.14 on every task is a plain one"),
]
EAGER = sys.version_info >= (3, 12)
KEPT: list[asyncio.Task[Any]] = []


@on_every_loop
async def test_tasks_that_are_kept_are_never_used_again():
    strong, weak, scopes = [], [], weakref.WeakKeyDictionary()

    async def keeping(request):
        strong.append(asyncio.current_task())
        return "x"

    async def watching(request):
        weak.append(weakref.ref(asyncio.current_task()))
        return str(sum(reference() is not None for reference in weak))

    async def scoped(request):
        # As SQLAlchemy scopes its sessions by the current task.
        return str(scopes.setdefault(asyncio.current_task(), len(strong)) == len(strong))

    bodies = await ask(keeping, watching, scoped, times=20)
    assert 20 == len({id(task) for task in strong})
    assert {b"1"} == set(bodies[1::3])
    assert {b"True"} == set(bodies[2::3])
    assert [None] * 20 == [reference() for reference in weak]


@on_every_loop
async def test_a_task_that_is_kept_has_ended_and_calls_back():
    kept, called = [], []

    async def handler(request):
        kept.append(asyncio.current_task())
        return "x"

    async def failing(request):
        kept.append(asyncio.current_task())
        raise ValueError

    app = App()
    app.get("/0")(handler)
    app.get("/1")(failing)
    async with await serve(app, port=0, tasks="light") as server, Wire(server.port) as wire:
        assert 200 == (await wire.get("/0")).status
        assert 500 == (await wire.get("/1")).status
    for task in kept:
        assert type(task) is asyncio.Task
        assert task.done()
        assert task.result() is task.exception() is None
        task.add_done_callback(called.append)
    await until(lambda: called == kept)
    assert not set(kept) & asyncio.all_tasks()
    assert [None, None] == await asyncio.gather(*kept)


@on_every_loop
async def test_done_callbacks_added_inside_run_once_after_the_end():
    events = []

    async def handler(request):
        asyncio.current_task().add_done_callback(lambda task: events.append(task.done()))
        events.append("handler")
        return "x"

    await ask(handler, times=3)
    await until(lambda: len(events) == 6)
    assert ["handler", "handler", "handler"] == [event for event in events if event == "handler"]
    assert 3 == events.count(True)


@on_every_loop
async def test_no_task_is_current_outside_asynchronous_handlers():
    class Late:
        def __del__(self) -> None:
            found.append(asyncio.current_task())

    found: list[Any] = []

    def plain(request):
        found.append(asyncio.current_task())
        Late()
        return "x"

    async def quick(request):
        assert asyncio.current_task() is not None
        return "x"

    async def slow(request):
        await asyncio.sleep(0.001)
        return "x"

    await ask(plain, quick, plain, slow, plain, times=5)
    assert [None] * 30 == found


@on_every_loop
async def test_what_wakes_in_the_same_turn_is_not_inside_an_empty_task():
    app, begun, woken = App(), [], []

    @app.get("/quick")
    async def quick(request):
        return "x"

    @app.post("/slow", stream=True)
    async def slow(request):
        begun.append(asyncio.current_task())
        body = await request.body()
        woken.append(asyncio.current_task())
        return body

    async with (
        await serve(app, port=0, tasks="light") as server,
        Wire(server.port) as first,
        Wire(server.port) as second,
    ):
        for times in range(1, 4):
            second.send(b"POST /slow HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\n\r\n")
            await until(lambda times=times: len(begun) == times)
            # Both arrive before the loop looks again: the quick one is answered, then the slow one wakes.
            first.send(request("/quick"))
            second.send(b"ok")
            assert b"x" == (await first.answer()).body
            assert b"ok" == (await second.answer()).body
    assert begun == woken


@on_every_loop
async def test_a_destructor_after_the_handler_finds_no_task_that_runs():
    found = []

    class Late:
        def __del__(self) -> None:
            task = asyncio.current_task()
            found.append((task, task is None or task.done(), task in asyncio.all_tasks()))

    async def handler(request):
        request.state.late = Late()
        return "x"

    await ask(handler, times=30)
    if EAGER:
        assert [(True, False)] * 30 == [(ended, listed) for _, ended, listed in found]
    tasks = [task for task, _, _ in found if task is not None]
    assert len(tasks) == len({id(task) for task in tasks})
    await until(lambda: all(task.done() for task in tasks))


@on_every_loop
async def test_a_handler_cannot_wait_for_itself():
    async def handler(request):
        with pytest.raises(RuntimeError, match="await on itself"):
            await asyncio.current_task()
        return "x"

    await ask(handler)


@on_every_loop
async def test_collections_at_every_point():
    async def handler(request):
        gc.collect()
        task = asyncio.current_task()
        gc.collect()
        task.get_name()
        gc.collect()
        await asyncio.sleep(0)
        gc.collect()
        return "x"

    async def quick(request):
        gc.collect()
        return "x"

    async def cyclic(request):
        cycle = [asyncio.current_task()]
        cycle.append(cycle)
        return "x"

    before = gc.get_threshold()
    gc.freeze()  # what was there before need not be looked at each time
    gc.set_threshold(1)
    try:
        await ask(handler, quick, cyclic, times=10)
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
    gc.collect()


@on_every_loop
async def test_streams_and_handlers_in_handlers():
    async def pieces():
        yield asyncio.current_task().get_name()
        await asyncio.sleep(0)
        yield "-"
        yield asyncio.current_task().get_name()

    async def streaming(request):
        return stream(pieces())

    async def inner(request):
        return asyncio.current_task().get_name()

    async def outer(request):
        return inner(request)

    app = App()
    app.get("/0")(streaming)
    app.get("/1")(outer)
    async with await serve(app, port=0, tasks="light") as server:
        for _ in range(3):
            async with Wire(server.port) as wire:
                body = (await wire.get("/0", headers="Connection: close\r\n")).body
            first, second = re.findall(rb"Task-\d+", body)
            assert first == second
            async with Wire(server.port) as wire:
                assert b"Task-" in (await wire.get("/1")).body


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_inside_a_handler():
    async def handler(request):
        task = asyncio.current_task()
        child = os.fork()
        if child == 0:
            os._exit(7 if task.get_name() and not task.done() else 8)
        assert 7 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])  # noqa: ASYNC222 - it ends at once
        assert is_light(task)
        return "x"

    asyncio.run(ask(handler, times=2))


@on_every_loop
async def test_a_task_factory_of_the_loop_makes_the_tasks():
    made = []

    def factory(loop, coroutine, **options: Any):
        made.append(coroutine)
        return asyncio.Task(coroutine, loop=loop, **options)

    loop = asyncio.get_running_loop()
    assert light_is_possible(loop)
    loop.set_task_factory(factory)
    assert not light_is_possible(loop)

    async def handler(request):
        assert type(asyncio.current_task()) is asyncio.Task
        return "x"

    await ask(handler)
    assert any(getattr(one, "cr_code", None) is handler.__code__ for one in made)


async def quick(request):
    return "x"


async def looking(request):
    return asyncio.current_task().get_name()


async def waiting(request):
    await asyncio.sleep(0)
    return "x"


async def kept(request):
    KEPT.append(asyncio.current_task())
    return "x"


async def failing(request):
    asyncio.current_task().cancel()
    await asyncio.sleep(0)


@pytest.mark.parametrize("loop_name", LOOPS)
def test_nothing_is_left_behind(loop_name):
    # A route that needed a task begins with one for a while: many routes, many beginnings.
    async def round_trip():
        app, paths = App(), []
        for handler in (quick, looking, waiting, kept, failing) * 40:
            paths.append(f"/{len(paths)}")
            app.get(paths[-1])(handler)
        async with await serve(app, port=0, tasks="light") as server, Wire(server.port) as wire:
            wire.send(b"".join(map(request, paths * 2)))
            for _ in paths * 2:
                await wire.answer()

    def left() -> tuple[int, int]:
        with asyncio.Runner(loop_factory=LOOPS[loop_name]) as runner:
            runner.run(round_trip())
        KEPT.clear()
        gc.collect()
        return len(gc.get_objects()), sys.getallocatedblocks()

    for _ in range(5):
        objects, blocks = left()
    for _ in range(5):
        objects_now, blocks_now = left()
    assert objects_now - objects < 50
    assert blocks_now - blocks < 300
