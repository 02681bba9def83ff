"""The field of the quick race: on Tarantool if it is here, else on SQLite, and what is left out."""

from __future__ import annotations

from dataclasses import dataclass, field

from races.entrant import Entrant, load_entrants
from races.errors import CannotRunHere
from races.paths import Paths
from races.plan import QUICK_FIELDS
from races.stores import store_kind


@dataclass(frozen=True, slots=True)
class Field:
    """Names of the entrants, the reference first."""

    entrants: tuple[str, ...]
    left_out: list[tuple[str, str]] = field(default_factory=list)


def choose_field(paths: Paths) -> Field:
    """The first field whose store is here."""
    entrants = load_entrants(paths.entrants)
    left_out: list[tuple[str, str]] = []
    for names in QUICK_FIELDS:
        known = [entrants[name] for name in names if name in entrants]
        if not known:
            continue
        reason = _missing_store(known, paths)
        if reason is None:
            return Field(tuple(entrant.name for entrant in known), left_out)
        left_out.append((", ".join(entrant.title for entrant in known), reason))
    raise CannotRunHere("; ".join(f"{what}: {why}" for what, why in left_out) or "no entrants")


def _missing_store(entrants: list[Entrant], paths: Paths) -> str | None:
    for store in {entrant.store for entrant in entrants}:
        try:
            store_kind(store).check(paths.project)
        except CannotRunHere as reason:
            return str(reason)
    return None
