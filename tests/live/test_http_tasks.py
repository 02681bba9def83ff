"""A handler is a real task: it cannot tell that it is started by a server."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import threading
import weakref
from typing import Any

import anyio
import anyio.to_thread
import pytest
from support.http import connected, request
from support.loops import on_every_loop, until
from tarmac import App

pytestmark = pytest.mark.live

NAME: contextvars.ContextVar[str] = contextvars.ContextVar("NAME", default="nobody")


async def answered(handler, *, path: str = "/") -> bytes:
    """Give the body of the answer of a handler that is the whole site."""
    app = App()
    app.get("/")(handler)
    async with connected(app) as wire:
        answer = await wire.get(path)
    assert answer.status == 200, answer
    return answer.body


@on_every_loop
async def test_every_request_has_a_task_of_its_own():
    app, tasks = App(), []

    @app.get("/")
    async def handler(request):
        task = asyncio.current_task()
        tasks.append(task)
        await asyncio.sleep(0.001)
        assert task is asyncio.current_task()
        assert task in asyncio.all_tasks()
        return "x"

    async with connected(app) as wire:
        wire.send(request("/") * 20)
        for _ in range(20):
            await wire.answer()
    assert 20 == len(set(tasks))
    assert None not in tasks


@on_every_loop
async def test_context_variables_stay_with_their_request():
    app = App()

    @app.get("/sync/{name}")
    def plain(request, name):
        before = NAME.get()
        NAME.set(name)
        return before

    @app.get("/async/{name}")
    async def waiting(request, name):
        before = NAME.get()
        NAME.set(name)
        await asyncio.sleep(0.001)
        assert name == NAME.get()
        return before

    @app.get("/thread/{name}", blocking=True)
    def blocking(request, name):
        before = NAME.get()
        NAME.set(name)
        return before

    async with connected(app) as wire:
        for kind in ("sync", "async", "thread"):
            for name in ("ann", "bob"):
                assert b"nobody" == (await wire.get(f"/{kind}/{name}")).body, f"{kind} leaks"


@on_every_loop
async def test_timeout_and_wait_for():
    async def handler(request):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await asyncio.sleep(5)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 0.01)
        async with asyncio.timeout(5):
            await asyncio.sleep(0)
        return "ok"

    assert b"ok" == await answered(handler)


@on_every_loop
async def test_task_groups_gather_and_shield():
    async def value(number):
        await asyncio.sleep(0)
        return number

    async def broken():
        raise KeyError

    async def together(*work: Any):
        async with asyncio.TaskGroup() as group:
            for one in work:
                group.create_task(one)

    async def handler(request):
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(value(number)) for number in range(3)]
        with pytest.raises(ExceptionGroup):
            await together(broken(), asyncio.sleep(5))
        shielded = asyncio.ensure_future(asyncio.sleep(0.02, "shielded"))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(shielded), 0.001)
        return [task.result() for task in tasks] + await asyncio.gather(value(3), shielded)

    assert b'[0,1,2,3,"shielded"]' == await answered(handler)


@on_every_loop
async def test_anyio_works_inside_handlers():
    async def handler(request):
        numbers = []

        async def append(number):
            await anyio.sleep(0.001)
            numbers.append(number)

        async with anyio.create_task_group() as group:
            for number in range(3):
                group.start_soon(append, number)
        with anyio.move_on_after(0.01) as scope:
            await anyio.sleep(5)
        assert scope.cancelled_caught
        with pytest.raises(TimeoutError):
            with anyio.fail_after(0.01):
                await anyio.sleep(5)
        return [*sorted(numbers), await anyio.to_thread.run_sync(lambda: 3)]

    assert b"[0,1,2,3]" == await answered(handler)


@on_every_loop
async def test_debug_mode_of_the_loop():
    asyncio.get_running_loop().set_debug(True)

    async def handler(request):
        await asyncio.sleep(0)
        return await asyncio.wait_for(asyncio.sleep(0, "ok"), 1)

    assert b"ok" == await answered(handler)


@on_every_loop
async def test_cancellation_from_outside_and_to_thread():
    async def handler(request):
        me = asyncio.current_task()
        asyncio.get_running_loop().call_later(0.005, me.cancel, "enough")
        with pytest.raises(asyncio.CancelledError):
            await asyncio.sleep(5)
        me.uncancel()
        return await asyncio.to_thread(threading.current_thread().__class__.__name__.upper)

    assert b"THREAD" in await answered(handler)


@on_every_loop
async def test_tasks_and_coroutines_are_not_kept_after_the_answer():
    app, tasks = App(), weakref.WeakSet()

    @app.get("/")
    async def handler(request):
        tasks.add(asyncio.current_task())
        await asyncio.sleep(0)
        return "x"

    async with connected(app) as wire:
        for _ in range(50):
            await wire.get("/")
        await asyncio.sleep(0.01)
        gc.collect()
        assert len(tasks) <= 1


@on_every_loop
async def test_a_waiting_handler_is_not_collected():
    app, gate = App(), None

    @app.get("/")
    async def handler(request):
        nonlocal gate
        gate = weakref.ref(event := asyncio.get_running_loop().create_future())
        return await event

    async with connected(app) as wire:
        wire.send(request("/"))
        await until(lambda: gate is not None)
        gc.collect()
        future = gate()
        assert future is not None, "the task was collected while it waited"
        future.set_result("kept")
        del future
        assert b"kept" == (await wire.answer()).body


@on_every_loop
async def test_blocking_handlers_run_in_threads_side_by_side():
    app, barrier = App(), threading.Barrier(3)

    @app.get("/", blocking=True)
    def handler(request):
        barrier.wait(5)
        return request.path + threading.current_thread().name

    async with connected(app) as wire:
        wire.send(request("/") * 3)
        names = [(await wire.answer()).body for _ in range(3)]
    assert 3 == len(set(names))
    assert all(name.startswith(b"/tarmac") for name in names)


@on_every_loop
async def test_background_work_starts_after_the_answer_and_runs_once(caplog):
    app, events = App(), []

    async def later(name):
        await asyncio.sleep(0)
        events.append(name)

    @app.get("/async")
    async def waiting(request):
        app.background(later, "async")
        app.background(events.append, "plain")
        await asyncio.sleep(0.01)
        assert not events
        return "x"

    @app.get("/sync")
    def plain(request):
        app.background(later, "sync")
        return "x"

    @app.get("/failing")
    async def failing(request):
        app.background(later, "failing")
        raise ValueError

    @app.get("/broken")
    def broken(request):
        app.background(lambda: 1 / 0)
        return "x"

    async with connected(app) as wire:
        assert 200 == (await wire.get("/async")).status
        await until(lambda: events == ["plain", "async"])
        assert 200 == (await wire.get("/sync")).status
        await until(lambda: events == ["plain", "async", "sync"])
        assert 500 == (await wire.get("/failing")).status
        await until(lambda: events[3:] == ["failing"])
        assert 200 == (await wire.get("/broken")).status
        await until(lambda: "a background task failed" in caplog.text)


@on_every_loop
async def test_async_generators_of_handlers_are_finalised():
    closed = []

    async def numbers():
        try:
            yield 1
            yield 2
        finally:
            closed.append(True)

    async def handler(request):
        async for number in numbers():
            return str(number)
        return "none"

    await answered(handler)
    gc.collect()
    await until(lambda: closed, what="the generator's end")
