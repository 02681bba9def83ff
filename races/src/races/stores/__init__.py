"""Stores: the database processes that entrants need, private to one heat. One file each."""

from __future__ import annotations

from races.errors import UsageError
from races.stores.none import NoStore
from races.stores.sqlite import SqliteKind
from races.stores.store import Store, StoreKind
from races.stores.tarantool import TarantoolKind

__all__ = ["KINDS", "Store", "StoreKind", "store_kind"]

KINDS: dict[str, StoreKind] = {
    "none": NoStore(),
    "sqlite": SqliteKind(),
    "tarantool": TarantoolKind(),
}


def store_kind(name: str) -> StoreKind:
    """The kind of store an entrant names."""
    if name not in KINDS:
        raise UsageError(f"unknown store {name!r}; there are {', '.join(KINDS)}")
    return KINDS[name]
