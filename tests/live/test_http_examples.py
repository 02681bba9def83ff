"""Every example starts with one command and does what its first lines say."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import openapi_spec_validator
import pytest
from support.http import Answer, Wire
from websockets.asyncio.client import connect

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.process import Process
    from support.tarantool import Tarantool

pytestmark = pytest.mark.live

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
LISTENING = r"^listening on http://127\.0\.0\.1:(\d+)$"


def ask(port: int, *calls: tuple[str, str, Any]) -> list[Answer]:
    """Give the answers to (method, path, value) on one connection."""

    async def exchange() -> list[Answer]:
        async with Wire(port) as wire:
            return [
                await wire.get(path, method=method, body=b"" if value is None else json.dumps(value).encode())
                for method, path, value in calls
            ]

    return asyncio.run(exchange())


@pytest.fixture
def run_example(run_process: Callable[..., Process]) -> Callable[..., int]:
    """Give `run_example(name, **environment)`; it tells the port."""

    def run(name: str, **environment: str) -> int:
        folder = EXAMPLES / name if (EXAMPLES / name).is_dir() else EXAMPLES
        options = ("--app-dir", folder, "--port", "0")
        process = run_process(sys.executable, "-m", "tarmac", "run", f"{name}:app", *options, env=environment)
        return int(process.wait_for_line(LISTENING)[1])

    return run


def test_hello(run_example):
    port = run_example("hello")
    plain, greeting = ask(port, ("GET", "/", None), ("GET", "/hello/ann", None))
    assert b"Hello world!" == plain.body
    assert "ann" == json.loads(greeting.body)["hello"]


def test_todo(run_example):
    port = run_example("todo")
    answers = ask(
        port,
        ("POST", "/todos", {"text": "buy milk"}),
        ("POST", "/todos", {"text": 7}),
        ("PATCH", "/todos/1", {"done": True}),
        ("GET", "/todos", None),
        ("GET", "/todos?done=false", None),
        ("DELETE", "/todos/1", None),
        ("GET", "/todos/1", None),
    )
    assert [201, 422, 200, 200, 200, 204, 404] == [answer.status for answer in answers]
    assert "/todos/1" == answers[0].header("Location")
    assert [{"id": 1, "text": "buy milk", "done": True}] == json.loads(answers[3].body)
    assert [] == json.loads(answers[4].body)
    assert {"error": "404 no todo has the number 1"} == json.loads(answers[6].body)


def test_the_document_of_the_todo_list(run_example):
    page, document = ask(run_example("todo"), ("GET", "/docs", None), ("GET", "/openapi.json", None))
    assert b"<title>Todos</title>" in page.body
    openapi_spec_validator.validate(told := json.loads(document.body))
    assert ["/todos", "/todos/{number}"] == list(told["paths"])
    assert {"Changes", "InvalidInput", "NewTodo", "Todo"} <= set(told["components"]["schemas"])


def test_counter(run_example, tarantool: Tarantool):
    port = run_example("counter", TARANTOOL_URL=tarantool.url)
    first, second, top = ask(port, ("GET", "/home", None), ("GET", "/home", None), ("GET", "/", None))
    assert b"home: 1 views" == first.body
    assert b"home: 2 views" == second.body
    assert 2 == json.loads(top.body)["home"]


def test_chat(run_example):
    port = run_example("chat")
    lobby, page = ask(port, ("GET", "/", None), ("GET", "/cats", None))
    assert (302, "/lobby") == (lobby.status, lobby.header("Location"))
    assert b"new WebSocket(" in page.body

    async def talk() -> list[object]:
        url = f"ws://127.0.0.1:{port}/cats/socket?name="
        async with connect(url + "ann") as ann, connect(url + "bob") as bob:
            await ann.send(json.dumps({"text": "  hello  "}))
            await ann.send("not json")
            heard = [json.loads(await bob.recv()) for _ in range(2)]
            async with connect(url) as late:
                heard += [json.loads(await late.recv()) for _ in range(2)]
            return heard

    hello = {"name": "ann", "text": "hello"}
    assert [{"note": "bob is here"}, hello, hello, {"note": "somebody is here"}] == asyncio.run(talk())


def test_fastapi_on_tarmac(run_example):
    port = run_example("fastapi_on_tarmac")
    thanks, pack, nothing = ask(
        port, ("POST", "/packs/cats/votes", {}), ("GET", "/packs/cats", None), ("GET", "/packs/dogs", None)
    )
    assert (202, {"thank": "you"}) == (thanks.status, json.loads(thanks.body))
    assert {"name": "cats", "votes": 1} == json.loads(pack.body)
    assert 404 == nothing.status


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_every_example_is_tested(path: Path):
    assert f"test_{path.stem}" in globals()
