"""The how-to pages of the two faces: their programs run, and their tables tell the truth."""

from __future__ import annotations

import asyncio
import math
import re
import sys
from typing import TYPE_CHECKING

import pytest
from support import pages
from support.http import Wire
from support.sources import ROOT
from support.waiting import wait_for
from tarmac.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.http import Answer
    from support.process import Process
    from support.tarantool import OwnTarantool, Tarantool

pytestmark = pytest.mark.live

KEEP = "docs/how-to/keep-data-in-tarantool.md"
LISTENING = r"^listening on http://127\.0\.0\.1:(\d+)$"
FORM = "Content-Type: application/x-www-form-urlencoded\r\n"


@pytest.fixture
def run_block(run_process: Callable[..., Process], tmp_path: Path) -> Callable[..., Process]:
    """Give `run_block(page, number, {old: new})`: runs a program of a page, changed where it must be."""

    def run(page: str, number: int, replaced: dict[str, str]) -> Process:
        path = tmp_path / "program.py"
        path.write_text(pages.program(page, number, **replaced))
        return run_process(sys.executable, path)

    return run


def ask(port: int, *calls: tuple[str, str, str, bytes]) -> list[Answer]:
    async def exchange() -> list[Answer]:
        async with Wire(port) as wire:
            return [
                await wire.get(path, method=method, headers=headers, body=body) for method, path, headers, body in calls
            ]

    return asyncio.run(exchange())


def test_the_users_in_tarantool(run_block, own_tarantool: OwnTarantool):
    own_tarantool.lua("""
        local users = box.schema.space.create('users', {format = {
            {'id', 'unsigned'}, {'name', 'string'}, {'visits', 'unsigned'}}})
        users:create_index('primary')
    """)
    program = run_block(
        KEEP,
        0,
        {"tarantool://app:secret@127.0.0.1:3301": own_tarantool.url, "port=8080": "port=0"},
    )
    port = int(program.wait_for_line(LISTENING)[1])
    answers = ask(
        port,
        ("POST", "/users/7", FORM, b"name=Ann"),
        ("POST", "/users/7", FORM, b"name=Bob"),
        ("POST", "/users/7/visit", "", b""),
        ("POST", "/users/8/visit", "", b""),
        ("GET", "/users/7", "", b""),
        ("GET", "/users/8", "", b""),
    )
    assert [201, 409, 200, 404, 200, 404] == [answer.status for answer in answers]
    assert b'{"name":"Ann","visits":1}' == answers[4].body
    own_tarantool.kill()
    assert 503 == ask(port, ("GET", "/users/7", "", b""))[0].status


def test_the_blocking_face(run_block, tarantool: Tarantool):
    program = run_block(KEEP, 1, {"tarantool://app:secret@127.0.0.1:3301": tarantool.url})
    assert 0 == program.wait()
    assert "42\n" == program.output


def test_what_surrounds_handlers(run_block):
    program = run_block("docs/how-to/surround-handlers.md", 0, {"port=8080": "port=0"})
    port = int(program.wait_for_line(LISTENING)[1])
    answers = ask(
        port,
        ("GET", "/", "", b""),
        ("GET", "/api/number", "", b""),
        ("GET", "/api/number", "X-Key: secret\r\n", b""),
        ("GET", "/nowhere", "", b""),
        ("POST", "/letters", "", b"dear"),
        ("GET", "/slow", "", b""),
    )
    assert [200, 401, 200, 404, 202, 200] == [answer.status for answer in answers]
    assert b"nothing at /nowhere" == answers[3].body
    wait_for(lambda: ask(port, ("GET", "/letters", "", b""))[0].body == b'["dear"]')
    assert all((answer.header("Server-Timing") or "").startswith("app;dur=") for answer in answers)


def test_the_table_of_limits_is_the_command_lines_own(capsys):
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    told = capsys.readouterr().out
    table = dict(re.findall(r"^\| `(--(?:limit|timeout)-[a-z-]+)` \| [^|]+ \| ([^|]+) \|", page(), re.MULTILINE))
    # What has to do with the end stands elsewhere; two have older names.
    elsewhere = {"--timeout-drain", "--timeout-shutdown", "--limit-body", "--limit-queued"}
    assert set(table) == set(re.findall(r"--(?:limit|timeout)-[a-z-]+", told)) - elsewhere
    sizes = {"MiB": 1024 * 1024}
    numbers = [float(value.split()[0]) * sizes.get(value.split()[-1], 1) for value in table.values()]
    assert numbers == declared()


def declared() -> list[float]:
    """Give the defaults of ``Limits`` where the core declares them; its signature does not tell all of them."""
    source = (ROOT / "crates/native/src/http/limits.rs").read_text()
    (signature,) = re.findall(r"signature = \(\*, (.*?)\)\)\]", source, re.DOTALL)
    expressions = [setting.partition("=")[2] for setting in signature.split(",")]
    return [math.prod(float(factor) for factor in expression.split(" * ")) for expression in expressions]


def page() -> str:
    return (ROOT / "docs/how-to/serve-for-real.md").read_text()
