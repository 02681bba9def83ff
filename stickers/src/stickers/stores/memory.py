"""A store in this process's memory: for trying out and for racing engines alone."""

import random
from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, cast

from stickers import domain
from stickers.domain import Ballot, Counter, Listing, Pack, Pair, Secret, Session, Sticker, Visit
from stickers.stores.interface import Row, Table


@dataclass(slots=True)
class MemoryStore:
    """Dictionaries by primary key; `rated` and `judged` are kept sorted."""

    most_tokens: int = domain.MOST_TOKENS
    most_sessions: int = domain.MOST_SESSIONS
    name: str = "memory"
    expires_itself: bool = False
    _packs: dict[str, Pack] = field(default_factory=dict)
    _stickers: dict[int, Sticker] = field(default_factory=dict)
    _ids: list[int] = field(default_factory=list)
    _numbers: dict[tuple[str, int], int] = field(default_factory=dict)
    _rated: list[tuple[int, int]] = field(default_factory=list)
    _judged: list[tuple[int, int]] = field(default_factory=list)
    _sessions: OrderedDict[str, Session] = field(default_factory=OrderedDict)
    _secret: OrderedDict[str, Secret] = field(default_factory=OrderedDict)
    _server: dict[str, Counter] = field(default_factory=dict)

    async def open(self) -> None:
        """Nothing to open."""

    async def close(self) -> None:
        """Nothing to close."""

    async def index(self, visit: Visit) -> Pair:
        """See Store."""
        session = self._count_visit(visit)
        self._add("clicks", 1)
        if len(self._ids) <= 1:
            return Pair(session, None, None)
        left, right = (self._stickers[number] for number in random.sample(self._ids, 2))
        tokens = domain.new_token(), domain.new_token()
        expires = visit.now + domain.TOKEN_LIFETIME
        self._secret[tokens[0]] = Secret(tokens[0], tokens[1], session, left.id, expires)
        self._secret[tokens[1]] = Secret(tokens[1], tokens[0], session, right.id, expires)
        _drop_oldest(self._secret, self.most_tokens)
        return Pair(session, domain.Shown(left, tokens[0]), domain.Shown(right, tokens[1]))

    async def listing(self, visit: Visit, *, best: bool) -> Listing:
        """See Store."""
        session = self._count_visit(visit)
        nine = self._rated[: -domain.SHOWN - 1 : -1] if best else self._rated[: domain.SHOWN]
        return Listing(session, [self._stickers[number] for _, number in nine])

    async def vote(self, ballot: Ballot) -> bool:
        """See Store. No await inside, so nothing can come between."""
        winner, loser = self._secret.get(ballot.winner), self._secret.get(ballot.loser)
        if winner is None or loser is None or not domain.vote_counts(winner, loser, ballot):
            return False
        del self._secret[winner.token], self._secret[loser.token]
        self._replace(domain.after_win(self._stickers[winner.sticker]))
        self._replace(domain.after_loss(self._stickers[loser.sticker]))
        self._add("votes", 1)
        return True

    async def ugliest(self) -> list[Sticker]:
        """See Store."""
        return [self._stickers[number] for _, number in self._judged[: domain.SHOWN]]

    async def statistics(self) -> domain.Statistics:
        """See Store."""
        counted = {name: self._value(name) for name in ("users", "clicks", "votes")}
        return domain.Statistics(**counted, packs=len(self._packs), stickers=len(self._stickers))

    async def packs(self, offset: int, limit: int) -> list[Pack]:
        """See Store."""
        return [self._packs[name] for name in sorted(self._packs)[offset : offset + limit]]

    async def pack(self, name: str, offset: int, limit: int) -> list[Sticker]:
        """See Store."""
        numbers = sorted(number for pack, number in self._numbers if pack == name)
        chosen = numbers[offset : offset + limit]
        return [self._stickers[self._numbers[name, number]] for number in chosen]

    async def sticker(self, pack: str, number: int) -> Sticker | None:
        """See Store."""
        found = self._numbers.get((pack, number))
        return None if found is None else self._stickers[found]

    async def expire(self, now: int) -> int:
        """See Store."""
        oldest = now - domain.SESSION_LIFETIME
        tokens = [key for key, row in self._secret.items() if row.expires <= now]
        sessions = [key for key, row in self._sessions.items() if row.seen <= oldest]
        for token in tokens:
            del self._secret[token]
        for session in sessions:
            del self._sessions[session]
        return len(tokens) + len(sessions)

    async def put(self, table: Table, rows: Sequence[Row]) -> None:
        """See Store."""
        for row in cast("Any", rows):
            match table:
                case "stickers":
                    self._replace(Sticker(*row))
                case "packs":
                    self._packs[row[0]] = Pack(*row)
                case "sessions":
                    self._sessions[row[0]] = Session(*row)
                case "secret":
                    self._secret[row[0]] = Secret(*row)
                case "server":
                    self._server[row[0]] = Counter(*row)

    async def rows(self, table: Table, after: Row | None, limit: int) -> list[Row]:
        """See Store."""
        held: dict[Any, Any] = getattr(self, f"_{table}")
        keys = sorted(key for key in held if after is None or key > after[0])
        return [tuple(held[key]) for key in islice(keys, limit)]

    async def clear(self) -> None:
        """See Store."""
        everything: tuple[Any, ...] = (
            self._packs, self._stickers, self._ids, self._numbers, self._rated, self._judged,
            self._sessions, self._secret, self._server,
        )  # fmt: skip
        for held in everything:
            held.clear()

    def _count_visit(self, visit: Visit) -> str:
        session = visit.session
        if session is None:
            session = domain.new_token()
            self._add("users", 1)
        known = self._sessions.pop(session, None)
        created, visits = (known.created, known.visits) if known else (visit.now, 0)
        self._sessions[session] = Session(session, created, visit.now, visits + 1, visit.address, visit.agent)
        _drop_oldest(self._sessions, self.most_sessions)
        return session

    def _replace(self, sticker: Sticker) -> None:
        before = self._stickers.get(sticker.id)
        if before is None:
            self._ids.append(sticker.id)
            self._numbers[sticker.pack, sticker.number] = sticker.id
        else:
            _remove(self._rated, (before.rating, before.id))
            _remove(self._judged, (before.rating, before.id))
        self._stickers[sticker.id] = sticker
        insort(self._rated, (sticker.rating, sticker.id))
        if sticker.judged:
            insort(self._judged, (sticker.rating, sticker.id))

    def _add(self, name: str, amount: int) -> None:
        self._server[name] = Counter(name, self._value(name) + amount)

    def _value(self, name: str) -> int:
        counter = self._server.get(name)
        return counter.value if counter else 0


def make(**_options: object) -> MemoryStore:
    """The catalog's way in."""
    return MemoryStore()


def _drop_oldest(held: OrderedDict[str, Any], most: int) -> None:
    while len(held) > most:
        held.popitem(last=False)


def _remove(ordered: list[tuple[int, int]], entry: tuple[int, int]) -> None:
    place = bisect_left(ordered, entry)
    if place < len(ordered) and ordered[place] == entry:
        del ordered[place]
