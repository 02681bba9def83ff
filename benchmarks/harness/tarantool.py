"""A private Tarantool in a temporary folder, pinned to the other core, with a console to prepare and check slots."""

import shutil
import socket
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.errors import Broken, Unavailable
from harness.paths import BENCHMARKS
from harness.processes import OTHER_CORE, Child, free_port


class Tarantool:
    """Runs ``bench.lua``; ``evaluate`` gives the number that an expression returns."""

    def __init__(self) -> None:
        if shutil.which("tarantool") is None:
            raise Unavailable("tarantool is not installed (Debian: apt-get install tarantool)")
        self.port = free_port()
        self._folder = Path(tempfile.mkdtemp(prefix="tarmac-bench-"))
        self._console: socket.socket | None = None
        self._child = Child(
            ["tarantool", BENCHMARKS / "tarantool" / "bench.lua"],
            core=OTHER_CORE,
            environment={"PORT": str(self.port), "CONSOLE": str(self._socket)},
            folder=self._folder,
        )
        try:
            self._child.wait_until(self._open_console, "tarantool")
        except BaseException:
            self.close()
            raise

    @property
    def _socket(self) -> Path:
        return self._folder / "console.sock"

    def evaluate(self, expression: str) -> float:
        assert self._console is not None, "the console is open while the server lives"
        self._console.sendall(f"return {expression}\n".encode())
        answer = self._read_answer()
        try:
            return float(answer.removeprefix("---\n- ").removesuffix("\n...\n"))
        except ValueError as error:
            raise Broken(f"tarantool console: {expression} gave {answer.strip()!r}") from error

    def close(self) -> None:
        if self._console:
            self._console.close()
        self._child.end()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _open_console(self) -> bool:
        console = socket.socket(socket.AF_UNIX)
        console.settimeout(60)
        try:
            console.connect(str(self._socket))
        except OSError:
            console.close()
            return False
        self._console = console
        while b"help" not in console.recv(4096):  # the two lines of greeting
            pass
        return True

    def _read_answer(self) -> str:
        assert self._console is not None, "the console is open while the server lives"
        answer = b""
        while not answer.endswith(b"\n...\n"):
            piece = self._console.recv(65536)
            if not piece:
                raise Broken(f"tarantool went away: {self._child.log_tail()}")
            answer += piece
        return answer.decode()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
