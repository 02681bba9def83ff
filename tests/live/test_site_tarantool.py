"""What only Tarantool can show: queries per page on the wire, rights, bounds, repeated starts."""

from __future__ import annotations

import asyncio
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest
from stickers.domain import Ballot, StoreUnavailable, Visit
from stickers.migrate import summary
from stickers.stores import TABLES, Store
from stickers.tarantool_server import TarantoolServer
from support.site import QueryCounter, need, need_tarantool, sticker_server  # noqa: F401 - a fixture is used by its name
from support.waiting import free_port

from stickers import domain, load

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

pytestmark = pytest.mark.live

NEW_INDEX, KNOWN_INDEX, NEW_GOOD, KNOWN_GOOD = 10, 8, 4, 2


def module_of(driver: str) -> Any:
    need({"tarantool": "tarmac", "tarantool-asynctnt": "asynctnt"}[driver])
    if driver == "tarantool":
        from stickers.stores import tarantool_tarmac

        return tarantool_tarmac
    from stickers.stores import tarantool_asynctnt

    return tarantool_asynctnt


def visit(session: str | None) -> Visit:
    return Visit(session, int(time.time()), "127.0.0.1", "counter")


async def count_pages(store: Store, counter: QueryCounter) -> list[int]:
    """Queries for Index new, Index known, Good new, Good known, vote."""

    async def cost(page: Awaitable[Any]) -> int:
        before = counter.queries
        await page
        return counter.queries - before

    new_index = await cost(store.index(visit(None)))
    pair = await store.index(visit(None))
    assert pair.left is not None
    assert pair.right is not None
    ballot = Ballot(pair.session, pair.left.token, pair.right.token, int(time.time()))
    return [
        new_index,
        await cost(store.index(visit(pair.session))),
        await cost(store.listing(visit(None), best=True)),
        await cost(store.listing(visit(pair.session), best=True)),
        await cost(store.vote(ballot)),
    ]


@pytest.mark.parametrize("driver", ["tarantool-asynctnt", "tarantool"])
@pytest.mark.parametrize(
    ("requests", "user", "expected"),
    [
        ("one", "stickers", [1, 1, 1, 1, 1]),
        ("many", "stickers_many", [NEW_INDEX, KNOWN_INDEX, NEW_GOOD, KNOWN_GOOD, 1]),
    ],
)
def test_queries_for_each_page(
    request: pytest.FixtureRequest, driver: str, requests: str, user: str, expected: list[int]
) -> None:
    """One procedure a page; or as many queries as the article's code made.

    The article counts nine for Index: for each of two stickers a random one, a token and an
    insert, then id and upsert of the session, then the statistics. Its code also counts a new
    visitor, which is the tenth; a known one needs neither id nor count, which leaves eight.
    """
    module = module_of(driver)
    server: TarantoolServer = request.getfixturevalue("sticker_server")

    async def work() -> list[int]:
        admin = module.make(url=server.url("stickers_admin"))
        await admin.open()
        await load.load(admin, load.generated(50))
        await admin.close()
        counter = QueryCounter(server.port)
        async with counter.listening() as port:
            store = module.make(url=server.url(user).replace(str(server.port), str(port)), requests=requests)
            await store.open()
            try:
                return await count_pages(store, counter)
            finally:
                await store.close()

    counted = asyncio.run(work())
    print(f"{driver} --requests {requests}: {counted}")
    assert expected == counted
    assert NEW_INDEX - 1 == KNOWN_INDEX + 1 == 9, "the article's number lies between its two codes"


@pytest.mark.parametrize("user", ["stickers", "stickers_many", "stickers_admin", "guest"])
def test_users_may_do_no_more_than_they_must(sticker_server: TarantoolServer, user: str) -> None:  # noqa: F811
    """Fault: the site's database user could do anything. No eval, no universe, no foreign space."""
    need("asynctnt")
    import asynctnt
    from asynctnt.exceptions import TarantoolDatabaseError

    pages = {"stickers.good", "stickers.statistics"}
    admin = {"stickers.put", "stickers.rows", "stickers.clear", "stickers.expire"}
    calls = {
        "stickers": pages,
        "stickers_many": pages | {"stickers.new_token"},
        "stickers_admin": pages | admin,
        "guest": set(),
    }[user]
    reads = {"stickers_many": {"stickers", "sessions", "server"}}.get(user, set())
    writes = {"stickers_many": {"secret", "sessions", "server"}}.get(user, set())
    arguments: dict[str, list[Any]] = {
        "stickers.good": ["s", False, 1, "", ""], "stickers.put": ["packs", []], "stickers.rows": ["packs", None, 1],
        "stickers.expire": [1],
    }  # fmt: skip

    async def work() -> tuple[set[str], set[str], set[str]]:
        credentials = {} if user == "guest" else {"username": user, "password": "stickers"}
        async with asynctnt.Connection(host="127.0.0.1", port=sticker_server.port, **credentials) as link:

            async def allowed(query: Awaitable[Any]) -> bool:
                try:
                    await query
                except TarantoolDatabaseError as error:
                    if "denied" not in str(error):
                        raise
                    return False
                return True

            assert not await allowed(link.eval("return 1"))
            every = pages | admin | {
                "stickers.new_token", "box.info", "box.schema.user.create", "box.schema.user.grant", "box.snapshot",
                "box.cfg", "os.exit", "loadstring", "require", "box.space.stickers:truncate",
            }  # fmt: skip
            called = {name for name in sorted(every) if await allowed(link.call(name, arguments.get(name, [])))}
            # By number: a user without rights on a space does not even see its name.
            spaces = {name: 512 + place for place, name in enumerate(SPACE_ORDER)}
            read = {name for name, number in spaces.items() if await allowed(link.select(number, limit=1))}
            written = {name for name in spaces if await allowed(link.upsert(spaces[name], SAMPLES[name], []))}
            for system in (280, 288, 296, 304, 312, 320):
                assert not await allowed(link.replace(system, [1])), system
            return called, read, written

    assert (calls, reads, writes) == asyncio.run(work())


SPACE_ORDER = ("packs", "stickers", "sessions", "secret", "server")
SAMPLES: dict[str, list[Any]] = {
    "packs": ["sample", "Sample", 0],
    "stickers": [999_999, "sample", 1, "Sample", "svg", 0, 0, 0, 0],
    "sessions": ["sample", 1, 2_000_000_000, 1, "", ""],
    "secret": ["sample", "", "", 1, 2_000_000_000],
    "server": ["sample", 0],
}


@pytest.mark.parametrize("kind", ["memory", "sqlite", "tarantool-asynctnt"])
def test_a_crowd_cannot_fill_the_memory(kind: str, tmp_path: Path) -> None:
    """Fault: every visit left rows for ever. Above the bounds the oldest go, the newest still work."""
    most_tokens, most_sessions = 20, 15

    async def crowd(store: Store, admin: Store) -> None:
        await load.load(admin, load.generated(50))
        now = int(time.time())
        for number in range(60):
            pair = await store.index(Visit(None, now + number, "127.0.0.1", "crowd"))
        if not store.expires_itself:
            await store.expire(now)
        assert (most_tokens, most_sessions) == (
            (await summary(admin, "secret"))[0], (await summary(admin, "sessions"))[0]
        )  # fmt: skip
        assert pair.left is not None
        assert pair.right is not None
        assert await store.vote(Ballot(pair.session, pair.left.token, pair.right.token, now + 60))

    async def tarantool() -> None:
        module = module_of(kind)
        bounds = {"STICKERS_MOST_TOKENS": str(most_tokens), "STICKERS_MOST_SESSIONS": str(most_sessions)}
        with TarantoolServer(tmp_path, free_port(), extra=bounds) as server:
            store, admin = module.make(url=server.url()), module.make(url=server.url("stickers_admin"))
            await store.open()
            await admin.open()
            await crowd(store, admin)
            await store.close()
            await admin.close()

    async def embedded() -> None:
        from stickers.stores.memory import MemoryStore
        from stickers.stores.sqlite import SqliteStore

        store: Store
        if kind == "memory":
            store = MemoryStore(most_tokens, most_sessions)
        else:
            store = SqliteStore(tmp_path / "stickers.db", most_tokens, most_sessions)
        try:
            await crowd(store, store)
        finally:
            await store.close()

    if kind == "tarantool-asynctnt":
        need_tarantool()
    asyncio.run(tarantool() if kind == "tarantool-asynctnt" else embedded())


def test_the_schema_has_its_spaces_formats_and_indexes(sticker_server: TarantoolServer) -> None:  # noqa: F811
    """Five spaces, each with the indexes that its pages need: no page sorts or scans."""
    need("asynctnt")
    import asynctnt

    expected = {
        "packs": [("primary", True, ["name"])],
        "stickers": [
            ("primary", True, ["id"]),
            ("rating", True, ["rating", "id"]),
            ("pack", True, ["pack", "number"]),
            ("judged", True, ["judged", "rating", "id"]),
        ],
        "sessions": [("primary", True, ["id"]), ("seen", False, ["seen"])],
        "secret": [("primary", True, ["token"]), ("expires", False, ["expires"])],
        "server": [("primary", True, ["name"])],
    }

    async def work() -> dict[str, list[tuple[str, bool, list[str]]]]:
        # The system's views show a user what it may touch; all five need two users' eyes.
        found: dict[str, list[tuple[str, bool, list[str]]]] = {}
        where = {"host": "127.0.0.1", "port": sticker_server.port, "password": "stickers"}
        async with asynctnt.Connection(**where, username="stickers_many") as link:
            spaces = {row[0]: row for row in await link.select("_vspace") if row[0] >= 512}
            for number, space in spaces.items():
                names = [field["name"] for field in space[6]]
                rows = await link.select("_vindex", [number])
                found[space[2]] = [
                    (row[2], row[4]["unique"], [names[part["field"] if isinstance(part, dict) else part[0]]
                                                for part in row[5]])
                    for row in rows
                ]  # fmt: skip
        return found

    found = asyncio.run(work())
    assert set(expected) - {"packs"} <= set(found)
    assert {name: expected[name] for name in found} == found


def test_the_server_expires_by_itself(sticker_server: TarantoolServer) -> None:  # noqa: F811
    """Nobody has to ask: what expired an hour ago is gone within seconds."""
    module = module_of("tarantool-asynctnt")

    async def work() -> None:
        admin = module.make(url=sticker_server.url("stickers_admin"))
        await admin.open()
        await load.load(admin, load.generated(10))
        past = int(time.time()) - domain.SESSION_LIFETIME - 10
        await admin.index(Visit(None, past, "", ""))
        await admin.index(Visit(None, int(time.time()), "", ""))
        deadline = time.monotonic() + 15
        while [2, 1] != [(await summary(admin, table))[0] for table in ("secret", "sessions")]:
            assert time.monotonic() < deadline, "the old rows are still there"
            await asyncio.sleep(0.05)
        await admin.close()

    asyncio.run(work())


def test_a_crash_and_a_second_start_keep_everything(tmp_path: Path) -> None:
    """The schema may be run again; with wal_mode write nothing that was accepted is lost."""
    need_tarantool()
    module = module_of("tarantool-asynctnt")
    server = TarantoolServer(tmp_path, free_port())

    async def with_admin(work: Callable[[Store], Awaitable[Any]]) -> Any:
        admin = module.make(url=server.url("stickers_admin"))
        await admin.open()
        try:
            return await work(admin)
        finally:
            await admin.close()

    async def checksums(store: Store) -> list[tuple[int, str]]:
        return [await summary(store, table) for table in TABLES]

    async def use(store: Store) -> list[tuple[int, str]]:
        await load.load(store, load.generated(100))
        pair = await store.index(visit(None))
        assert pair.left is not None
        assert pair.right is not None
        assert await store.vote(Ballot(pair.session, pair.left.token, pair.right.token, int(time.time())))
        return await checksums(store)

    with server:
        before = asyncio.run(with_admin(use))
        server.stop(signal.SIGKILL)
        server.start()
        assert before == asyncio.run(with_admin(checksums))


def test_page_users_cannot_load(sticker_server: TarantoolServer) -> None:  # noqa: F811
    """Loading needs the administrator; others get an error, not a broken data set."""
    module = module_of("tarantool-asynctnt")

    async def work() -> None:
        store = module.make(url=sticker_server.url("stickers"))
        await store.open()
        with pytest.raises(StoreUnavailable) as refused:
            await store.clear()
        assert "denied" in str(refused.value.__cause__)
        await store.close()

    asyncio.run(work())
