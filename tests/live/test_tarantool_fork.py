"""A child of fork() shares nothing with its parent: not the socket, not the reactor, not the server."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.process import Process
    from support.tarantool import Tarantool

pytestmark = pytest.mark.live

PROGRAM = """
import asyncio, os, sys
import tarmac
from tarmac import tarantool as tnt

db = tnt.connect(sys.argv[1], timeout=5)

async def child():
    assert os.getpid() == await db.eval("return ...", os.getpid())
    await db.close()

def leave(how):
    # The child leaves its parent's loop where it stands and runs one of its own.
    asyncio._set_running_loop(None)
    asyncio.run(child())
    if how == "quick":
        os._exit(0)
    sys.exit(0)  # every destructor runs

async def parent():
    app = tarmac.App()
    app.get("/")(lambda request: "parent")
    server = await tarmac.serve(app, port=0)
    sleeping = db.eval("require('fiber').sleep(0.5) return ...", "mine")
    await db.ping()
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    for how in ("polite", "quick"):
        child_pid = os.fork()
        if child_pid == 0:
            leave(how)
        _, status = os.waitpid(child_pid, 0)
        assert status == 0, status
        writer.write(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
        assert b"200 OK" in await reader.readuntil(b"parent")
        assert 7 == await db.eval("return 7")
    assert "mine" == await sleeping
    writer.close()
    await server.stop()
    await db.close()
    print("parent lives", flush=True)

asyncio.run(parent())
"""


def test_a_fork_harms_neither_side(run_process: Callable[..., Process], tarantool: Tarantool, tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    process = run_process(sys.executable, "-W", "ignore::DeprecationWarning", program, tarantool.url)
    assert 0 == process.wait(20), process.output
    assert "parent lives" in process.output
