"""Starts a private Tarantool with the stickers' schema: for trying out, for tests, for races.

python -m stickers.tarantool_server --port 3301 --dir var/tarantool --wal write
"""

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, NoReturn, Self

WalMode = Literal["none", "write", "fsync"]

START_SECONDS: Final = 20.0
_GREETING: Final = b"Tarantool"
MISSING: Final = "no tarantool program on PATH (Debian: apt-get install tarantool)"


def environment(folder: Path, host: str, port: int, wal: WalMode) -> dict[str, str]:
    """What init.lua reads, on top of this process's environment."""
    given = {
        "STICKERS_DIR": str(folder.resolve()),
        "STICKERS_LISTEN": f"{host}:{port}",
        "STICKERS_WAL": wal,
    }
    return {**os.environ, **given}


def command() -> list[str]:
    """The command line; raises FileNotFoundError when there is no tarantool program."""
    program = shutil.which("tarantool")
    if program is None:
        raise FileNotFoundError(MISSING)
    return [program, str(files("stickers") / "tarantool" / "init.lua")]


class TarantoolServer:
    """A server of our own for a while; its data stay in `folder`."""

    def __init__(self, folder: Path, port: int, wal: WalMode = "write", extra: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.port = port
        self._wal: WalMode = wal
        self._extra = extra or {}
        self._process: subprocess.Popen[bytes] | None = None

    def url(self, user: str = "stickers") -> str:
        """Where it is, for a user of the schema."""
        return f"tarantool://{user}:stickers@127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start and wait for the greeting."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "tarantool.log").open("ab") as log:
            self._process = subprocess.Popen(
                command(),
                env={**environment(self.folder, "127.0.0.1", self.port, self._wal), **self._extra},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._wait_for_greeting()

    def send(self, number: int) -> None:
        """Send a signal without waiting for its effect: SIGSTOP makes it deaf, SIGCONT hear again."""
        if self._process is not None:
            self._process.send_signal(number)

    def stop(self, number: int = signal.SIGTERM) -> None:
        """End it; SIGKILL is a crash."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(START_SECONDS)
            self._process = None

    def _wait_for_greeting(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not _greets(self.port):
            ended = self._process is None or self._process.poll() is not None
            if ended or time.monotonic() > deadline:
                log = (self.folder / "tarantool.log").read_text("utf-8", "replace")
                message = f"tarantool did not start:\n{log[-2000:]}"
                raise RuntimeError(message)
            time.sleep(0.02)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        self.stop(signal.SIGKILL)


def _greets(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            return connection.recv(len(_GREETING)) == _GREETING
    except OSError:
        return False


def main() -> NoReturn:
    """Become a Tarantool in the foreground."""
    parser = argparse.ArgumentParser("python -m stickers.tarantool_server", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=3301)
    parser.add_argument("--dir", type=Path, default=Path("var/tarantool"))
    parser.add_argument("--wal", choices=["none", "write", "fsync"], default="write")
    options = parser.parse_args()
    try:
        program = command()
    except FileNotFoundError as error:
        sys.exit(str(error))
    options.dir.mkdir(parents=True, exist_ok=True)
    # This process becomes the server, so that signals and limits reach it directly.
    given = environment(options.dir, options.host, options.port, options.wal)
    os.execve(program[0], program, given)  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    main()
