"""One reactor for each loop, and none when its loop has ended."""

from __future__ import annotations

import asyncio
import gc
import weakref

import pytest
from support.loops import LOOPS, on_every_loop
from tarmac import ConfigurationError, waiting


@on_every_loop
async def test_a_loop_has_one_reactor():
    loop = asyncio.get_running_loop()
    assert waiting.reactor_for(loop) is waiting.reactor_for(loop)


@pytest.mark.parametrize("loop_name", LOOPS)
def test_loops_have_reactors_of_their_own_that_end_with_them(loop_name):
    ended: list[str] = []

    async def main(name: str) -> object:
        loop = asyncio.get_running_loop()
        reactor = waiting.reactor_for(loop)
        waiting.when_closed(loop, lambda: ended.append(name))
        return reactor

    reactors = []
    for name in ("first", "second"):
        with asyncio.Runner(loop_factory=LOOPS[loop_name]) as runner:
            reactors.append(runner.run(main(name)))
            assert name not in ended
        assert ended[-1] == name
    assert reactors[0] is not reactors[1]


@pytest.mark.parametrize("loop_name", LOOPS)
def test_a_loop_that_was_closed_without_a_word_is_swept_by_the_next(loop_name):
    ended: list[bool] = []
    loop = LOOPS[loop_name]()
    waiting.reactor_for(loop)
    waiting.when_closed(loop, lambda: ended.append(True))
    loop.close()
    assert not ended
    other = LOOPS[loop_name]()
    waiting.reactor_for(other)
    assert ended
    waiting.forget(other)
    other.close()


@pytest.mark.parametrize("loop_name", LOOPS)
def test_a_reactor_does_not_keep_its_loop_alive(loop_name):
    async def main() -> weakref.ref[asyncio.AbstractEventLoop]:
        loop = asyncio.get_running_loop()
        waiting.reactor_for(loop)
        return weakref.ref(loop)

    with asyncio.Runner(loop_factory=LOOPS[loop_name]) as runner:
        reference = runner.run(main())
    del runner
    gc.collect()
    assert reference() is None


@on_every_loop
async def test_forgetting_twice_is_forgetting_once():
    loop = asyncio.get_running_loop()
    first = waiting.reactor_for(loop)
    waiting.forget(loop)
    waiting.forget(loop)
    assert first is not waiting.reactor_for(loop)


def test_a_loop_that_cannot_watch_a_descriptor_is_refused_with_advice():
    class Proactor:
        """Like the loop of Windows."""

        def is_closed(self) -> bool:
            return False

        def add_reader(self, *_: object) -> None:
            raise NotImplementedError

    with pytest.raises(ConfigurationError, match="Proactor cannot watch a descriptor"):
        waiting.reactor_for(Proactor())  # type: ignore[arg-type]


def test_blocking_code_has_reactors_of_its_own():
    first, second = waiting.reactor_for_thread(), waiting.reactor_for_thread()
    assert first is not second
    first.turn(0.0)
    first.close()
    second.close()
