"""A site without an engine: pages, problems and background tasks, on a clock of our own."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from stickers.domain import Statistics, StoreUnavailable
from stickers.http import PageRequest, PageResponse
from stickers.settings import Settings, signing_key
from stickers.site import Site
from stickers.stores.memory import MemoryStore

from stickers import load, pages, routes
from stickers import site as site_module

if TYPE_CHECKING:
    from pathlib import Path


class Failing(MemoryStore):
    """A memory that can be told to fail."""

    failure: Exception | None = None

    async def statistics(self) -> Statistics:
        if self.failure is not None:
            raise self.failure
        return await super().statistics()

    async def ugliest(self) -> list[Any]:
        if self.failure is not None:
            raise self.failure
        return await super().ugliest()


def made(tmp_path: Path, **changes: Any) -> Site:
    settings = replace(Settings(b"k" * 32, tmp_path, rate_limit=0), **changes)
    return Site(settings, Failing(), clock=lambda: 1_000_000.0)


def ask(site: Site, page: Any, **values: Any) -> PageResponse:
    headers = {name.replace("_", "-"): value for name, value in values.pop("headers", {}).items()}
    return asyncio.run(site.answer(page, PageRequest(site, headers.get, **values)))


@pytest.mark.parametrize(
    ("failure", "status", "logged"),
    [
        (StoreUnavailable(), 503, "store unavailable"),
        (RuntimeError("secret detail"), 500, "secret detail"),
        (KeyError("secret detail"), 500, "secret detail"),
    ],
)
def test_failures_are_pages_and_are_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, failure: Exception, status: int, logged: str
) -> None:
    """A visitor reads a sentence; the log has the traceback."""
    site = made(tmp_path)
    site.store.failure = failure  # type: ignore[attr-defined]
    answer = ask(site, pages.ugliest, path="/ugliest")
    assert status == answer.status
    assert b"secret detail" not in answer.body
    assert b"<h1>" in answer.body
    assert logged in caplog.text


def test_the_api_fails_in_json(tmp_path: Path) -> None:
    """A program reads the status, too."""
    answer = ask(made(tmp_path), routes.missing, path="/stickers/a/b/c")
    assert (404, "application/json") == (answer.status, answer.content_type)


def test_statistics_survive_errors_and_go_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The task that refreshes the numbers outlives a store that fails in any way."""
    monkeypatch.setattr(site_module, "REFRESH_SECONDS", 0.001)
    site = made(tmp_path)
    store: Any = site.store

    async def until(condition: Any) -> None:
        async with asyncio.timeout(5):
            while not condition():  # noqa: ASYNC110 - log and numbers have no event to wait for
                await asyncio.sleep(0)

    async def work() -> None:
        await site.start()
        try:
            store.failure = StoreUnavailable()
            await until(lambda: "store unavailable" in caplog.text)
            store.failure = RuntimeError("surprise")
            await until(lambda: "surprise" in caplog.text)
            store.failure = None
            await load.load(store, load.generated(7))
            await until(lambda: site.statistics.stickers == 7)
        finally:
            await site.stop()

    with caplog.at_level(logging.WARNING):
        asyncio.run(work())


def test_a_site_starts_while_its_store_is_down(tmp_path: Path) -> None:
    """It answers 503 until the store is back."""
    site = made(tmp_path)
    site.store.failure = StoreUnavailable()  # type: ignore[attr-defined]

    async def work() -> None:
        await site.start()
        await site.stop()

    asyncio.run(work())
    assert Statistics() == site.statistics


def test_wrong_paths_and_wrong_methods_differ(tmp_path: Path) -> None:
    """405 names what is allowed; a path that no route fits is 404."""
    site = made(tmp_path)

    def status(method: str, path: str) -> tuple[int, str | None]:
        answer = ask(site, routes.missing, method=method, path=path)
        return answer.status, dict(answer.headers).get("Allow")

    assert (404, None) == status("GET", "/nothing")
    assert (405, "GET, HEAD, POST") == status("PUT", "/")
    assert (405, "GET, HEAD") == status("POST", "/img/a/b")
    assert (404, None) == status("GET", "/stickers/{narrow}")
    assert (404, None) == status("POST", "/img//b")


@pytest.mark.parametrize(
    ("changes", "secure", "headers", "expected"),
    [
        ({}, False, {}, False),
        ({}, True, {}, True),
        ({"secure_cookies": True}, False, {}, True),
        ({"behind_proxy": True}, False, {"x_forwarded_proto": "https"}, True),
        ({"behind_proxy": True}, False, {"x_forwarded_proto": "http"}, False),
        ({}, False, {"x_forwarded_proto": "https"}, False),
    ],
)
def test_cookies_are_secure_behind_tls(
    tmp_path: Path, changes: dict[str, bool], headers: dict[str, str], *, secure: bool, expected: bool
) -> None:
    """Whoever ends the TLS: the engine, a trusted proxy, or the operator's word."""
    answer = ask(made(tmp_path, **changes), pages.good, secure=secure, headers=headers)
    (cookie,) = (value for name, value in answer.headers if name == "Set-Cookie")
    assert expected == ("; Secure" in cookie)


def test_an_agent_that_is_no_text_is_kept_as_text(tmp_path: Path) -> None:
    """Engines hand over broken bytes as lone surrogates, which no store can keep."""
    site = made(tmp_path)
    assert 200 == ask(site, pages.good, headers={"user_agent": "a\udcffb" * 200}).status
    (row,) = asyncio.run(site.store.rows("sessions", None, 2))
    assert 200 == len(str(row[5]))
    assert str(row[5]).startswith("a?b")


def test_the_signing_key_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions outlive a restart; the environment goes before the file."""
    first = signing_key(tmp_path / "new")
    assert 32 == len(first)
    assert first == signing_key(tmp_path / "new")
    assert first != signing_key(tmp_path / "other")
    assert 0o600 == (tmp_path / "new" / "secret").stat().st_mode & 0o777
    monkeypatch.setenv("STICKERS_SECRET", "given")
    assert b"given" == signing_key(tmp_path / "new")
