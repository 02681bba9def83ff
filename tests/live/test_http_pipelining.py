"""Many requests on one connection: order, barriers, bounded memory."""

from __future__ import annotations

import asyncio
import random
import resource

import pytest
from support.http import connected, request
from support.loops import on_every_loop
from tarmac import App, Limits
from tarmac.waiting import reactor_for

pytestmark = pytest.mark.live


@on_every_loop
async def test_a_thousand_gets_of_random_length_are_answered_in_order():
    app, dice = App(), random.Random(7)
    running, most = 0, 0

    @app.get("/{number:int}")
    async def handler(request, number):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(dice.random() / 100)
        running -= 1
        return str(number)

    async with connected(app) as wire:
        wire.send(b"".join(request(f"/{number}") for number in range(1000)))
        assert [str(number).encode() for number in range(1000)] == [(await wire.answer()).body for _ in range(1000)]
    assert 2 <= most <= 64, "safe methods run side by side, up to the cap"


@on_every_loop
async def test_the_cap_is_a_setting():
    app, running, most = App(), 0, 0

    @app.get("/")
    async def handler(request):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        return "x"

    async with connected(app, limits=Limits(in_flight=3)) as wire:
        wire.send(request("/") * 50)
        for _ in range(50):
            await wire.answer()
    assert 3 == most


@on_every_loop
async def test_a_post_is_a_barrier():
    app, events = App(), []

    async def handler(request, number):
        events.append(f"{request.method} {number} in")
        await asyncio.sleep(0.005 * (3 - number % 3))
        events.append(f"{request.method} {number} out")
        return str(number)

    app.add_route("/{number:int}", handler, methods=("GET", "POST"))
    methods = ["GET", "GET", "POST", "POST", "GET", "GET"]
    async with connected(app) as wire:
        wire.send(b"".join(request(f"/{number}", method=method) for number, method in enumerate(methods)))
        assert [str(number).encode() for number in range(6)] == [(await wire.answer()).body for _ in range(6)]
    assert {"GET 0 in", "GET 1 in"} == set(events[:2]), "two safe ones at once"
    assert {"GET 0 out", "GET 1 out"} == set(events[2:4]), "the barrier waits for all before it"
    assert ["POST 2 in", "POST 2 out", "POST 3 in", "POST 3 out"] == events[4:8]
    assert {"GET 4 in", "GET 5 in"} == set(events[8:10])


@on_every_loop
async def test_sync_and_async_mixed_are_answered_in_order():
    app = App()

    @app.get("/sync/{number:int}")
    def plain(request, number):
        return str(number)

    @app.get("/async/{number:int}")
    async def waiting(request, number):
        await asyncio.sleep(0.002 if number % 3 else 0)
        return str(number)

    @app.get("/thread/{number:int}", blocking=True)
    def blocking(request, number):
        return str(number)

    kinds = ["sync", "async", "thread", "async", "sync"]
    async with connected(app) as wire:
        wire.send(b"".join(request(f"/{kinds[number % 5]}/{number}") for number in range(200)))
        assert [str(number).encode() for number in range(200)] == [(await wire.answer()).body for _ in range(200)]


@on_every_loop
async def test_nothing_after_connection_close_is_run():
    app, called = App(), []

    @app.get("/{name}")
    async def handler(request, name):
        called.append(name)
        await asyncio.sleep(0.001)
        return name

    async with connected(app) as wire:
        wire.send(request("/first") + request("/last", headers="Connection: close\r\n") + request("/never"))
        assert [b"first", b"last"] == [(await wire.answer()).body for _ in range(2)]
        assert await wire.ended()
    assert ["first", "last"] == called


@on_every_loop
async def test_what_stands_before_a_broken_request_is_answered_first():
    app = App()

    @app.get("/")
    async def slow(request):
        await asyncio.sleep(0.01)
        return "good"

    async with connected(app) as wire:
        wire.send(request("/") * 2 + b"BROKEN\r\n\r\n" + request("/"))
        assert [200, 200, 400] == [(await wire.answer()).status for _ in range(3)]
        assert await wire.ended()


@on_every_loop
async def test_a_reader_that_does_not_read_stops_being_read():
    app, answered = App(), 0

    @app.get("/")
    def big(request):
        nonlocal answered
        answered += 1
        return b"x" * 65536

    async with connected(app, limits=Limits(queued_bytes=256 * 1024)) as wire:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        wire.send(request("/") * 2000)
        last = -1
        while last != answered:
            last = answered
            await asyncio.sleep(0.05)
        assert answered < 1000, "the whole pipeline was answered into memory"
        for _ in range(2000):
            assert 65536 == len((await wire.answer()).body)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown < 64 * 1024, f"{grown} KiB more for one connection"


@on_every_loop
async def test_one_write_for_a_pipeline_of_ready_answers():
    app = App()
    app.get("/")(lambda request: "x")
    async with connected(app) as wire:
        from tarmac.waiting import reactor_for

        await wire.get("/")
        reactor = reactor_for(asyncio.get_running_loop())
        before = reactor.stats()
        wire.send(request("/") * 64)
        for _ in range(64):
            await wire.answer()
        after = reactor.stats()
    assert 64 == after["requests"] - before["requests"]
    assert after["writes"] - before["writes"] <= 4


@on_every_loop
async def test_twenty_four_answers_of_a_burst_are_one_write():
    app = App()

    @app.get("/")
    def handler(request):
        return "Hello world!"

    async with connected(app) as wire:
        await wire.get("/")
        stats = reactor_for(asyncio.get_running_loop()).stats
        before = stats()["writes"]
        wire.send(request("/") * 24)
        assert [b"Hello world!"] * 24 == [(await wire.answer()).body for _ in range(24)]
        assert 1 == stats()["writes"] - before


@on_every_loop
async def test_defects_and_unknown_pages_keep_their_places():
    app = App()

    @app.get("/{number:int}")
    async def handler(request, number):
        await asyncio.sleep(0.001 * (5 - number % 5))
        if number % 5 == 1:
            raise ZeroDivisionError
        return str(number)

    paths = [f"/{number}" if number % 5 != 3 else f"/nowhere/{number}" for number in range(40)]
    expected = [{1: 500, 3: 404}.get(number % 5, 200) for number in range(40)]
    async with connected(app) as wire:
        wire.send(b"".join(request(path) for path in paths))
        answers = [await wire.answer() for _ in paths]
    assert expected == [answer.status for answer in answers]
    assert all(answers[number].body == str(number).encode() for number in range(0, 40, 5))
