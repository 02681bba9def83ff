"""What can be set from outside, and the key that signs session cookies."""

import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

KEY_LENGTH: Final = 32
DEFAULT_RATE: Final = 120.0
"""Votes per minute and session: twice what a fast human does."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything about a running site except engine and store."""

    secret: bytes = field(repr=False)
    data: Path
    rate_limit: float = DEFAULT_RATE
    behind_proxy: bool = False
    secure_cookies: bool = False


def signing_key(data: Path) -> bytes:
    """From STICKERS_SECRET, or from the file `secret` in `data`, made at first need."""
    given = os.environ.get("STICKERS_SECRET")
    if given:
        return given.encode()
    path = data / "secret"
    try:
        return bytes.fromhex(path.read_text("ascii"))
    except FileNotFoundError:
        data.mkdir(parents=True, exist_ok=True)
        return _first_key(path)


def _first_key(path: Path) -> bytes:
    key = secrets.token_bytes(KEY_LENGTH)
    scratch = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(key.hex())
    try:
        # A link never replaces: of several workers starting at once the first one wins.
        os.link(scratch, path)
    except FileExistsError:
        return bytes.fromhex(path.read_text("ascii"))
    finally:
        scratch.unlink()
    return key
