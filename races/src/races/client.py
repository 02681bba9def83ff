"""A small blocking HTTP client for the contract check: raw bytes, so that pipelining shows."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from races.errors import LabError

RECEIVE = 65536


@dataclass(frozen=True, slots=True)
class Reply:
    """One response as it came."""

    status: int
    headers: dict[str, str]
    body: bytes


class Client:
    """One connection. `send` and `receive` are apart, so several requests can be under way."""

    def __init__(self, port: int, timeout: float = 5.0) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.host = f"127.0.0.1:{port}"
        self.rest = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.socket.close()

    def get(self, path: str) -> Reply:
        self.send([path])
        return self.receive()

    def send(self, paths: list[str]) -> None:
        """All requests in one write."""
        heads = [f"GET {path} HTTP/1.1\r\nHost: {self.host}\r\n\r\n" for path in paths]
        self.socket.sendall("".join(heads).encode())

    def receive(self) -> Reply:
        """The next response; understands Content-Length and chunked bodies."""
        while b"\r\n\r\n" not in self.rest:
            self._more()
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        status_line, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        return Reply(int(status_line.split()[1]), headers, self._body(headers))

    def _body(self, headers: dict[str, str]) -> bytes:
        if headers.get("transfer-encoding", "").lower() == "chunked":
            return self._chunked()
        return self._take(int(headers.get("content-length", "0")))

    def _chunked(self) -> bytes:
        body = b""
        while True:
            size = int(self._line().split(b";")[0], 16)
            chunk = self._take(size)
            self._line()
            if size == 0:
                return body
            body += chunk

    def _line(self) -> bytes:
        while b"\r\n" not in self.rest:
            self._more()
        line, self.rest = self.rest.split(b"\r\n", 1)
        return line

    def _take(self, size: int) -> bytes:
        while len(self.rest) < size:
            self._more()
        taken, self.rest = self.rest[:size], self.rest[size:]
        return taken

    def _more(self) -> None:
        received = self.socket.recv(RECEIVE)
        if not received:
            raise LabError("the server closed the connection in the middle of an answer")
        self.rest += received
