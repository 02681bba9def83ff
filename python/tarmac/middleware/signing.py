"""Signed text: made by us, not older than it may be, and for the purpose that it is used for."""

from __future__ import annotations

import binascii
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence

from tarmac.errors import ConfigurationError

__all__ = ["Signer", "decoded", "encoded"]

_SHORTEST_KEY = 16


class Signer:
    """Signs with the first of *keys* and believes all of them, so that keys can be changed one after another.

    Each *purpose* has keys of its own: what was signed for one is worth nothing for another.
    """

    def __init__(self, keys: Sequence[str | bytes] | str | bytes, purpose: str) -> None:
        given = [keys] if isinstance(keys, (str, bytes)) else list(keys)
        secrets = [key.encode() if isinstance(key, str) else key for key in given]
        if not secrets or any(len(key) < _SHORTEST_KEY for key in secrets):
            message = f"a key has at least {_SHORTEST_KEY} bytes: make one by secrets.token_urlsafe() and keep it"
            raise ConfigurationError(message)
        self._keys = [hmac.digest(key, purpose.encode(), "sha256") for key in secrets]

    def sign(self, text: str) -> str:
        """*text* with its signature."""
        return f"{text}.{self._mac(self._keys[0], text)}"

    def text(self, signed: str) -> tuple[str, bool] | None:
        """What was signed, and whether that was with today's key; ``None`` for what was not signed by us."""
        text, dot, mac = signed.rpartition(".")
        if not dot or not signed.isascii():
            return None
        for place, key in enumerate(self._keys):
            if hmac.compare_digest(mac, self._mac(key, text)):
                return text, place == 0
        return None

    @staticmethod
    def _mac(key: bytes, text: str) -> str:
        return encoded(hmac.digest(key, text.encode(), "sha256"))


def encoded(data: bytes) -> str:
    """Bytes as text that a cookie can hold."""
    return urlsafe_b64encode(data).decode().rstrip("=")


def decoded(text: str) -> bytes | None:
    """The inverse of ``encoded``; ``None`` for what it did not make."""
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return None
