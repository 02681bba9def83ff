"""Rude, slow, cut and polite clients at once: every whole request gets its own answer, and the server lives."""

from __future__ import annotations

import asyncio
import contextlib
import random

import pytest
from support.http import Wire, request, served
from support.loops import on_every_loop
from tarmac import App, Limits, NotFound

pytestmark = pytest.mark.live


def site(dice: random.Random) -> App:
    app = App()

    @app.get("/sync/{name}")
    def plain(request, name):
        return name

    @app.get("/async/{name}")
    async def waiting(request, name):
        await asyncio.sleep(dice.random() / 200)
        return name

    @app.get("/thread/{name}", blocking=True)
    def blocking(request, name):
        return name

    @app.post("/echo/{name}")
    async def echo(request, name):
        body = await request.body()
        return name.encode() + body

    @app.get("/missing/{name}")
    async def missing(request, name):
        raise NotFound(name)

    return app


class Visitor:
    """A client that sends a few requests in its own way."""

    def __init__(self, port: int, dice: random.Random, number: int) -> None:
        self.port, self.dice, self.number = port, dice, number

    async def visit(self) -> int:
        """Give how many answers were right; an answer of somebody else is an assertion."""
        wanted = [self.choose(index) for index in range(self.dice.randrange(1, 40))]
        data = b"".join(given for given, _ in wanted)
        manner = self.dice.choice(["polite", "dribble", "cut", "reset", "half"])
        if manner in {"cut", "reset"}:
            data = data[: self.dice.randrange(len(data))]
        right = 0
        async with Wire(self.port) as wire:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                await self.speak(wire, data, manner)
                if manner == "reset":
                    wire.reset()
                    return 0
                for _, body in wanted:
                    assert body == (await wire.answer()).body
                    right += 1
        assert manner in {"cut", "reset"} or right == len(wanted), f"{manner}: {right} of {len(wanted)}"
        return right

    def choose(self, index: int) -> tuple[bytes, bytes]:
        name = f"{self.number}-{index}"
        kind = self.dice.choice(["sync", "async", "thread", "echo", "missing"])
        if kind == "echo":
            body = self.dice.randbytes(self.dice.randrange(3000))
            return request(f"/echo/{name}", method="POST", body=body), name.encode() + body
        return request(f"/{kind}/{name}"), name.encode()

    async def speak(self, wire: Wire, data: bytes, manner: str) -> None:
        if manner != "dribble":
            wire.send(data)
        while manner == "dribble" and data:
            size = self.dice.randrange(1, 400)
            wire.send(data[:size])
            data = data[size:]
            await asyncio.sleep(0)
        if manner in {"half", "cut"}:
            wire.writer.write_eof()


@pytest.mark.parametrize("seed", range(3))
@on_every_loop
async def test_everybody_gets_the_answers_to_what_they_asked(seed):
    dice = random.Random(seed)
    limits = Limits(in_flight=8, queued_bytes=8192)
    async with served(site(dice), limits=limits) as server:
        visitors = [Visitor(server.port, random.Random(seed * 1000 + number), number) for number in range(150)]
        gate = asyncio.Semaphore(30)

        async def admit(visitor: Visitor) -> int:
            async with gate:
                return await visitor.visit()

        assert sum(await asyncio.gather(*map(admit, visitors))) > 1000
        async with Wire(server.port) as wire:
            assert b"alive" == (await wire.get("/sync/alive")).body
        async with asyncio.timeout(5):
            while server.connections:  # noqa: ASYNC110 - the last connection tells nobody
                await asyncio.sleep(0.01)
        assert 0 == server.requests_in_flight
