"""The command `stickers`: serve the site, load it, move it, say what is installed."""

import argparse
import asyncio
import errno
import logging
import os
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import quote

from stickers import catalog, generator, load, migrate
from stickers.catalog import Alias, Unusable
from stickers.domain import StoreUnavailable
from stickers.engines import Address
from stickers.settings import DEFAULT_RATE, Settings, signing_key
from stickers.site import Site
from stickers.stores import Store
from stickers.terminal import Bar, say, table

TARANTOOL_URL: Final = "tarantool://127.0.0.1:3301"

_PAGE_USERS: Final = {"one": "stickers", "many": "stickers_many"}

EXAMPLES: Final = """
examples:
  stickers -p 8080                            SQLite file in ./var, filled at the first start
  stickers -p 8080 -e aiohttp -s memory       another engine, nothing kept
  stickers -e tarmac -s tarantool -l info     the fast pair
  stickers -e aiohttp-tarantool-one           an engine by its name in the article
  stickers -s tarantool --requests many       as many queries per page as in the article
  stickers load --store tarantool --count 16200
  stickers load DIR                           real pictures: DIR/pack/picture.png
  stickers migrate --from tarantool --to sqlite
  stickers engines | stickers stores          what is installed, and how to get the rest

Start a Tarantool for it:  python -m stickers.tarantool_server --port 3301 --dir var/tarantool
"""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    commands = {"load": _load, "migrate": _migrate, "engines": _engines, "stores": _stores}
    try:
        if given and given[0] in commands:
            return commands[given[0]](given[1:])
        return _serve(given)
    except Unusable as error:
        return _fail(str(error))
    except StoreUnavailable as error:
        return _fail(f"the store cannot be reached: {error.__cause__!r}")
    except OSError as error:
        if error.errno not in {errno.EADDRINUSE, errno.EADDRNOTAVAIL, errno.EACCES}:
            raise
        return _fail(str(error))
    except KeyboardInterrupt:
        return 130


def _serve(given: list[str]) -> int:
    options = _serve_parser().parse_args(given)
    logging.basicConfig(level=options.log.upper(), format="%(levelname)s %(name)s: %(message)s")
    chosen = _chosen(options)
    engine = catalog.engine(chosen.engine)
    store = catalog.store(
        chosen.store,
        data=options.data,
        url=_url(options, _PAGE_USERS[options.requests]),
        requests=options.requests,
        each_request_connects=chosen.each_request_connects,
    )
    if chosen.store in {"sqlite", "memory"}:
        asyncio.run(_fill_if_empty(store))
    address = Address(options.host, options.port, chosen.uvloop, options.log, options.workers)
    say(f"{chosen.engine} serves {chosen.store} at http://{options.host}:{options.port}/")
    engine(Site(_settings(options), store), address)
    return 0


def _chosen(options: argparse.Namespace) -> Alias:
    """The engine and the store that were asked for, by their own names or by the article's."""
    chosen = Alias(options.engine, options.engine, options.store, options.uvloop)
    if options.engine in catalog.ALIASES:
        chosen = catalog.resolve(options.engine)
    if (chosen.uvloop or options.uvloop) and find_spec("uvloop") is None:
        raise Unusable("uvloop is not installed: pip install 'stickers[uvloop]'")
    if options.workers > 1 and (chosen.engine != "tarmac" or chosen.store == "memory"):
        raise Unusable("several workers need the engine tarmac and a store that they can share")
    return replace(chosen, uvloop=chosen.uvloop or options.uvloop)


def _settings(options: argparse.Namespace) -> Settings:
    return Settings(
        signing_key(options.data),
        options.data,
        options.rate_limit,
        options.behind_proxy,
        options.secure_cookies,
    )


async def _fill_if_empty(store: Store) -> None:
    await store.open()
    try:
        if await load.is_empty(store):
            say("first start: drawing stickers")
            await load.load(store, load.generated())
    finally:
        await store.close()


def _load(given: list[str]) -> int:
    parser = argparse.ArgumentParser("stickers load", description="Replace what a store holds.")
    parser.add_argument("folder", nargs="?", type=Path, help="pictures: folder/pack/picture.png")
    parser.add_argument("--count", type=int, default=generator.WHOLE, help="how many to draw")
    _add_store_options(parser, "--store", "-s")
    options = parser.parse_args(given)
    store = _admin_store(options.store, options)
    try:
        data = (
            load.pictures(options.folder, options.data / "images") if options.folder else load.generated(options.count)
        )
    except ValueError as error:
        raise Unusable(str(error)) from None
    asyncio.run(_loaded(store, data))
    say(f"{data.count} stickers in {len(data.packs)} packs are in {options.store}")
    return 0


async def _loaded(store: Store, data: load.DataSet) -> None:
    await store.open()
    try:
        with Bar("stickers", data.count) as bar:
            await load.load(store, data, bar.show)
    finally:
        await store.close()


def _migrate(given: list[str]) -> int:
    parser = argparse.ArgumentParser("stickers migrate", description="Copy one store to another.")
    _add_store_options(parser, "--from", required=True)
    parser.add_argument("--to", required=True, choices=[*catalog.STORES])
    parser.add_argument("--to-data", type=Path, help="the target's data folder, if another")
    parser.add_argument("--to-url", help="the target's Tarantool, if another")
    options = parser.parse_args(given)
    source = _admin_store(getattr(options, "from"), options)
    options.data, options.url = options.to_data or options.data, options.to_url or options.url
    target = _admin_store(options.to, options)
    copied = asyncio.run(_migrated(source, target))
    say(table(
        ("table", "rows", "rows there", "checksum", "checksum there", ""),
        [(one.table, one.count, one.count_there, one.checksum[:12], one.checksum_there[:12],
          "same" if one.same else "DIFFERENT") for one in copied],
    ))  # fmt: skip
    return 0 if all(one.same for one in copied) else 1


async def _migrated(source: Store, target: Store) -> list[migrate.Copied]:
    await source.open()
    await target.open()
    try:
        return await migrate.migrate(source, target)
    finally:
        await source.close()
        await target.close()


def _engines(given: list[str]) -> int:
    argparse.ArgumentParser("stickers engines", description="Engines.").parse_args(given)
    _list_parts(catalog.ENGINES)
    rows = [
        (alias.name, alias.lacks or f"{alias.engine} with {alias.store}", alias.instead)
        for alias in catalog.ALIASES.values()
    ]
    say("\n" + table(("name in the article", "means", "instead"), rows))
    return 0


def _stores(given: list[str]) -> int:
    argparse.ArgumentParser("stickers stores", description="Stores.").parse_args(given)
    _list_parts(catalog.STORES)
    return 0


def _list_parts(parts: dict[str, catalog.Part]) -> None:
    rows = [
        (part.name, part.about,
         f"missing {', '.join(part.missing)}: {part.get}" if part.missing else "installed")
        for part in parts.values()
    ]  # fmt: skip
    say(table(("name", "what", "state"), rows))


def _serve_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "stickers",
        description="Serve the sticker voting site.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-p", "--port", type=int, default=8080, help="default 8080")
    parser.add_argument("--host", default="127.0.0.1", help="default 127.0.0.1")
    default = "tarmac" if not catalog.ENGINES["tarmac"].missing else "aiohttp"
    parser.add_argument("-e", "--engine", default=default, help=f"here by default {default}")
    _add_store_options(parser, "-s", "--store")
    parser.add_argument("-l", "--log", default="warning", help="default warning",
                        choices=["debug", "info", "warning", "error", "critical"])  # fmt: skip
    parser.add_argument("--requests", choices=["one", "many"], default="one",
                        help="Tarantool: one stored procedure per page, or many queries")  # fmt: skip
    parser.add_argument("--workers", type=int, default=1, help="processes on one port (tarmac)")
    parser.add_argument("--uvloop", action="store_true", help="run on uvloop")
    parser.add_argument("--rate-limit", type=float, default=DEFAULT_RATE, metavar="N",
                        help="votes per minute and session; 0 for races (default %(default)g)")  # fmt: skip
    parser.add_argument("--behind-proxy", action="store_true",
                        help="trust X-Forwarded-For and X-Forwarded-Proto")  # fmt: skip
    parser.add_argument("--secure-cookies", action="store_true", help="always mark them Secure")
    return parser


def _add_store_options(parser: argparse.ArgumentParser, *names: str, required: bool = False) -> None:
    default = None if required else "sqlite"
    parser.add_argument(*names, default=default, required=required, metavar="STORE",
                        help=", ".join(catalog.STORES))  # fmt: skip
    parser.add_argument("--data", type=Path, default=Path("var"), help="folder for files (var)")
    parser.add_argument("--url", default=os.environ.get("STICKERS_TARANTOOL_URL"),
                        help="Tarantool (STICKERS_TARANTOOL_URL, or a local one on port 3301)")  # fmt: skip


def _admin_store(name: str, options: argparse.Namespace) -> Store:
    return catalog.store(name, data=options.data, url=_url(options, "stickers_admin"))


def _url(options: argparse.Namespace, user: str) -> str:
    """The given address; where it names nobody, as the user for what is to be done."""
    given: str = options.url or TARANTOOL_URL
    scheme, separator, rest = given.partition("://")
    if not separator or "@" in rest:
        return given
    password = os.environ.get(f"{user.upper()}_PASSWORD", "stickers")
    return f"{scheme}://{user}:{quote(password, safe='')}@{rest}"


def _fail(message: str) -> int:
    sys.stderr.write(f"stickers: {message}\n")
    return 2
