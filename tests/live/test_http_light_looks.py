"""Whoever looks at the task of a light handler finds a real one."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import sys
import threading
from typing import Any

import pytest
from support.inside import ask, is_light
from support.loops import on_every_loop

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(sys.version_info >= (3, 14), reason="from 3.14 on every task is a plain one"),
]
EAGER = sys.version_info >= (3, 12)
HERE: contextvars.ContextVar[str] = contextvars.ContextVar("HERE", default="nowhere")
# What runs in a task, and what it waits for in the middle of its first step, are ours also in the plain way.
OURS = {"_coro", "_fut_waiter"}
ATTRIBUTES = sorted(set(dir(asyncio.Task)) - {"__init__", "__new__", "__del__"} - OURS)


@on_every_loop
async def test_identity_does_not_make_a_task():
    async def handler(request):
        task = asyncio.current_task()
        assert isinstance(task, asyncio.Task)
        assert task is asyncio.current_task()
        assert {task: 1}[task] == 1
        assert is_light(task)
        return "x"

    await ask(handler, times=3)


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_every_attribute_is_that_of_a_real_task(name):
    seen = []

    async def handler(request):
        task = asyncio.current_task()
        assert is_light(task)
        value = getattr(task, name)
        seen.append((type(task), type(value)))
        assert task is asyncio.current_task()
        await asyncio.sleep(0)
        assert task is asyncio.current_task()
        return "x"

    async def main():
        expected = type(getattr(asyncio.create_task(asyncio.sleep(0)), name))
        await ask(handler)
        assert [(asyncio.Task, expected)] == seen

    asyncio.run(main())


def delete_mark(task: Any) -> None:
    with pytest.raises(AttributeError):
        del task.mark


def set_mark(task: Any) -> None:
    task.mark = 1


LOOKS = {
    "repr": repr,
    "str": str,
    "dir": dir,
    "format": format,
    "set": set_mark,
    "delete": delete_mark,
    "isfuture": asyncio.isfuture,
    "ensure_future": asyncio.ensure_future,
    "all_tasks": lambda _: asyncio.all_tasks(),
    "iter": iter,
    "await": lambda task: task.__await__(),
    "class": lambda task: task.__class__,
    "unbound": asyncio.Task.__repr__,
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_every_way_to_look_finds_a_real_task(look):
    async def handler(request):
        task = asyncio.current_task()
        assert is_light(task)
        look(task)
        assert type(task) is asyncio.Task
        return "x"

    asyncio.run(ask(handler))


@on_every_loop
async def test_what_a_task_tells_of_itself():
    names = []

    async def handler(request):
        HERE.set("inside")
        task = asyncio.current_task()
        assert task in asyncio.all_tasks()
        names.append(task.get_name())
        assert task.get_loop() is asyncio.get_running_loop()
        assert task.get_coro().cr_code is handler.__code__
        assert task.get_coro().cr_running
        assert not task.done()
        assert not task.cancelled()
        assert 0 == task.cancelling()
        if EAGER:
            assert "inside" == task.get_context()[HERE]
        with pytest.raises(asyncio.InvalidStateError):
            task.result()
        task.set_name("mine")
        await asyncio.sleep(0)
        assert "mine" == task.get_name()
        assert handler.__code__ in [frame.f_code for frame in task.get_stack()]
        assert task in asyncio.all_tasks()
        return "x"

    await ask(handler, times=5)
    assert 5 == len(set(names))


@on_every_loop
async def test_context_variables_of_a_step_without_a_task_stay_in_it():
    async def handler(request):
        before = HERE.get()
        HERE.set("inside")
        assert is_light(asyncio.current_task())
        return before

    assert [b"nowhere"] * 5 == await ask(handler, times=5)
    assert "nowhere" == HERE.get()


@on_every_loop
async def test_a_route_that_needed_a_task_begins_with_one_for_a_while():
    lights = []

    async def handler(request):
        lights.append(is_light(asyncio.current_task()))
        await asyncio.sleep(0)
        return "x"

    await ask(handler, times=67)
    assert 3 == lights.count(True), "the first, and one in 33 after it"
    assert lights[0]


@on_every_loop
async def test_looking_from_inside_another_context():
    async def handler(request):
        HERE.set("handler")
        task = asyncio.current_task()
        context = contextvars.Context()
        name = context.run(lambda: asyncio.current_task().get_name())
        assert "handler" == HERE.get()
        assert name == task.get_name()
        order = []
        asyncio.get_running_loop().call_soon(order.append, "queued before")
        await asyncio.sleep(0)
        assert ["queued before"] == order
        assert "handler" == HERE.get()
        assert task is asyncio.current_task()
        async with asyncio.timeout(5):
            await asyncio.sleep(0.001)
        return name

    async def ending(request):
        contextvars.Context().run(lambda: asyncio.current_task().cancelling())
        return "x"

    bodies = await ask(handler, ending, times=3)
    assert 3 == len(set(bodies[::2]))


@on_every_loop
async def test_looking_from_another_thread():
    async def handler(request):
        task, names = asyncio.current_task(), []
        thread = threading.Thread(target=lambda: names.append(task.get_name()))
        thread.start()
        thread.join()
        assert [task.get_name()] == names
        await asyncio.sleep(0.001)
        assert await asyncio.wait_for(asyncio.sleep(0, "ok"), 1) == "ok"
        return names[0]

    assert 3 == len(set(await ask(handler, times=3)))


PAST_THE_OBJECT = sorted({**vars(asyncio.Future), **vars(asyncio.Task)}.keys() - {"__doc__", "__module__"})


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("name", PAST_THE_OBJECT)
def test_methods_of_the_base_called_past_the_object_do_not_crash(name):
    method = getattr(asyncio.Task, name)
    if not callable(method):
        method = method.__get__

    async def handler(request):
        task = asyncio.current_task()
        assert is_light(task)
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                method(task)
            os._exit(7)
        assert 7 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])  # noqa: ASYNC222 - it ends at once
        return "x"

    asyncio.run(ask(handler))
