"""The sticker site over a private Tarantool with its own schema and data, for the rows that measure the site."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.environments import PROJECT as PROJECT_ENVIRONMENT
from harness.environments import last_line, python_of
from harness.errors import Broken, Unavailable
from harness.processes import OTHER_CORE, Child, free_port, listens

COUNT = 2000  # stickers drawn: enough for the indices, quick to load


class Site:
    """A loaded database; ``command`` makes the command line of a server of the site."""

    def __init__(self) -> None:
        self._python = python_of(PROJECT_ENVIRONMENT)
        if shutil.which("tarantool") is None:
            raise Unavailable("tarantool is not installed (Debian: apt-get install tarantool)")
        self._folder = Path(tempfile.mkdtemp(prefix="tarmac-bench-site-"))
        self._port = free_port()
        command: list[str | Path] = [self._python, "-m", "stickers.tarantool_server", "--wal", "none"]
        self._child = Child(
            [*command, "--port", str(self._port), "--dir", self._folder / "tarantool"],
            core=OTHER_CORE,
            environment={"STICKERS_MEMORY": str(2 * 1024**3)},
            folder=self._folder,
        )
        try:
            self._child.wait_until(lambda: listens(self._port), "the site's tarantool")
            self._load()
        except BaseException:
            self.close()
            raise

    def command(self, engine: str, store: str, *options: str) -> Callable[[str], list[str | Path]]:
        serve: list[str | Path] = [
            self._python,
            "-m",
            "stickers",
            "-e",
            engine,
            "-s",
            store,
            "--rate-limit",
            "0",
            *options,
        ]
        where: list[str | Path] = ["--url", self._url("stickers"), "--data", self._folder / "site"]
        return lambda port: [*serve, *where, "-p", port]

    def close(self) -> None:
        self._child.end()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _url(self, user: str) -> str:
        return f"tarantool://{user}:stickers@127.0.0.1:{self._port}"

    def _load(self) -> None:
        command: list[str | Path] = [
            self._python,
            "-m",
            "stickers",
            "load",
            "--store",
            "tarantool",
            "--count",
            str(COUNT),
        ]
        where: list[str | Path] = ["--url", self._url("stickers_admin"), "--data", self._folder / "site"]
        done = subprocess.run([*command, *where], capture_output=True, text=True, check=False, cwd=self._folder)
        if done.returncode:
            raise Broken(f"`stickers load` failed: {last_line(done.stderr)}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
