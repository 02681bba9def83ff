"""What a sticker, a visit and a vote are: the rules, without engine and without store."""

import secrets
from dataclasses import dataclass
from typing import Final, NamedTuple

SHOWN: Final = 9
"""Stickers on the Good, Bad and Ugliest pages."""

JUDGED_AFTER: Final = 20
"""Votes that a sticker needs before it can be called one of the ugliest."""

TOKEN_LIFETIME: Final = 15 * 60
"""Seconds in which the two stickers of an Index page can be voted on."""

SESSION_LIFETIME: Final = 30 * 24 * 3600
"""Seconds after the last visit until a session is forgotten."""

MOST_TOKENS: Final = 400_000
MOST_SESSIONS: Final = 500_000
"""Above these the oldest are dropped first, so that no crowd can fill the memory."""

ADDRESS_LENGTH: Final = 64
AGENT_LENGTH: Final = 200
"""What is kept of a visitor's address and User-Agent, in characters."""


class Sticker(NamedTuple):
    """One row of the space or table `stickers`."""

    id: int
    pack: str
    number: int
    title: str
    kind: str
    rating: int
    up: int
    down: int
    judged: int

    @property
    def image(self) -> str:
        """The path of the picture, relative to the site."""
        return f"/img/{self.pack}/{self.number}.{self.kind}"


class Pack(NamedTuple):
    """One row of `packs`: stickers that belong together."""

    name: str
    title: str
    size: int


class Secret(NamedTuple):
    """One row of `secret`: the token that stands for one sticker of one shown pair."""

    token: str
    mate: str
    session: str
    sticker: int
    expires: int


class Session(NamedTuple):
    """One row of `sessions`; `created` and `seen` are seconds since 1970."""

    id: str
    created: int
    seen: int
    visits: int
    address: str
    agent: str


class Counter(NamedTuple):
    """One row of `server`: a number that the About page shows."""

    name: str
    value: int


class Visit(NamedTuple):
    """Somebody opens a page; `session` is None for a new visitor."""

    session: str | None
    now: int
    address: str
    agent: str


class Shown(NamedTuple):
    """One of the two stickers on the Index page, with the token that votes for it."""

    sticker: Sticker
    token: str


class Pair(NamedTuple):
    """What the Index page shows; `left` and `right` are None without two stickers."""

    session: str
    left: Shown | None
    right: Shown | None


class Listing(NamedTuple):
    """What Good and Bad show."""

    session: str
    stickers: list[Sticker]


class Ballot(NamedTuple):
    """A vote as the visitor sent it: nothing in it is to be believed."""

    session: str
    winner: str
    loser: str
    now: int


@dataclass(frozen=True, slots=True)
class Statistics:
    """The numbers of the About page."""

    users: int = 0
    clicks: int = 0
    votes: int = 0
    packs: int = 0
    stickers: int = 0


class StoreUnavailable(Exception):
    """The store cannot answer now; `__cause__` tells what its driver said."""


def new_token() -> str:
    """256 bits from the system: cannot be guessed, and fits in a URL or a form."""
    return secrets.token_urlsafe(32)


def vote_counts(first: Secret | None, second: Secret | None, ballot: Ballot) -> bool:
    """A vote counts if both tokens are alive, of one pair, and of this session."""
    return (
        first is not None
        and second is not None
        and first.mate == second.token
        and second.mate == first.token
        and first.session == second.session == ballot.session
        and min(first.expires, second.expires) > ballot.now
    )


def after_win(sticker: Sticker) -> Sticker:
    """The winner: rating and `up` rise by one."""
    return _judge(sticker._replace(rating=sticker.rating + 1, up=sticker.up + 1))


def after_loss(sticker: Sticker) -> Sticker:
    """The loser: rating falls and `down` rises by one."""
    return _judge(sticker._replace(rating=sticker.rating - 1, down=sticker.down + 1))


def _judge(sticker: Sticker) -> Sticker:
    return sticker._replace(judged=int(sticker.up + sticker.down >= JUDGED_AFTER))
