"""A private Tarantool on a free port, in a folder of its own, that can be killed and started again."""

from __future__ import annotations

import os
import shutil
import signal
import socket
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from support.process import Process
from support.waiting import LOCALHOST, free_port

GREETING = 128  # bytes that every Tarantool sends first
USER, PASSWORD = "app", "secret"

# The address is opened last, so that a greeting means that the user and its rights exist.
INIT = """
box.cfg{{work_dir = '{folder}', memtx_memory = {memory}, wal_mode = '{wal_mode}', log_level = 3, {extra}}}
box.schema.user.create('{user}', {{password = '{password}', if_not_exists = true}})
box.schema.user.grant('{user}', 'super', nil, nil, {{if_not_exists = true}})
require('console').listen('unix/:{console}')
box.cfg{{listen = '{host}:{port}'}}
"""


def installed() -> str | None:
    """Return the path of the server's program, or None where there is none."""
    return shutil.which("tarantool")


@dataclass
class Tarantool:
    """Where a server listens and who may speak to it: all that a test needs to know of a foreign one."""

    host: str = LOCALHOST
    port: int = field(default_factory=free_port)
    user: str = USER
    password: str = PASSWORD

    @classmethod
    def at(cls, url: str) -> Tarantool:
        """Take the server that TARANTOOL_URL names."""
        parts = urlsplit(url)
        return cls(parts.hostname or LOCALHOST, parts.port or 3301, parts.username or "guest", parts.password or "")

    @property
    def url(self) -> str:
        """The address in the form that `tarmac.tarantool.connect` takes."""
        return f"tarantool://{self.user}:{self.password}@{self.host}:{self.port}"


@dataclass
class OwnTarantool(Tarantool):
    """A server of our own: start, stop, kill, restart; its data stays in `folder`."""

    folder: Path = field(default_factory=Path)
    wal_mode: str = "write"
    memory: int = 64 * 1024 * 1024
    extra: str = ""  # more of box.cfg, in Lua
    _process: Process | None = field(default=None, repr=False)

    @property
    def process(self) -> Process:
        """The running server."""
        assert self._process is not None, "the server was never started"
        return self._process

    def start(self) -> None:
        """Start the server on the data of its folder and return once it greets."""
        settings = {
            key: getattr(self, key) for key in ("memory", "wal_mode", "user", "password", "host", "port", "extra")
        }
        script = self.folder / "init.lua"
        script.write_text(INIT.format(folder=self.folder, console=self._console, **settings))
        self._console.unlink(missing_ok=True)
        self._process = Process(["tarantool", script], log=self.folder / "tarantool.log", cwd=self.folder)
        self._process.wait_for_port(self.port, greeting=GREETING, timeout=30)

    def stop(self) -> None:
        """End the server as an administrator would."""
        self.process.stop(signal.SIGTERM)

    def kill(self) -> None:
        """End the server as a crash would; a server that is not there is dead enough."""
        if self._process is not None:
            self._process.kill()

    def restart(self) -> None:
        """Kill the server and start it again on the same port and the same data."""
        self.kill()
        self.start()

    def lua(self, code: str) -> str:
        """Run Lua as the administrator and return the console's YAML answer."""
        with socket.socket(socket.AF_UNIX) as console:
            console.settimeout(10)
            # A socket's path has room for 108 bytes: the folder's own descriptor makes a long one short.
            folder = os.open(self.folder, os.O_DIRECTORY)
            try:
                console.connect(f"/proc/self/fd/{folder}/{self._console.name}")
            finally:
                os.close(folder)
            console.recv(GREETING, socket.MSG_WAITALL)
            console.sendall(" ".join(code.split("\n")).encode() + b"\n")
            answer = b""
            while not answer.endswith(b"...\n"):
                part = console.recv(65536)
                assert part, f"the console closed: {answer.decode()}"
                answer += part
        return answer.decode()

    @property
    def _console(self) -> Path:
        return self.folder / "console.sock"
