"""Which engines and stores there are, what each needs, and the article's names for them."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from stickers.engines import Address
from stickers.site import Site
from stickers.stores import Store


@dataclass(frozen=True, slots=True)
class Part:
    """An engine or a store: where its code is, which modules it needs, how to get them."""

    name: str
    about: str
    module: str
    needs: tuple[str, ...] = ()
    get: str = ""

    @property
    def missing(self) -> tuple[str, ...]:
        """The needed modules that are not installed."""
        return tuple(name for name in self.needs if find_spec(name) is None)


@dataclass(frozen=True, slots=True)
class Alias:
    """A name from the article; `instead` is set where its engine or store is not shipped."""

    name: str
    engine: str
    store: str
    uvloop: bool = False
    each_request_connects: bool = False
    lacks: str = ""
    instead: str = ""


class Unusable(Exception):
    """An engine or store cannot be had; the text says what to do."""


ENGINES: Final = {
    part.name: part
    for part in (
        Part("tarmac", "tarmac's own server", "tarmac", ("tarmac",), "pip install tarmac"),
        Part("aiohttp", "aiohttp's server", "aiohttp", ("aiohttp",),
             "pip install 'stickers[aiohttp]'"),
        Part("starlette", "Starlette on uvicorn", "starlette", ("starlette", "uvicorn", "httptools"),
             "pip install 'stickers[starlette]'"),
        Part("fastapi", "FastAPI on uvicorn", "fastapi", ("fastapi", "uvicorn", "httptools"),
             "pip install 'stickers[fastapi]'"),
    )
}  # fmt: skip

STORES: Final = {
    part.name: part
    for part in (
        Part("memory", "this process's memory, gone at its end", "memory"),
        Part("sqlite", "one SQLite file", "sqlite"),
        Part("tarantool", "Tarantool by tarmac", "tarantool_tarmac", ("tarmac",),
             "pip install tarmac"),
        Part("tarantool-asynctnt", "Tarantool by asynctnt", "tarantool_asynctnt", ("asynctnt",),
             "pip install 'stickers[asynctnt]'"),
    )
}  # fmt: skip

_POSTGRES: Final = "the Postgres store is not part of this release"
_SANIC: Final = "the Sanic engine is not part of this release"
_JAPRONTO: Final = "Japronto needs Python 3.6 and is not part of this release"

ALIASES: Final = {
    alias.name: alias
    for alias in (
        Alias("aiohttp-tarantool-multi", "aiohttp", "tarantool-asynctnt",
              each_request_connects=True),
        Alias("aiohttp-tarantool-one", "aiohttp", "tarantool-asynctnt"),
        Alias("aiohttp-tarantool-one-uvloop", "aiohttp", "tarantool-asynctnt", uvloop=True),
        Alias("aiohttp-postgres-pool", "aiohttp", "postgres", lacks=_POSTGRES,
              instead="aiohttp-tarantool-one"),
        Alias("aiohttp-postgres-pool-uvloop", "aiohttp", "postgres", uvloop=True, lacks=_POSTGRES,
              instead="aiohttp-tarantool-one-uvloop"),
        Alias("sanic-tarantool-one", "sanic", "tarantool-asynctnt", lacks=_SANIC,
              instead="aiohttp-tarantool-one"),
        Alias("sanic-tarantool-one-uvloop", "sanic", "tarantool-asynctnt", uvloop=True,
              lacks=_SANIC, instead="aiohttp-tarantool-one-uvloop"),
        Alias("japronto-tarantool-one", "japronto", "tarantool", lacks=_JAPRONTO,
              instead="-e tarmac -s tarantool"),
        Alias("japronto-tarantool-one-uvloop", "japronto", "tarantool", uvloop=True,
              lacks=_JAPRONTO, instead="-e tarmac -s tarantool --uvloop"),
    )
}  # fmt: skip


def engine(name: str) -> Callable[[Site, Address], None]:
    """The engine's `run`."""
    return _load(ENGINES, name, "engine", "stickers.engines").run  # type: ignore[no-any-return]


def store(name: str, **options: Any) -> Store:
    """A store, not yet open, made by its module's `make`."""
    return _load(STORES, name, "store", "stickers.stores").make(**options)  # type: ignore[no-any-return]


def resolve(name: str) -> Alias:
    """An alias of the article; raises Unusable with the way out if it is not shipped."""
    alias = ALIASES[name]
    if alias.lacks:
        message = f"{name}: {alias.lacks}. What works: {alias.instead}"
        raise Unusable(message)
    return alias


def _load(parts: dict[str, Part], name: str, kind: str, package: str) -> Any:
    part = parts.get(name)
    if part is None:
        message = f"there is no {kind} {name!r}. There are: {', '.join(parts)}"
        raise Unusable(message)
    if part.missing:
        message = f"the {kind} {name} needs {', '.join(part.missing)}: {part.get}"
        raise Unusable(message)
    return import_module(f"{package}.{part.module}")
