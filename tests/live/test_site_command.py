"""The command `stickers`: first start, names of the article, loading, migrating, refusals."""

from __future__ import annotations

import contextlib
import re
import socket
import sqlite3
import time
from typing import TYPE_CHECKING

import pytest
from stickers.tarantool_server import TarantoolServer
from support.site import ENGINES, SiteProcess, fill, need, need_tarantool, stickers
from support.waiting import free_port

from stickers import catalog

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.live


def test_the_first_start_draws_the_stickers_and_the_second_is_quick(tmp_path: Path) -> None:
    """Nothing to set up: 16,200 stickers in a file; the second start takes under two seconds."""
    with SiteProcess("aiohttp", tmp_path, ()) as site:
        assert "16,200" in site.visitor().get("/about").text
    began = time.monotonic()
    with SiteProcess("aiohttp", tmp_path, ()) as site:
        assert time.monotonic() - began < 2
        assert site.process is not None
        assert 1 == site.process.output.count("first start"), "the log goes on, the drawing does not"
    assert 0o600 == (tmp_path / "secret").stat().st_mode & 0o777


@pytest.mark.parametrize("name", [alias.name for alias in catalog.ALIASES.values() if not alias.lacks])
def test_engines_by_their_names_in_the_article(name: str, tmp_path: Path) -> None:
    """Each starts, serves the five pages and stops with status 0."""
    need_tarantool()
    need("asynctnt")
    need("uvloop")
    with TarantoolServer(tmp_path / "tarantool", free_port()) as server:
        filled = stickers("load", "-s", "tarantool-asynctnt", "--count", "20", "--url", server.url("stickers_admin"))
        assert 0 == filled.returncode, filled.stderr
        with SiteProcess(name, tmp_path, ("--url", server.url())) as site:
            visitor = site.visitor()
            for path in ("/", "/good", "/bad", "/ugly", "/about"):
                assert 200 == visitor.get(path).status
            assert site.process is not None
            assert 0 == site.process.stop()


@pytest.mark.parametrize("name", [alias.name for alias in catalog.ALIASES.values() if alias.lacks])
def test_names_that_are_not_shipped_tell_the_way_out(name: str, tmp_path: Path) -> None:
    """What is missing, and what works instead."""
    ended = stickers("-e", name, "--data", tmp_path)
    assert 2 == ended.returncode
    assert catalog.ALIASES[name].lacks in ended.stderr
    assert catalog.ALIASES[name].instead in ended.stderr
    assert "Traceback" not in ended.stderr


def test_unknown_names_are_refused(tmp_path: Path) -> None:
    """With the list of those that exist."""
    for arguments in (("-e", "warp"), ("-s", "warp"), ("load", "-s", "warp")):
        ended = stickers(*arguments, "--data", tmp_path)
        assert 2 == ended.returncode
        assert "There are:" in ended.stderr


@pytest.mark.parametrize("store", ["tarantool-asynctnt", "tarantool"])
def test_the_whole_data_set_fits_into_tarantool(store: str, tmp_path: Path) -> None:
    """16,200 stickers in 135 packs; the address names no user, each command takes its own."""
    need_tarantool()
    need("asynctnt" if store == "tarantool-asynctnt" else "tarmac")
    passwords = {"STICKERS_PASSWORD": "p@ge", "STICKERS_ADMIN_PASSWORD": "@dmin/"}
    url = f"tarantool://127.0.0.1:{(port := free_port())}"
    with TarantoolServer(tmp_path / "tarantool", port, extra=passwords), pytest.MonkeyPatch.context() as patch:
        for name, value in passwords.items():
            patch.setenv(name, value)
        loaded = stickers("load", "-s", store, "--url", url)
        assert "16200 stickers in 135 packs" in loaded.stdout, loaded.stderr
        with SiteProcess("aiohttp", tmp_path, ("--url", url), store) as site:
            assert {"<dd>16,200</dd>", "<dd>135</dd>"} <= set(
                re.findall("<dd>.*?</dd>", site.visitor().get("/about").text)
            )


@pytest.mark.parametrize("engine", ENGINES)
def test_a_taken_port_is_said_so(engine: str, tmp_path: Path) -> None:
    """One line, not a traceback."""
    need(engine)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ended = stickers("-e", engine, "-s", "memory", "-p", str(taken.getsockname()[1]), "--data", tmp_path)
    assert ended.returncode > 0
    assert "in use" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_too_many_stickers_are_refused(tmp_path: Path) -> None:
    """There are only so many different characters; nothing is touched."""
    fill(tmp_path, 5)
    ended = stickers("load", "--count", "99999999", "--data", tmp_path)
    assert (2, True) == (ended.returncode, "different stickers" in ended.stderr)
    with contextlib.closing(sqlite3.connect(tmp_path / "stickers.db")) as rows:
        assert (5,) == rows.execute("SELECT count(*) FROM stickers").fetchone()


def test_help_shows_examples() -> None:
    """The first thing a newcomer types."""
    ended = stickers("--help")
    assert 0 == ended.returncode
    assert "stickers -p 8080" in ended.stdout


def test_real_pictures_can_be_loaded(tmp_path: Path) -> None:
    """A folder of packs becomes the data set; names are titles, files are copied and served."""
    picture = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
    for name in ("My Cats/black_cat.png", "My Cats/<b>.png", "dogs/Rex.jpg", "dogs/notes.txt"):
        path = tmp_path / "pictures" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture)
    loaded = stickers("load", tmp_path / "pictures", "--data", tmp_path / "var")
    assert "3 stickers in 2 packs" in loaded.stdout, loaded.stderr
    with SiteProcess("aiohttp", tmp_path / "var") as site:
        visitor = site.visitor()
        assert '"title": "black cat"' in visitor.get("/stickers/my-cats/2").text
        answer = visitor.get("/img/my-cats/2.png")
        assert (200, "image/png", picture) == (answer.status, answer.headers["Content-Type"], answer.body)
    assert 2 == stickers("load", tmp_path / "nowhere", "--data", tmp_path / "var").returncode


def test_migrating_copies_everything(tmp_path: Path) -> None:
    """Counts and checksums are equal on both sides, back and forth."""
    need_tarantool()
    need("asynctnt")
    fill(tmp_path, 2500)
    with SiteProcess("aiohttp", tmp_path) as site:
        visitor = site.visitor()
        for _ in range(5):
            visitor.vote(*visitor.pair())
    with TarantoolServer(tmp_path / "tarantool", free_port()) as server:
        url = ("--url", server.url("stickers_admin"))
        there = stickers("migrate", "--from", "sqlite", "--to", "tarantool-asynctnt", "--data", tmp_path, *url)
        assert 0 == there.returncode, there.stdout + there.stderr
        other = ("--to-data", tmp_path / "back")
        back = stickers("migrate", "--from", "tarantool-asynctnt", "--to", "sqlite", *other, *url)
    assert 0 == back.returncode, back.stdout + back.stderr
    assert 5 == back.stdout.count("same")
    assert "DIFFERENT" not in back.stdout
    dumps = []
    for folder in (tmp_path, tmp_path / "back"):
        with contextlib.closing(sqlite3.connect(folder / "stickers.db")) as rows:
            tables = ("packs", "stickers", "sessions", "server")
            dumps.append([rows.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in tables])  # noqa: S608
    assert dumps[0] == dumps[1]
