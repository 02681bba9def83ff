"""What the page servers have in common: the plain list they answer with, and the values a new visitor needs."""

import secrets
from collections.abc import Iterable
from typing import Any


def plain_list(rows: Iterable[Any]) -> str:
    """Pack, number and rating of each sticker, a line each."""
    return "\n".join([f"{row[1]}/{row[2]} {row[3]}" for row in rows])


def token() -> str:
    return secrets.token_hex(32)
