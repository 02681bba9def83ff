"""Asks a Tarantool's text console one expression at a time."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

from races.errors import LabError

END_OF_REPLY = b"\n...\n"
PATIENCE = 10.0


def ask(console: Path, expression: str) -> Any:
    """The value of a Lua expression. It travels as JSON inside the console's YAML."""
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(PATIENCE)
        try:
            link.connect(str(console))
            _until(link, b"\n", times=2)
            link.sendall(f"return 'json=' .. require('json').encode({expression})\n".encode())
            reply = _until(link, END_OF_REPLY)
        except OSError as error:
            raise LabError(f"the store's console does not answer: {error}") from error
    return parse_reply(reply.decode())


def parse_reply(reply: str) -> Any:
    """`--- - json={"a":1} ...`, quoted or folded as YAML pleases, as a value."""
    start, end = reply.find("json="), reply.rfind("...")
    if start < 0:
        raise LabError(f"the store's console says: {reply.strip()}")
    text = reply[start + len("json=") : end].strip().strip("'").replace("\n  ", " ")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise LabError(f"the store's console says: {reply.strip()}") from error


def _until(link: socket.socket, mark: bytes, times: int = 1) -> bytes:
    received = b""
    while received.count(mark) < times:
        more = link.recv(65536)
        if not more:
            raise ConnectionError("closed")
        received += more
    return received
