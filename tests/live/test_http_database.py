"""Handlers that ask the database: one reactor carries both."""

from __future__ import annotations

import asyncio
import json

import pytest
from support.http import Wire, connected, request, served
from support.loops import on_every_loop, until
from support.spaces import ANN, opened, people
from tarmac import App
from tarmac import tarantool as tnt
from tarmac.waiting import reactor_for

pytestmark = pytest.mark.live


@on_every_loop
async def test_a_pipeline_of_queries_costs_a_few_writes(tarantool):
    app = App()

    async with opened(tarantool) as db, connected(app_asking(app, db)) as wire:
        await wire.get("/0")
        stats = reactor_for(asyncio.get_running_loop()).stats
        before = stats()["writes"]
        wire.send(b"".join(request(f"/{number}") for number in range(64)))
        assert [str(number).encode() for number in range(64)] == [(await wire.answer()).body for _ in range(64)]
        assert stats()["writes"] - before <= 12, "the queries of a turn leave together, and so do the answers"


def app_asking(app: App, db: tnt.Connection) -> App:
    @app.get("/{number:int}")
    async def ask(request, number):
        return str(await db.eval("return ...", number))

    return app


@on_every_loop
async def test_errors_of_the_database_have_their_own_answers(tarantool):
    app = App()

    @app.error(tnt.TupleFound)
    def taken(request, error):
        return {"error": error.name}, 409

    async with people(tarantool, ANN) as (_, space):

        @app.post("/")
        async def insert(request):
            row = await space.insert(await request.json())
            return dict(row.items())

        async with connected(app) as wire:
            answer = await wire.get("/", method="POST", body=json.dumps(ANN).encode())
            assert (409, {"error": "ER_TUPLE_FOUND"}) == (answer.status, json.loads(answer.body))
            answer = await wire.get("/", method="POST", body=b'{"id": 5, "name": "Zoe", "age": 1}')
            assert {"id": 5, "name": "Zoe", "age": 1, "extra": None} == json.loads(answer.body)


@on_every_loop
async def test_tasks_of_every_kind_wait_for_queries(tarantool):
    app = App()
    async with opened(tarantool) as db:

        @app.get("/gather")
        async def gather(request):
            return await asyncio.gather(*(db.eval("return ...", number) for number in range(5)))

        @app.get("/group")
        async def group(request):
            async with asyncio.TaskGroup() as tasks:
                both = [tasks.create_task(one(number)) for number in range(2)]
            return [task.result() for task in both]

        async def one(number):
            return await db.eval("return ...", number)

        @app.get("/timeout")
        async def timeout(request):
            try:
                async with asyncio.timeout(0.02):
                    await db.eval("require('fiber').sleep(0.2)")
            except TimeoutError:
                return await db.eval("return 'in time'")

        @app.get("/shield")
        async def shield(request):
            query = db.eval("require('fiber').sleep(0.03) return 'kept'")
            try:
                await asyncio.wait_for(asyncio.shield(query), 0.01)
            except TimeoutError:
                return await query

        @app.get("/current")
        async def current(request):
            before = asyncio.current_task()
            await db.ping()
            return {"same": before is asyncio.current_task()}

        async with connected(app) as wire:
            for path, body in {
                "/gather": b"[0,1,2,3,4]",
                "/group": b"[0,1]",
                "/timeout": b"in time",
                "/shield": b"kept",
                "/current": b'{"same":true}',
            }.items():
                assert body == (await wire.get(path)).body, path


@on_every_loop
async def test_a_server_that_stops_cancels_what_waits_for_the_database(tarantool):
    app = App()
    async with opened(tarantool) as db:

        @app.get("/")
        async def wait(request):
            await db.eval("require('fiber').sleep(0.5)")

        async with served(app) as server, Wire(server.port) as wire:
            wire.send(request("/") * 3)
            await until(lambda: db.in_flight == 3)
            await server.stop(drain=0)
            rest = await wire.rest()
            assert rest == b"" or b" 503 " in rest
        assert 7 == await db.eval("return 7")
