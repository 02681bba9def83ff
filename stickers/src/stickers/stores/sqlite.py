"""A store in one SQLite file: the embedded default, nothing to install."""

import random
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from stickers import domain
from stickers.domain import (
    Ballot,
    Listing,
    Pack,
    Pair,
    Secret,
    Statistics,
    Sticker,
    StoreUnavailable,
    Visit,
)
from stickers.stores.interface import TABLES, Row, Table

LOCK_SECONDS: Final = 2.0
"""How long another process may hold the file before this one says that it is unavailable."""

_COLUMNS: Final = {"packs": 3, "stickers": 9, "sessions": 6, "secret": 5, "server": 2}
_KEYS: Final = {
    "packs": "name", "stickers": "id", "sessions": "id", "secret": "token", "server": "name",
}  # fmt: skip


@dataclass(slots=True)
class SqliteStore:
    """Runs in the caller's thread: one page costs tens of microseconds, a thread switch more."""

    path: Path
    most_tokens: int = domain.MOST_TOKENS
    most_sessions: int = domain.MOST_SESSIONS
    name: str = "sqlite"
    expires_itself: bool = False
    _connection: sqlite3.Connection | None = field(default=None, repr=False)

    async def open(self) -> None:
        """Make the file and its tables where there are none."""
        self._opened()

    async def close(self) -> None:
        """See Store."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def index(self, visit: Visit) -> Pair:
        """See Store."""
        with self._writing() as database:
            session = _count_visit(database, visit)
            _add(database, "clicks")
            drawn = _draw_two(database)
            if drawn is None:
                return Pair(session, None, None)
            left, right = drawn
            tokens = domain.new_token(), domain.new_token()
            expires = visit.now + domain.TOKEN_LIFETIME
            database.executemany(
                "INSERT INTO secret VALUES (?, ?, ?, ?, ?)",
                (
                    (tokens[0], tokens[1], session, left.id, expires),
                    (tokens[1], tokens[0], session, right.id, expires),
                ),
            )
        return Pair(session, domain.Shown(left, tokens[0]), domain.Shown(right, tokens[1]))

    async def listing(self, visit: Visit, *, best: bool) -> Listing:
        """See Store."""
        with self._writing() as database:
            session = _count_visit(database, visit)
            found = database.execute(_BEST if best else _WORST, (domain.SHOWN,))
            return Listing(session, [Sticker(*row) for row in found])

    async def vote(self, ballot: Ballot) -> bool:
        """See Store."""
        with self._writing() as database:
            winner, loser = _secret(database, ballot.winner), _secret(database, ballot.loser)
            if winner is None or loser is None or not domain.vote_counts(winner, loser, ballot):
                return False
            database.execute("DELETE FROM secret WHERE token IN (?, ?)", (ballot.winner, ballot.loser))
            _replace(database, domain.after_win(_sticker(database, winner.sticker)))
            _replace(database, domain.after_loss(_sticker(database, loser.sticker)))
            _add(database, "votes")
            return True

    async def ugliest(self) -> list[Sticker]:
        """See Store."""
        with self._reading() as database:
            return [Sticker(*row) for row in database.execute(_UGLIEST, (domain.SHOWN,))]

    async def statistics(self) -> Statistics:
        """See Store."""
        with self._reading() as database:
            counted = dict(database.execute("SELECT name, value FROM server"))
            (packs,) = database.execute("SELECT count(*) FROM packs").fetchone()
            (stickers,) = database.execute("SELECT count(*) FROM stickers").fetchone()
        users, clicks, votes = (counted.get(name, 0) for name in ("users", "clicks", "votes"))
        return Statistics(users, clicks, votes, packs, stickers)

    async def packs(self, offset: int, limit: int) -> list[Pack]:
        """See Store."""
        with self._reading() as database:
            found = database.execute("SELECT * FROM packs ORDER BY name LIMIT ? OFFSET ?", (limit, offset))
            return [Pack(*row) for row in found]

    async def pack(self, name: str, offset: int, limit: int) -> list[Sticker]:
        """See Store."""
        with self._reading() as database:
            found = database.execute(
                "SELECT * FROM stickers WHERE pack = ? ORDER BY number LIMIT ? OFFSET ?",
                (name, limit, offset),
            )
            return [Sticker(*row) for row in found]

    async def sticker(self, pack: str, number: int) -> Sticker | None:
        """See Store."""
        with self._reading() as database:
            row = database.execute("SELECT * FROM stickers WHERE pack = ? AND number = ?", (pack, number)).fetchone()
            return None if row is None else Sticker(*row)

    async def expire(self, now: int) -> int:
        """See Store."""
        oldest = now - domain.SESSION_LIFETIME
        with self._writing() as database:
            gone = database.execute("DELETE FROM secret WHERE expires <= ?", (now,)).rowcount
            gone += database.execute("DELETE FROM sessions WHERE seen <= ?", (oldest,)).rowcount
            gone += database.execute(_SURPLUS_TOKENS, (self.most_tokens,)).rowcount
            gone += database.execute(_SURPLUS_SESSIONS, (self.most_sessions,)).rowcount
            return gone

    async def put(self, table: Table, rows: Sequence[Row]) -> None:
        """See Store."""
        # The table's name comes from a closed list; values travel as parameters only.
        marks = ", ".join("?" * _COLUMNS[table])
        with self._writing() as database:
            database.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", rows)  # noqa: S608

    async def rows(self, table: Table, after: Row | None, limit: int) -> list[Row]:
        """See Store."""
        key = _KEYS[table]
        behind = f"WHERE {key} > ?" if after else ""
        values = (after[0], limit) if after else (limit,)
        with self._reading() as database:
            statement = f"SELECT * FROM {table} {behind} ORDER BY {key} LIMIT ?"  # noqa: S608 - closed lists again
            return [tuple(row) for row in database.execute(statement, values)]

    async def clear(self) -> None:
        """See Store."""
        with self._writing() as database:
            for table in TABLES:
                database.execute(f"DELETE FROM {table}")  # noqa: S608 - from TABLES

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            try:
                self._connection = _connect(self.path)
            except (sqlite3.Error, OSError) as error:
                raise StoreUnavailable from error
        return self._connection

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        database = self._opened()
        try:
            yield database
        except sqlite3.OperationalError as error:
            raise StoreUnavailable from error

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, and nobody else writes in between."""
        with self._reading() as database:
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
            except BaseException:
                database.execute("ROLLBACK")
                raise
            database.execute("COMMIT")


def make(*, data: Path, **_options: object) -> SqliteStore:
    """The catalog's way in."""
    return SqliteStore(data / "stickers.db")


_BEST: Final = "SELECT * FROM stickers ORDER BY rating DESC, id DESC LIMIT ?"
_WORST: Final = "SELECT * FROM stickers ORDER BY rating, id LIMIT ?"
_UGLIEST: Final = "SELECT * FROM stickers WHERE judged = 1 ORDER BY rating, id LIMIT ?"
_SURPLUS_TOKENS: Final = """
    DELETE FROM secret WHERE token IN (
        SELECT token FROM secret ORDER BY expires
        LIMIT max(0, (SELECT count(*) FROM secret) - ?))"""
_SURPLUS_SESSIONS: Final = """
    DELETE FROM sessions WHERE id IN (
        SELECT id FROM sessions ORDER BY seen
        LIMIT max(0, (SELECT count(*) FROM sessions) - ?))"""
_VISIT: Final = """
    INSERT INTO sessions VALUES (?, ?, ?, 1, ?, ?)
    ON CONFLICT (id) DO UPDATE SET seen = excluded.seen, visits = visits + 1,
        address = excluded.address, agent = excluded.agent"""


def _connect(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(path, timeout=LOCK_SECONDS, isolation_level=None, check_same_thread=False)
    # A vote survives the end of this process at once, a power cut after the next checkpoint.
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = NORMAL")
    database.executescript((files("stickers.stores") / "schema.sql").read_text("utf-8"))
    return database


def _count_visit(database: sqlite3.Connection, visit: Visit) -> str:
    session = visit.session
    if session is None:
        session = domain.new_token()
        _add(database, "users")
    database.execute(_VISIT, (session, visit.now, visit.now, visit.address, visit.agent))
    return session


def _draw_two(database: sqlite3.Connection) -> tuple[Sticker, Sticker] | None:
    # Loading numbers the stickers 1, 2, 3 ..., so a random number is a random sticker.
    lowest, highest = database.execute("SELECT min(id), max(id) FROM stickers").fetchone()
    if lowest is None or lowest == highest:
        return None
    first, second = random.sample(range(lowest, highest + 1), 2)
    left = _nearest(database, first, -1)
    right = _nearest(database, second, left.id)
    return left, right


def _nearest(database: sqlite3.Connection, number: int, other_than: int) -> Sticker:
    row: Any = database.execute(
        "SELECT * FROM stickers WHERE id >= ? AND id <> ? ORDER BY id LIMIT 1",
        (number, other_than),
    ).fetchone()
    return Sticker(*row) if row is not None else _nearest(database, 0, other_than)


def _sticker(database: sqlite3.Connection, number: int) -> Sticker:
    return Sticker(*database.execute("SELECT * FROM stickers WHERE id = ?", (number,)).fetchone())


def _secret(database: sqlite3.Connection, token: str) -> Secret | None:
    row = database.execute("SELECT * FROM secret WHERE token = ?", (token,)).fetchone()
    return None if row is None else Secret(*row)


def _replace(database: sqlite3.Connection, sticker: Sticker) -> None:
    database.execute(
        "UPDATE stickers SET rating = ?, up = ?, down = ?, judged = ? WHERE id = ?",
        (sticker.rating, sticker.up, sticker.down, sticker.judged, sticker.id),
    )


def _add(database: sqlite3.Connection, name: str) -> None:
    database.execute(
        "INSERT INTO server VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1",
        (name,),
    )
