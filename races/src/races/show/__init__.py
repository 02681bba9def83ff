"""Ways to show a race in the terminal: live table, plain lines, JSON lines. One file each."""

from __future__ import annotations

from races.show.live import LiveShow
from races.show.ndjson import NdjsonShow
from races.show.plain import PlainShow
from races.show.show import Progress, Show

__all__ = ["LiveShow", "NdjsonShow", "PlainShow", "Progress", "Show", "choose_show"]


def choose_show(*, plain: bool, ndjson: bool, terminal: bool) -> Show:
    """JSON lines or plain lines when asked for; the live table only on a terminal."""
    if ndjson:
        return NdjsonShow()
    if plain or not terminal:
        return PlainShow()
    return LiveShow()
