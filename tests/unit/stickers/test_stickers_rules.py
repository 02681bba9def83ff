"""The rules of the site, without engine and without store."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from stickers.domain import Ballot, Secret, Sticker
from stickers.http import PageRequest

import stickers
from stickers import domain, limits, sessions

SOURCE = Path(stickers.__file__).parent
KEY = b"k" * 32
NEW = Sticker(1, "p", 1, "t", "svg", 0, 0, 0, 0)


@given(some.lists(some.booleans(), max_size=60))
def test_counts_only_grow_and_the_rating_is_their_difference(results: list[bool]) -> None:
    """Winner +1, loser -1; up and down never go negative; judged from the twentieth vote on."""
    sticker = NEW
    for won in results:
        sticker = domain.after_win(sticker) if won else domain.after_loss(sticker)
    assert (results.count(True), results.count(False)) == (sticker.up, sticker.down)
    assert sticker.up - sticker.down == sticker.rating
    assert int(len(results) >= 20) == sticker.judged


LEFT, RIGHT = Secret("a", "b", "s", 1, 100), Secret("b", "a", "s", 2, 100)


@pytest.mark.parametrize(
    ("first", "second", "now", "counts"),
    [
        (LEFT, RIGHT, 99, True),
        (RIGHT, LEFT, 99, True),
        (LEFT, RIGHT, 100, False),
        (LEFT, RIGHT._replace(expires=50), 60, False),
        (LEFT, None, 1, False),
        (None, RIGHT, 1, False),
        (LEFT, LEFT, 1, False),
        (LEFT._replace(mate="c"), RIGHT, 1, False),
        (LEFT, RIGHT._replace(mate="c"), 1, False),
        (LEFT._replace(session="other"), RIGHT, 1, False),
        (LEFT, RIGHT._replace(session="other"), 1, False),
    ],
)
def test_a_vote_needs_both_living_tokens_of_its_own_pair(
    first: Secret | None, second: Secret | None, now: int, *, counts: bool
) -> None:
    """The one rule that every store applies."""
    assert counts == domain.vote_counts(first, second, Ballot("s", "a", "b", now))


def test_signatures_hold_what_they_signed() -> None:
    """Whatever is changed, the cookie is worth nothing."""
    session = domain.new_token()
    cookie = sessions.sign(session, KEY)
    assert session == sessions.verify(cookie, KEY)
    assert sessions.verify(cookie, b"other" * 8) is None
    for place in range(len(cookie)):
        changed = cookie[:place] + ("x" if cookie[place] != "x" else "y") + cookie[place + 1 :]
        assert sessions.verify(changed, KEY) is None, place
    assert sessions.verify(cookie + "x", KEY) is None
    assert sessions.verify(cookie[:-1], KEY) is None


@given(some.text(max_size=100))
def test_no_text_is_a_signed_session(text: str) -> None:
    """Rubbish is no session, and no exception."""
    assert sessions.verify(text, KEY) is None


def test_buckets_fill_up_again() -> None:
    """Three at once, then one every twenty seconds."""
    now = [0.0]
    limit = limits.RateLimit(3, lambda: now[0])
    assert [True, True, True, False] == [limit.allows("me") for _ in range(4)]
    assert limit.allows("you")
    now[0] = 19.9
    assert not limit.allows("me")
    now[0] = 20.1
    assert [True, False] == [limit.allows("me") for _ in range(2)]
    now[0] = 1000.0
    assert [True, True, True, False] == [limit.allows("me") for _ in range(4)]


def test_a_limit_of_nothing_is_no_limit() -> None:
    """For races."""
    limit = limits.RateLimit(0)
    assert all(limit.allows("me") for _ in range(1000))
    assert 0 == len(limit)


def test_buckets_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A million addresses do not fill the memory."""
    monkeypatch.setattr(limits, "MOST_KEYS", 10)
    limit = limits.RateLimit(1)
    for number in range(100):
        limit.allows(str(number))
    assert 10 == len(limit)


def asked(**values: Any) -> PageRequest:
    return PageRequest(site=None, header=lambda _: None, **values)  # type: ignore[arg-type]


def test_forms_are_read_without_trust() -> None:
    """The first of several counts, rubbish is nothing, too many fields are nothing."""
    assert {"winner": "a b", "loser": ""} == asked(body=b"winner=a+b&loser=&winner=c").fields()
    assert {} == asked(body=b"").fields()
    assert {"\ufffd": "\ufffd"} == asked(body=b"\xff=%ff").fields()
    assert {} == asked(body=b"a=b&" * 30).fields()
    assert {"format": "plain"} == asked(query="format=plain").options()


def test_pages_and_rules_know_neither_engines_nor_stores() -> None:
    """Written once: what imports an engine or a driver is an engine or a store."""
    once = {path: imports(path) for path in SOURCE.glob("*.py")}
    allowed = {"catalog.py": {"stickers.engines"}, "cli.py": {"stickers.engines"}}
    for path, names in once.items():
        for name in names:
            outside = re.match(r"(aiohttp|starlette|fastapi|uvicorn|tarmac|asynctnt|uvloop|sqlite3)\b", name)
            assert not outside, (path.name, name)
            if name.startswith(("stickers.engines", "stickers.stores.")):
                assert name in allowed.get(path.name, set()), (path.name, name)


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def test_an_engine_is_a_short_file() -> None:
    """At most eighty lines: everything else is shared."""
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in (SOURCE / "engines").glob("*.py")}
    assert {} == {name: length for name, length in lengths.items() if length > 80}
    assert {"tarmac.py", "aiohttp.py", "starlette.py", "fastapi.py"} <= lengths.keys()
