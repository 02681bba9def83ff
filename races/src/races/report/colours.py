"""One colour for each entrant in all charts; the twin wears the reference's."""

from __future__ import annotations

from races.result import Result

PALETTE_SIZE = 8


def colour_of(result: Result, name: str) -> str:
    """A CSS variable of style.css, by the order in which the entrants were named."""
    owner = result.entrants[name].get("twin_of") or name
    runners = [each for each, about in result.entrants.items() if not about.get("twin_of")]
    return f"var(--entrant-{runners.index(owner) % PALETTE_SIZE})"
