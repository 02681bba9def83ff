"""CPython's own tests of asyncio pass inside handlers that run in the light way.

They are the interpreter's: those of the version that runs this, from its own ``test`` package.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import sys
import unittest
import warnings
from typing import Any

import pytest
from support.inside import inside_handler

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(sys.version_info >= (3, 14), reason="from 3.14 on every task is a plain one"),
]

# Tests that are coroutines: each becomes the body of a handler.
COROUTINES = ("timeouts", "taskgroups", "waitfor", "locks", "queues", "staggered", "threads", "futures2")
# Tests that run coroutines in a loop: what they run becomes the body of a handler. Only the classes
# about tasks written in C, and not those that look at what the loop does meanwhile.
LOOPS = {
    "eager_task_factory": ("CEagerTaskFactoryLoopTests",),
    "tasks": (
        "CTask_CFuture_Tests",
        "CTask_CFuture_SubclassTests",
        "CTaskSubclass_PyFuture_Tests",
        "CTask_Future_Tests",
        "CoroutineGatherTests",
        "FutureGatherTests",
        "CCurrentLoopTests",
        "SleepTests",
        "CIntrospectionTests",
    ),
    "pep492": ("LockTests", "CoroutineTests"),
}


def cases(names: Any) -> list[Any]:
    """Every test of the modules as a parameter; a module that the interpreter lacks is skipped by name."""
    found = []
    for name in names:
        try:
            module = importlib.import_module(f"test.test_asyncio.test_{name}")
        except ImportError as error:
            mark = pytest.mark.skip(reason=f"this Python has no test.test_asyncio.test_{name}: {error}")
            found.append(pytest.param(None, name, id=name, marks=mark))
            continue
        for kind in vars(module).values():
            if inspect.isclass(kind) and kind.__module__ == module.__name__ and chosen(names, name, kind):
                tests = unittest.defaultTestLoader.getTestCaseNames(kind)
                found += [pytest.param(kind, test, id=f"{name}-{kind.__name__}-{test}") for test in tests]
    return found


def chosen(names: Any, name: str, kind: type) -> bool:
    if isinstance(names, dict):
        return kind.__name__ in names[name]
    return issubclass(kind, unittest.IsolatedAsyncioTestCase)


def judge(case: unittest.TestCase) -> None:
    """Run one test of unittest; what went wrong there is raised here."""
    result = unittest.TestResult()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        case.run(result)
    for _, text in result.errors + result.failures:
        pytest.fail(text, pytrace=False)
    for _, reason in result.skipped:
        pytest.skip(reason)
    assert 1 == result.testsRun


@pytest.mark.parametrize("debug", [False, True], ids=["", "debug"])
@pytest.mark.parametrize(("kind", "name"), cases(COROUTINES))
def test_coroutines_of_the_standard_library(kind, name, debug):
    async def inside(test):
        asyncio.get_running_loop().set_debug(debug)
        await inside_handler(test)

    class Inside(kind):
        def _callTestMethod(self, method):  # noqa: N802 - unittest's own
            if inspect.iscoroutinefunction(method):
                self._callMaybeAsync(inside, method)
            else:
                method()

    judge(Inside(name))


@pytest.mark.parametrize(("kind", "name"), cases(LOOPS))
def test_loops_of_the_standard_library(kind, name, monkeypatch):
    run = asyncio.BaseEventLoop.run_until_complete
    ran = []

    def run_inside(loop, future):
        if not isinstance(loop, asyncio.SelectorEventLoop) or loop.is_running():
            return run(loop, future)  # a loop of the tests, without sockets
        ran.append(future)

        async def begin():
            return await future

        return run(loop, inside_handler(begin))

    monkeypatch.setattr(asyncio.BaseEventLoop, "run_until_complete", run_inside)
    judge(kind(name))
