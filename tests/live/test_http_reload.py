"""``tarmac run --reload``: a changed source file replaces what serves; a broken one waits for the next change."""

from __future__ import annotations

import asyncio
import shutil
import sys
from typing import TYPE_CHECKING

import pytest
from support.http import Wire
from support.sources import ROOT
from support.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.process import Process

pytestmark = pytest.mark.live

LISTENING = r"^listening on http://127\.0\.0\.1:(\d+)$"


def start(run_process: Callable[..., Process], folder: Path, *options: str) -> Process:
    command = ["tarmac", "run", "todo:app", "--app-dir", str(folder), "--port", "0", "--reload", *options]
    return run_process(sys.executable, "-m", *command, env={"PYTHONDONTWRITEBYTECODE": "1"})


def saying(version: str) -> str:
    """The example with one route more."""
    source = (ROOT / "examples/todo.py").read_text()
    before, main, after = source.partition("if __name__ ==")
    assert main
    return f'{before}@app.get("/version")\ndef version(request):\n    return "{version}"\n\n\n{main}{after}'


def ask(port: int, path: str = "/version") -> bytes:
    async def exchange() -> bytes:
        async with Wire(port) as wire:
            return (await wire.get(path, headers="Connection: close\r\n")).body

    return asyncio.run(exchange())


@pytest.mark.parametrize("options", [(), ("--workers", "2")], ids=["one", "two"])
def test_the_todo_example_is_served_anew_after_each_change(run_process, tmp_path: Path, options):
    program = tmp_path / "todo.py"
    shutil.copy(ROOT / "examples/todo.py", program)
    process = start(run_process, tmp_path, *options)
    port = int(process.wait_for_line(LISTENING)[1])
    assert b"[]" == ask(port, "/todos")
    program.write_text(saying("new"))
    process.wait_for_line("all workers are new")
    assert b"new" in ask(port)
    program.write_text("syntax error here")
    process.wait_for_line("SyntaxError")
    process.wait_for_line("the old ones go on")
    assert b"new" in ask(port), "the last program that started goes on"
    program.write_text(saying("mended"))
    wait_for(lambda: {b"mended" in ask(port) for _ in range(8)} == {True}, what="the mended program")
    assert 0 == process.stop()


def test_a_program_that_is_broken_from_the_start_waits_for_a_change(run_process, tmp_path: Path):
    program = tmp_path / "todo.py"
    program.write_text("1 / 0")
    process = start(run_process, tmp_path)
    process.wait_for_line("ZeroDivisionError")
    shutil.copy(ROOT / "examples/todo.py", program)
    port = int(process.wait_for_line(LISTENING)[1])
    assert b"[]" == ask(port, "/todos")
    assert 0 == process.stop()
