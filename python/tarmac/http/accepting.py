"""What a client accepts: the order of an Accept-Encoding field (RFC 9110 section 12.5.3)."""

from __future__ import annotations

__all__ = ["accepted_codings"]


def accepted_codings(value: str | None, offered: tuple[str, ...]) -> list[str]:
    """Which of the *offered* codings a client accepts, the dearest to it first, then in the order offered."""
    if not value:
        return []
    weights = {name: weight for name, weight in map(_weighed, value.lower().split(",")) if name}
    others = weights.get("*", 0.0)
    found = [(weights.get(name, others), name) for name in offered]
    return [name for weight, name in sorted(found, key=lambda pair: -pair[0]) if weight > 0]


def _weighed(item: str) -> tuple[str, float]:
    name, _, parameters = item.partition(";")
    weight = 1.0
    for parameter in parameters.split(";"):
        key, mark, text = parameter.partition("=")
        if mark and key.strip() == "q":
            try:
                weight = float(text)
            except ValueError:
                weight = 0.0
    name = name.strip()
    return ("gzip" if name == "x-gzip" else name), weight if 0.0 <= weight <= 1.0 else 0.0
