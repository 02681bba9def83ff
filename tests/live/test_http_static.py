"""Directories as routes: what is found, what never is, and in which coding."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from support.http import connected
from support.loops import on_every_loop
from tarmac import App, ConfigurationError, Router

pytestmark = pytest.mark.live

SETTLED = 784111777
CODINGS = {"br": ".br", "zstd": ".zst", "gzip": ".gz"}


@pytest.fixture
def folder(tmp_path) -> Path:
    """Give a directory of assets; beside it lies a secret, and links lead to it."""
    root = tmp_path / "assets"
    (root / "sub/deep").mkdir(parents=True)
    files = {
        "app.css": "body{}", "sub/b.txt": "b", "sub/index.html": "<p>sub", "index.html": "<p>home", ".env": "secret",
        "sub/.git": "secret", "a b.txt": "blank", "ä.txt": "umlaut", "100%.txt": "percent", "a+b.txt": "plus",
    }  # fmt: skip
    for name, text in files.items():
        (root / name).write_text(text)
    (tmp_path / "secret.txt").write_text("secret")
    (root / "link.txt").symlink_to("../secret.txt")
    (root / "up").symlink_to("..")
    (root / "inner.txt").symlink_to("sub/b.txt")
    (root / "index.html.gz").symlink_to("../secret.txt")
    return root


def site(folder: Path, **options: Any) -> App:
    app = App()
    app.static("/static", folder, **options)
    return app


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("app.css", "body{}"), ("sub/b.txt", "b"), ("a%20b.txt", "blank"), ("%C3%A4.txt", "umlaut"),
        ("%61pp.css", "body{}"),
        ("100%25.txt", "percent"), ("a+b.txt", "plus"), ("app.css?v=1", "body{}"), ("app%2Ecss", "body{}"),
        ("index.html", "<p>home"),
    ],
)  # fmt: skip
@on_every_loop
async def test_files_are_found(folder, path, text):
    async with connected(site(folder)) as wire:
        answer = await wire.get(f"/static/{path}")
        assert (200, text) == (answer.status, answer.body.decode())
        head = await wire.get(f"/static/{path}", method="HEAD")
        assert (200, answer.header("Content-Length"), b"") == (head.status, head.header("Content-Length"), head.body)


NEVER = [
    "../secret.txt", "%2e%2e/secret.txt", "%2E%2E%2Fsecret.txt", "..%2fsecret.txt", "..%5csecret.txt", "..\\secret.txt",
    "sub/../../secret.txt", "sub/%2e%2e/%2e%2e/secret.txt", "sub/../app.css", "./app.css", "%2e/app.css", "sub%2fb.txt",
    "sub%2Fb.txt", "/app.css", "//app.css", "sub//b.txt", "%2fetc/passwd", "/etc/passwd", "app.css%00",
    "app.css%00.png",
    "%00", "app.css/", "app.css/x", "link.txt", "up/secret.txt", "inner.txt", "up/assets/app.css", ".env", "sub/.git",
    ".", "..", "%2e%2e", "none.css", "sub/none", "sub/deep", "sub/deep/", "%ff%fe", "a%0ab", "x" * 300, "~/app.css",
    "....//secret.txt", "%252e%252e/secret.txt", "..;/secret.txt", "app.css::$DATA", "..%c0%afsecret.txt",
]  # fmt: skip


@pytest.mark.parametrize("path", NEVER)
@pytest.mark.parametrize("index", [None, "index.html"])
@on_every_loop
async def test_nothing_else_is(folder, path, index):
    async with connected(site(folder, index=index)) as wire:
        answer = await wire.get(f"/static/{path}")
        assert (404, False) == (answer.status, b"secret" in answer.body)


# Where links are welcome, those that end inside are good.
INSIDE = {"inner.txt", ".env", "sub/.git", "up/assets/app.css"}


@pytest.mark.parametrize("path", [one for one in NEVER if one not in INSIDE])
@on_every_loop
async def test_nothing_outside_is_found_where_links_and_dots_are_welcome(folder, path):
    async with connected(site(folder, follow_links=True, dotfiles=True)) as wire:
        answer = await wire.get(f"/static/{path}")
        assert (404, False) == (answer.status, b"secret" in answer.body)


@on_every_loop
async def test_links_inside_and_dotfiles_can_be_wanted(folder):
    async with connected(site(folder, follow_links=True, dotfiles=True)) as wire:
        assert b"b" == (await wire.get("/static/inner.txt")).body
        assert b"secret" == (await wire.get("/static/.env")).body
        assert b"secret" == (await wire.get("/static/sub/.git")).body


@pytest.mark.parametrize("path", ["/static", "/static/", "/static/sub", "/static/sub/"])
@on_every_loop
async def test_a_directory_is_never_listed(folder, path):
    async with connected(site(folder)) as wire:
        assert 404 == (await wire.get(path)).status


@on_every_loop
async def test_an_index_stands_for_its_directory(folder):
    async with connected(site(folder, index="index.html")) as wire:
        for path, text in (("/static/", "<p>home"), ("/static/sub/", "<p>sub")):
            answer = await wire.get(path)
            assert (text, "text/html; charset=utf-8") == (answer.body.decode(), answer.header("Content-Type"))
        for path in ("/static", "/static/sub", "/static/sub?a=%20b"):
            answer = await wire.get(path)
            bare, mark, query = path.partition("?")
            assert (308, f"{bare}/{mark}{query}") == (answer.status, answer.header("Location"))


@on_every_loop
async def test_a_directory_can_be_the_whole_site(folder):
    app = App()
    app.get("/api")(lambda request: "api")
    app.static("/", folder, index="index.html")
    async with connected(app) as wire:
        assert ["<p>home", "body{}", "api"] == [
            (await wire.get(path)).body.decode() for path in ("/", "/app.css", "/api")
        ]
        for path in ("//evil.test/sub", "//sub", "/\\sub"):
            answer = await wire.get(path)
            assert (404, None) == (answer.status, answer.header("Location"))


@on_every_loop
async def test_only_get_and_head_are_answered(folder):
    async with connected(site(folder, index="index.html")) as wire:
        for path in ("/static/app.css", "/static/none", "/static"):
            for method in ("POST", "PUT", "DELETE"):
                answer = await wire.get(path, method=method)
                assert (405, "GET, HEAD, OPTIONS") == (answer.status, answer.header("Allow"))


@on_every_loop
async def test_a_missing_file_is_the_programs_404(folder):
    app = site(folder)
    app.error(404)(lambda request, error: ("nothing here", 404))
    async with connected(app) as wire:
        assert b"nothing here" == (await wire.get("/static/none")).body


@pytest.mark.parametrize(
    ("given", "sent"),
    [(None, None), ("no-cache", "no-cache"), ("immutable", "public, max-age=31536000, immutable")],
)
@on_every_loop
async def test_caches_are_told(folder, given, sent):
    async with connected(site(folder, cache_control=given)) as wire:
        answer = await wire.get("/static/app.css")
        again = await wire.get("/static/app.css", headers=f"If-None-Match: {answer.header('ETag')}\r\n")
    assert (200, sent) == (answer.status, answer.header("Cache-Control"))
    assert (304, sent) == (again.status, again.header("Cache-Control"))


@pytest.fixture
def compressed(folder) -> Path:
    """Give the directory with `app.css` in every coding."""
    for coding, ending in CODINGS.items():
        (folder / f"app.css{ending}").write_text(f"as {coding}")
    for one in folder.glob("app.css*"):
        os.utime(one, (SETTLED, SETTLED))
    return folder


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        (None, None), ("gzip", "gzip"), ("br", "br"), ("zstd", "zstd"), ("gzip, deflate, br, zstd", "br"),
        ("gzip, zstd", "zstd"), ("gzip;q=1, br;q=0.5", "gzip"), ("*", "br"), ("br;q=0, *", "zstd"), ("deflate", None),
        ("identity", None), ("gzip;q=0", None),
    ],
)  # fmt: skip
@on_every_loop
async def test_the_dearest_coding_is_sent(compressed, accepted, coding):
    headers = "" if accepted is None else f"Accept-Encoding: {accepted}\r\n"
    async with connected(site(compressed)) as wire:
        answer = await wire.get("/static/app.css", headers=headers)
    assert (f"as {coding}" if coding else "body{}") == answer.body.decode()
    assert (coding, "Accept-Encoding", "text/css; charset=utf-8") == tuple(
        map(answer.header, ("Content-Encoding", "Vary", "Content-Type"))
    )


@on_every_loop
async def test_every_coding_has_a_version_and_ranges_of_its_own(compressed):
    async with connected(site(compressed)) as wire:
        tags = {}
        for coding in (None, *CODINGS):
            headers = f"Accept-Encoding: {coding or 'identity'}\r\n"
            answer = await wire.get("/static/app.css", headers=headers)
            tags[coding] = answer.header("ETag")
            again = await wire.get("/static/app.css", headers=f"{headers}If-None-Match: {tags[coding]}\r\n")
            assert (304, "Accept-Encoding") == (again.status, again.header("Vary"))
            part = await wire.get("/static/app.css", headers=f"{headers}Range: bytes=0-1\r\n")
            assert (206, answer.body[:2], coding) == (part.status, part.body, part.header("Content-Encoding"))
        assert 4 == len(set(tags.values()))


@on_every_loop
async def test_a_coding_that_is_older_than_its_file_is_not_sent(compressed):
    os.utime(compressed / "app.css.br", (SETTLED - 1, SETTLED - 1))
    async with connected(site(compressed)) as wire:
        headers = "Accept-Encoding: gzip, br\r\n"
        assert b"as gzip" == (await wire.get("/static/app.css", headers=headers)).body
        os.utime(compressed / "app.css", (SETTLED + 1, SETTLED + 1))
        assert b"body{}" == (await wire.get("/static/app.css", headers=headers)).body


@on_every_loop
async def test_codings_can_be_left_alone(compressed):
    async with connected(site(compressed, precompressed=False)) as wire:
        answer = await wire.get("/static/app.css", headers="Accept-Encoding: gzip\r\n")
        assert (b"body{}", None, None) == (answer.body, answer.header("Content-Encoding"), answer.header("Vary"))
        direct = await wire.get("/static/app.css.gz", headers="Accept-Encoding: gzip\r\n")
        assert (b"as gzip", None, "application/gzip") == (
            direct.body, direct.header("Content-Encoding"), direct.header("Content-Type"),
        )  # fmt: skip


@on_every_loop
async def test_a_coding_is_not_found_through_a_link(folder):
    """`index.html.gz` is a link to a secret outside."""
    os.utime(folder / "index.html", (SETTLED, SETTLED))
    for follow_links in (False, True):
        async with connected(site(folder, follow_links=follow_links)) as wire:
            answer = await wire.get("/static/index.html", headers="Accept-Encoding: gzip\r\n")
            assert (b"<p>home", None) == (answer.body, answer.header("Content-Encoding"))


@on_every_loop
async def test_a_directory_may_be_exchanged_while_it_is_served(folder, tmp_path):
    """As deployments do it: the directory is a link, and the link changes."""
    current = tmp_path / "current"
    current.symlink_to("assets")
    (tmp_path / "next").mkdir()
    (tmp_path / "next/app.css").write_text("new")
    async with connected(site(current)) as wire:
        assert b"body{}" == (await wire.get("/static/app.css")).body
        (tmp_path / "link").symlink_to("next")
        (tmp_path / "link").rename(current)
        assert b"new" == (await wire.get("/static/app.css")).body


@on_every_loop
async def test_urls_are_built_and_routers_have_directories_too(folder):
    app, part = App(), Router(prefix="/part")
    part.static("/files", folder, name="files")
    app.include(part)
    assert "/part/files/sub/a%20b.txt" == app.url_for("files", path="sub/a b.txt")
    async with connected(app) as wire:
        assert b"body{}" == (await wire.get("/part/files/app.css")).body


def test_a_directory_that_is_none_is_told_at_once(tmp_path):
    with pytest.raises(ConfigurationError, match="no directory"):
        App().static("/static", tmp_path / "none")


def test_an_unknown_option_is_told_at_once(tmp_path):
    with pytest.raises(TypeError, match="no option indexes: use index, cache_control"):
        App().static("/static", tmp_path, indexes="index.html")  # type: ignore[call-arg]
