"""Every store keeps the same promises: the one contract, run against all of them."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from stickers.domain import Ballot, Sticker, Visit
from stickers.migrate import batches, summary
from stickers.stores import TABLES, Store
from stickers.stores.memory import MemoryStore
from stickers.stores.sqlite import SqliteStore
from support.site import need, sticker_server  # noqa: F401 - a fixture is used by its name

from stickers import domain, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stickers.tarantool_server import TarantoolServer

pytestmark = pytest.mark.live

NOW = 2_000_000_000
INJECTION = "'; DROP TABLE stickers; --\"\x00<script>\\u0027 é 🙂"
KINDS = (
    "memory", "sqlite",
    "tarantool-asynctnt one", "tarantool-asynctnt many", "tarantool-asynctnt each",
    "tarantool one", "tarantool many", "tarantool each",
)  # fmt: skip


@dataclass
class Two:
    """The store as the site opens it, and as the administrator does; often the same."""

    site: Store
    admin: Store


@pytest.fixture(params=KINDS)
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., None]:
    """Give `run(check, count=...)`: it opens the stores, loads stickers and awaits `check(two)`."""
    make = _maker(request, tmp_path)

    def run_check(check: Any, count: int = 150) -> None:
        async def whole() -> None:
            two = make()
            await two.admin.open()
            await two.site.open()
            try:
                await load.load(two.admin, load.generated(count))
                await check(two)
            finally:
                await two.site.close()
                await two.admin.close()

        asyncio.run(whole())

    return run_check


def _maker(request: pytest.FixtureRequest, folder: Path) -> Callable[[], Two]:
    kind, _, variant = request.param.partition(" ")
    if kind == "memory":
        memory = MemoryStore()
        return lambda: Two(memory, memory)
    if kind == "sqlite":
        sqlite = SqliteStore(folder / "stickers.db")
        return lambda: Two(sqlite, sqlite)
    module = need_driver(kind)
    server: TarantoolServer = request.getfixturevalue("sticker_server")
    many = variant == "many"
    url = server.url("stickers_many" if many else "stickers")
    return lambda: Two(
        module.make(url=url, requests="many" if many else "one", each_request_connects=variant == "each"),
        module.make(url=server.url("stickers_admin")),
    )


def need_driver(kind: str) -> Any:
    """Import the store's module; skip, visibly, without its driver."""
    if kind == "tarantool":
        need("tarmac")
        from stickers.stores import tarantool_tarmac

        return tarantool_tarmac
    need("asynctnt")
    from stickers.stores import tarantool_asynctnt

    return tarantool_asynctnt


def visit(session: str | None = None, now: int = NOW, agent: str = "browser") -> Visit:
    return Visit(session, now, "127.0.0.1", agent)


async def shown(store: Store, session: str | None = None) -> tuple[str, domain.Shown, domain.Shown]:
    pair = await store.index(visit(session))
    assert pair.left is not None
    assert pair.right is not None
    return pair.session, pair.left, pair.right


async def again(store: Store, sticker: Sticker) -> Sticker:
    found = await store.sticker(sticker.pack, sticker.number)
    assert found is not None
    return found


def test_index_draws_two_different_stickers_at_random(run: Any) -> None:
    """Two stickers are never the same one, and of three each is drawn on either side."""

    async def check(two: Two) -> None:
        sides: Counter[tuple[str, int]] = Counter()
        for _ in range(80):
            _, left, right = await shown(two.site, "s" * 43)
            assert left.sticker.id != right.sticker.id
            sides.update({("left", left.sticker.id), ("right", right.sticker.id)})
        assert {(side, number) for side in ("left", "right") for number in (1, 2, 3)} == set(sides)

    run(check, count=3)


@pytest.mark.parametrize("count", [0, 1])
def test_index_without_two_stickers_shows_none(run: Any, count: int) -> None:
    """One sticker cannot be compared; the visit counts all the same."""

    async def check(two: Two) -> None:
        pair = await two.site.index(visit())
        assert (None, None) == (pair.left, pair.right)
        assert 43 == len(pair.session)
        assert 0 == (await summary(two.admin, "secret"))[0]
        assert 1 == (await two.site.statistics()).clicks

    run(check, count=count)


def test_a_vote_moves_both_ratings_and_all_counts(run: Any) -> None:
    """The winner gains one, the loser gives one up, and the tokens are spent."""

    async def check(two: Two) -> None:
        session, left, right = await shown(two.site)
        assert await two.site.vote(Ballot(session, right.token, left.token, NOW))
        won, lost = await again(two.site, right.sticker), await again(two.site, left.sticker)
        assert (1, 1, 0) == (won.rating, won.up, won.down)
        assert (-1, 0, 1) == (lost.rating, lost.up, lost.down)
        assert 1 == (await two.site.statistics()).votes
        assert 0 == (await summary(two.admin, "secret"))[0]

    run(check)


def test_a_hundred_identical_votes_at_once_count_once(run: Any) -> None:
    """Atomic: exactly one of them is accepted."""

    async def check(two: Two) -> None:
        session, left, right = await shown(two.site)
        ballot = Ballot(session, left.token, right.token, NOW)
        results = await asyncio.gather(*(two.site.vote(ballot) for _ in range(100)))
        assert [True] == [one for one in results if one]
        assert 1 == (await again(two.site, left.sticker)).up
        assert 1 == (await two.site.statistics()).votes

    run(check)


def test_both_forms_of_a_pair_at_once_count_once(run: Any) -> None:
    """Voting for the left and for the right one at the same time is one vote."""

    async def check(two: Two) -> None:
        session, left, right = await shown(two.site)
        one, other = Ballot(session, left.token, right.token, NOW), Ballot(session, right.token, left.token, NOW)
        results = await asyncio.gather(*(two.site.vote(ballot) for ballot in [one, other] * 20))
        assert 1 == sum(results)
        assert 1 == (await two.site.statistics()).votes

    run(check)


def test_refused_votes_change_nothing(run: Any) -> None:
    """Swapped, replayed, foreign, expired, invented and missing tokens."""

    async def check(two: Two) -> None:
        session, left, right = await shown(two.site)
        _, third, fourth = await shown(two.site, session)
        stranger, *_ = await shown(two.site)
        used, winner, loser = await shown(two.site, session)
        assert await two.site.vote(Ballot(used, winner.token, loser.token, NOW))
        before = [await summary(two.admin, table) for table in TABLES]
        invented = domain.new_token()
        for refused in (
            Ballot(session, left.token, third.token, NOW),
            Ballot(session, fourth.token, right.token, NOW),
            Ballot(session, left.token, left.token, NOW),
            Ballot(session, winner.token, loser.token, NOW),
            Ballot(session, loser.token, winner.token, NOW),
            Ballot(stranger, left.token, right.token, NOW),
            Ballot("", left.token, right.token, NOW),
            Ballot(session, left.token, right.token, NOW + domain.TOKEN_LIFETIME),
            Ballot(session, left.token, invented, NOW),
            Ballot(session, invented, right.token, NOW),
            Ballot(session, "", right.token, NOW),
            Ballot(session, left.token, "", NOW),
            Ballot(session, "", "", NOW),
            Ballot(session, INJECTION, INJECTION, NOW),
        ):
            assert not await two.site.vote(refused), refused
        assert before == [await summary(two.admin, table) for table in TABLES]
        last_moment = NOW + domain.TOKEN_LIFETIME - 1
        assert await two.site.vote(Ballot(session, left.token, right.token, last_moment))

    run(check)


@pytest.mark.parametrize("count", [0, 1, 8, 9, 30])
def test_listings_follow_the_rating(run: Any, count: int) -> None:
    """Best: highest first, then latest first; worst is the exact opposite; nine at most."""

    async def check(two: Two) -> None:
        rows = [row._replace(rating=(row.id * 7) % 5 - 2) for row in load.generated(count).stickers]
        await two.admin.put("stickers", rows)
        ordered = sorted(rows, key=lambda row: (row.rating, row.id))
        worst = await two.site.listing(visit("s" * 43), best=False)
        best = await two.site.listing(visit("s" * 43), best=True)
        assert ordered[:9] == worst.stickers
        assert ordered[::-1][:9] == best.stickers
        assert "s" * 43 == best.session

    run(check, count=count)


def test_sqlite_takes_the_order_from_an_index(tmp_path: Path) -> None:
    """Nothing is sorted, nothing scanned: the plan names the index and no temporary tree."""
    import sqlite3

    from stickers.stores import sqlite

    store = SqliteStore(tmp_path / "stickers.db")
    asyncio.run(store.open())
    asyncio.run(store.close())
    with contextlib.closing(sqlite3.connect(tmp_path / "stickers.db")) as rows:
        for statement, index in (
            (sqlite._BEST, "stickers_rating"),
            (sqlite._WORST, "stickers_rating"),
            (sqlite._UGLIEST, "stickers_judged"),
        ):
            plan = [row[3] for row in rows.execute(f"EXPLAIN QUERY PLAN {statement}", (9,))]
            assert [f"SCAN stickers USING INDEX {index}"] == plan


def test_ugliest_are_the_worst_of_those_with_twenty_votes(run: Any) -> None:
    """The twentieth vote lets a sticker in; the worst one stands first."""

    async def check(two: Two) -> None:
        rows = [
            Sticker(1, "p", 1, "nineteen", "svg", -19, 0, 19, 0),
            Sticker(2, "p", 2, "new", "svg", 0, 0, 0, 0),
            Sticker(3, "p", 3, "worst", "svg", -30, 0, 30, 1),
            Sticker(4, "q", 1, "split", "svg", 0, 10, 10, 1),
        ]
        await two.admin.put("stickers", rows)
        assert ["worst", "split"] == [row.title for row in await two.site.ugliest()]
        await vote_until(two.site, "nineteen")
        # Against whom it was judged is chance; that it is judged now is not.
        assert "nineteen" in [row.title for row in await two.site.ugliest()]

    run(check, count=0)


async def vote_until(store: Store, title: str) -> None:
    """Vote on whatever is shown until the sticker was judged once."""
    for _ in range(500):
        session, left, right = await shown(store)
        if title in {left.sticker.title, right.sticker.title}:
            assert await store.vote(Ballot(session, left.token, right.token, NOW))
            return
    pytest.fail(f"{title} was never shown")


def test_a_session_counts_its_visits(run: Any) -> None:
    """New visitors get ids of 256 bits; known ones keep theirs, and their last agent is kept."""

    async def check(two: Two) -> None:
        first = (await two.site.listing(visit(agent="old"), best=True)).session
        assert first == (await two.site.index(visit(first, NOW + 9, "new"))).session
        others = {(await two.site.index(visit())).session for _ in range(20)}
        assert 21 == len(others | {first})
        assert {43} == {len(session) for session in others}
        rows = {row[0]: row for row in await two.admin.rows("sessions", None, 50)}
        assert (first, NOW, NOW + 9, 2, "127.0.0.1", "new") == rows[first]
        assert 21 == (await two.site.statistics()).users

    run(check)


def test_statistics_count_everything(run: Any) -> None:
    """Users, clicks, votes, packs, stickers."""

    async def check(two: Two) -> None:
        session, left, right = await shown(two.site)
        await two.site.index(visit(session))
        await two.site.listing(visit(session), best=True)
        await two.site.vote(Ballot(session, left.token, right.token, NOW))
        assert domain.Statistics(1, 2, 1, 135, 150) == await two.site.statistics()

    run(check)


def test_packs_and_stickers_are_paged(run: Any) -> None:
    """In the order of names and numbers, without gap or overlap."""

    async def check(two: Two) -> None:
        names = [pack.name for pack in load.generated(300).packs]
        listed = [pack.name for start in range(0, 140, 20) for pack in await two.site.packs(start, 20)]
        assert sorted(names) == listed
        assert [1, 2] == [row.number for row in await two.site.pack("mint-ghosts", 0, 2)]
        assert [2, 3] == [row.number for row in await two.site.pack("mint-ghosts", 1, 5)]
        assert [] == await two.site.pack("no-such-pack", 0, 5)
        assert await two.site.sticker("mint-ghosts", 99) is None
        assert await two.site.sticker("no-such-pack", 1) is None
        found = await two.site.sticker("mint-ghosts", 2)
        assert found is not None
        assert ("mint-ghosts", 2) == (found.pack, found.number)

    run(check, count=300)


def test_what_expired_goes_and_nothing_else(run: Any) -> None:
    """Tokens at their time, sessions a month after the last visit."""

    async def check(two: Two) -> None:
        # Far in the future, so that a server that expires by its own clock leaves them alone.
        later = NOW + domain.SESSION_LIFETIME + 100
        await two.site.index(visit(now=NOW))
        await two.site.index(visit(now=later))
        assert 0 == await two.admin.expire(NOW)
        assert 2 == await two.admin.expire(NOW + domain.TOKEN_LIFETIME)
        assert 1 == await two.admin.expire(NOW + domain.SESSION_LIFETIME)
        assert [later, later] == [row[4] - domain.TOKEN_LIFETIME for row in await all_rows(two.admin, "secret")]
        assert [later] == [row[2] for row in await all_rows(two.admin, "sessions")]

    run(check)


async def all_rows(store: Store, table: Any) -> list[Any]:
    return [row async for batch in batches(store, table) for row in batch]


def test_rows_come_back_as_they_were_put(run: Any) -> None:
    """Loading twice replaces; clearing empties every table but the counters' names."""

    async def check(two: Two) -> None:
        first = [await summary(two.admin, table) for table in TABLES]
        await two.admin.put("stickers", list(load.generated(150).stickers))
        assert first == [await summary(two.admin, table) for table in TABLES]
        assert list(load.generated(150).stickers) == [Sticker(*row) for row in await all_rows(two.admin, "stickers")]
        await two.site.index(visit())
        await two.admin.clear()
        for table in ("packs", "stickers", "sessions", "secret"):
            assert [] == await all_rows(two.admin, table)
        assert domain.Statistics() == await two.site.statistics()

    run(check)


def test_hostile_text_is_only_text(run: Any) -> None:
    """User-Agent, session, token and pack are parameters: nothing of them is ever run."""

    async def check(two: Two) -> None:
        before = await summary(two.admin, "stickers")
        session = (await two.site.index(Visit(INJECTION, NOW, INJECTION, INJECTION))).session
        assert INJECTION == session
        assert not await two.site.vote(Ballot(INJECTION, INJECTION, INJECTION, NOW))
        assert [] == await two.site.pack(INJECTION, 0, 10)
        assert await two.site.sticker(INJECTION, 1) is None
        assert before == await summary(two.admin, "stickers")
        assert (INJECTION, NOW, NOW, 1, INJECTION, INJECTION) in await all_rows(two.admin, "sessions")

    run(check)
