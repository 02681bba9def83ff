"""What a client accepts: the order of an Accept-Encoding field (RFC 9110 section 12.5.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.middleware.fields import qualities

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["accepted_codings"]


def accepted_codings(lines: Iterable[str], offered: tuple[str, ...]) -> list[str]:
    """Which of the *offered* codings a client accepts, the dearest to it first, then in the order offered.

    Without those that it likes less than the content as it is (``identity``).
    """
    weights = qualities(", ".join(lines))
    others, plain = weights.get("*", 0.0), weights.get("identity", 0.0)
    if "x-gzip" in weights:
        weights.setdefault("gzip", weights["x-gzip"])
    found = [(weights.get(name, others), name) for name in offered]
    return [name for weight, name in sorted(found, key=lambda pair: -pair[0]) if weight > 0 and weight >= plain]
