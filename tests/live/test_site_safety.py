"""The faults of the original site, each with a test that would catch it, over every engine."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from support.site import ENGINES, FORM, PICTURE, SiteProcess, Visitor, fill, form, post_at_once
from support.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.live

COUNT = 300
INJECTIONS = ("'; DROP TABLE stickers; --", '" OR ""="', "1); DELETE FROM stickers; --", "\\u0027 {{7*7}} <script>")
REFUSED = {400, 403, 404, 405}


@pytest.fixture(scope="module", params=ENGINES)
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    """Give a running site of its own for each engine, filled with a few stickers."""
    folder = tmp_path_factory.mktemp(f"site-{request.param}")
    fill(folder, COUNT)
    with SiteProcess(request.param, folder) as running:
        yield running


@pytest.fixture
def visitor(site: SiteProcess) -> Visitor:
    return site.visitor()


def database(site: SiteProcess) -> contextlib.closing[sqlite3.Connection]:
    return contextlib.closing(sqlite3.connect(site.data / "stickers.db", isolation_level=None))


def judged(site: SiteProcess) -> list[Any]:
    """Everything that a vote can change."""
    with database(site) as rows:
        stickers = rows.execute("SELECT id, rating, up, down FROM stickers WHERE up + down > 0 ORDER BY id")
        return [*stickers, *rows.execute("SELECT value FROM server WHERE name = 'votes'")]


def test_a_hundred_identical_posts_count_once(site: SiteProcess, visitor: Visitor) -> None:
    """Fault: the vote was read, then written, so that many at once all counted."""
    winner, loser = visitor.pair()
    before = judged(site)[-1][0]
    statuses = post_at_once(site.port, visitor.cookie or "", form(winner, loser), 100)
    assert 1 == statuses.count(303)
    assert 99 == statuses.count(403)
    assert before + 1 == judged(site)[-1][0]


def test_tokens_are_long_and_never_repeat(visitor: Visitor) -> None:
    """Fault: a token was the MD5 of a random number below 16,200."""
    tokens = [token for _ in range(20) for token in visitor.pair()]
    assert 40 == len(set(tokens))
    # 256 bits take 43 characters of 6 bits.
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{43}", token) for token in tokens)


def test_bad_tokens_change_nothing(site: SiteProcess, visitor: Visitor) -> None:
    """Fault: any two tokens made a vote. Swapped, replayed, foreign, expired, invented, missing."""
    winner, loser = visitor.pair()
    other_winner, other_loser = visitor.pair()
    foreign = site.visitor().pair()
    used = visitor.pair()
    assert 303 == visitor.vote(*used).status
    expired = visitor.pair()
    with database(site) as rows:
        rows.execute("UPDATE secret SET expires = 1 WHERE token IN (?, ?)", expired)
    before = judged(site)
    bodies = set()
    for tokens in (
        (winner, other_loser), (other_winner, loser), used, used[::-1], foreign, expired,
        ("A" * 43, "B" * 43), (winner, "B" * 43), (winner, winner), (winner, None), (None, loser),
        (None, None), ("", ""), *((text, text) for text in INJECTIONS),
    ):  # fmt: skip
        answer = visitor.vote(*tokens)
        assert 403 == answer.status, tokens
        bodies.add(answer.body)
    assert 1 == len(bodies), "a refusal tells nothing about its reason"
    assert before == judged(site)
    assert 303 == visitor.vote(winner, loser).status


def test_a_vote_needs_the_session_that_saw_the_pair(site: SiteProcess, visitor: Visitor) -> None:
    """Fault: tokens were bound to nobody."""
    winner, loser = visitor.pair()
    before = judged(site)
    assert 403 == site.visitor().vote(winner, loser).status
    other = site.visitor()
    other.get("/")
    assert 403 == other.vote(winner, loser).status
    assert before == judged(site)


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_only_post_votes(site: SiteProcess, visitor: Visitor, method: str) -> None:
    """Fault: every method was taken for a vote."""
    winner, loser = visitor.pair()
    before = judged(site)
    answer = visitor.ask(method, f"/?winner={winner}&loser={loser}", form(winner, loser), Content_Type=FORM)
    if method in {"PUT", "DELETE", "PATCH"}:
        assert 405 == answer.status
        assert {"GET", "HEAD", "POST"} <= set(re.findall(r"\w+", answer.headers["Allow"]))
    assert before == judged(site)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://["},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Sec_Fetch_Site": "none"},
    ],
)
def test_votes_from_other_sites_are_refused(site: SiteProcess, visitor: Visitor, headers: dict[str, str]) -> None:
    """Fault: any page on the web could vote with a visitor's browser."""
    winner, loser = visitor.pair()
    before = judged(site)
    assert 403 == visitor.vote(winner, loser, **headers).status
    assert before == judged(site)
    own = {"Origin": f"http://127.0.0.1:{site.port}", "Sec_Fetch_Site": "same-origin"}
    assert 303 == visitor.vote(winner, loser, **own).status


def test_the_session_cookie_is_for_http_only(visitor: Visitor) -> None:
    """Fault: the cookie was a bare id that scripts could read."""
    cookie = visitor.get("/").headers["Set-Cookie"]
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(cookie.split("; "))
    assert "Secure" not in cookie
    assert "Set-Cookie" not in visitor.get("/").headers


def test_forwarded_headers_of_strangers_are_not_believed(visitor: Visitor) -> None:
    """Without --behind-proxy, X-Forwarded-Proto is only somebody's claim."""
    assert "Secure" not in visitor.get("/", X_Forwarded_Proto="https").headers["Set-Cookie"]


@pytest.mark.parametrize(
    "rubbish",
    ["", "x", "a.b", "A" * 43, f"{'A' * 43}.{'B' * 43}", f"{'é' * 43}.{'B' * 43}", '"; Path=/', *INJECTIONS],
)
def test_rubbish_in_the_cookie_makes_a_new_session(site: SiteProcess, rubbish: str) -> None:
    """Fault: an unknown id in the cookie became a session, or an error."""
    visitor = site.visitor()
    visitor.cookie = rubbish.encode().decode("latin-1")
    answer = visitor.get("/")
    assert 200 == answer.status
    assert re.search(r"stickers=[\w-]{43}\.[\w-]{43};", answer.headers["Set-Cookie"])
    with database(site) as rows:
        assert (0,) == rows.execute("SELECT count(*) FROM sessions WHERE length(id) <> 43").fetchone()


def test_a_changed_signature_is_not_believed(site: SiteProcess, visitor: Visitor) -> None:
    """A session id can be chosen only by this site."""
    visitor.get("/")
    session, _, signature = (visitor.cookie or "").partition(".")
    for changed in (f"{session[:-1]}{'A' if session[-1] != 'A' else 'B'}.{signature}", f"{session}.{signature[::-1]}"):
        other = site.visitor()
        other.cookie = changed
        assert "Set-Cookie" in other.get("/good").headers


def test_names_are_escaped(site: SiteProcess, visitor: Visitor) -> None:
    """Fault: a sticker's title went into the page as it was."""
    hostile = "<script>alert(1)</script>\" onerror='x"
    with database(site) as rows:
        (title,) = rows.execute("SELECT title FROM stickers WHERE id = 1").fetchone()
        rows.execute("UPDATE stickers SET title = ?, rating = 1000 WHERE id = 1", (hostile,))
        page = visitor.get("/good").text
        rows.execute("UPDATE stickers SET title = ?, rating = 0 WHERE id = 1", (title,))
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    assert "onerror='x\"" not in page


@pytest.mark.parametrize("path", ["/", "/good", "/bad", "/ugliest", "/about", "/nothing-here"])
def test_pages_load_nothing_from_elsewhere(visitor: Visitor, path: str) -> None:
    """Fault: styles and scripts came from third parties, and nothing forbade more."""
    answer = visitor.get(path)
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "nosniff" == answer.headers["X-Content-Type-Options"]
    assert "no-store" == answer.headers["Cache-Control"]
    assert [] == re.findall(r'(?:src|href|action)="(?![/#])[^"]*"|//\w+\.|<style|style=|\son\w+=', answer.text)


def test_hostile_headers_and_paths_are_only_text(site: SiteProcess) -> None:
    """Fault: SQL was put together from User-Agent, cookie and token."""
    for text in (*INJECTIONS, "\xff\xfe", "x" * 5000):
        visitor = Visitor(site.port, agent=text)
        assert 200 == visitor.get("/good").status
        for path in ("/stickers/", "/stickers/mint-ghosts/", "/img/", "/static/"):
            assert visitor.get(path + percent(text)).status in {400, 404}
    with database(site) as rows:
        assert (COUNT,) == rows.execute("SELECT count(*) FROM stickers").fetchone()
        assert (200,) == rows.execute("SELECT max(length(agent)) FROM sessions").fetchone()


def percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text[:200].encode())


def test_old_sessions_and_tokens_go_by_themselves(site: SiteProcess, visitor: Visitor) -> None:
    """Fault: both tables only grew."""
    tokens = visitor.pair()
    with database(site) as rows:
        rows.execute("UPDATE secret SET expires = 1 WHERE token = ?", tokens[:1])
        rows.execute("INSERT INTO sessions VALUES ('old', 1, 1, 1, '', '')")

        def gone() -> bool:
            (left,) = rows.execute(
                "SELECT (SELECT count(*) FROM secret WHERE expires = 1) + "
                "(SELECT count(*) FROM sessions WHERE id = 'old')"
            ).fetchone()
            return bool(left == 0)

        wait_for(gone, timeout=15, what="expiry in the background")
        assert (1,) == rows.execute("SELECT count(*) FROM secret WHERE token = ?", tokens[1:]).fetchone()


def test_unknown_things_have_a_page_of_their_own(visitor: Visitor) -> None:
    """Fault: an unknown sticker was a traceback."""
    for path in (
        "/nothing", "/good/more", "/stickers/nobody", "/stickers/mint-ghosts/99999", "/stickers/mint-ghosts/x",
        "/stickers/mint-ghosts/-1", f"/stickers/mint-ghosts/{9**30}", "/img/mint-ghosts/0.svg",
        "/img/mint-ghosts/1.exe", "/img/nobody/1.svg", "/static/nothing.css",
    ):  # fmt: skip
        answer = visitor.get(path)
        assert 404 == answer.status, path
        assert "Nothing sticks here" in answer.text
    for query in ("limit=0", "limit=101", "offset=-1", "limit=x", "offset=" + "9" * 30, "limit=%00"):
        assert 400 == visitor.get(f"/stickers?{query}").status, query


def test_nothing_outside_the_known_files_is_reachable(site: SiteProcess, visitor: Visitor) -> None:
    """Fault: a path with dots went to the file system."""
    # Real files, so that only the site's own rules stand between them and the visitor.
    for name in ("images/mint-ghosts/1.exe", "images/1.png", "1.png", "outside/1.png"):
        file = site.data / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"import nothing")
    for path in (
        "/static/../site.py", "/static/..%2fsite.py", "/static/%2e%2e/site.py", "/static/..%5csite.py",
        "/img/../secret", "/img/%2e%2e/secret", "/img/..%2f..%2fsecret/1.svg", "/img/mint-ghosts/..%2f..%2fsecret",
        "/img//secret", "/static/%00", "/static//etc/passwd", "/img/mint-ghosts/1.exe", "/img/..%2foutside/1.png",
        "/img/..%2f/1.png", "/img/../1.png", "/img/./1.png", "/img/%2e/1.png", "/img/%2e%2e/1.png",
    ):  # fmt: skip
        answer = visitor.get(path)
        assert answer.status in {400, 404}, path
        assert b"import" not in answer.body


def test_pictures_and_styles_are_cached_and_shut_in(visitor: Visitor) -> None:
    """Entity tags answer 304; HEAD has no body; a picture on its own may not run anything."""
    for path in ("/img/mint-ghosts/1.svg", "/static/style.css", "/static/vote.js", "/static/icon.svg", "/favicon.ico"):
        answer = visitor.get(path)
        assert 200 == answer.status
        assert str(len(answer.body)) == answer.headers["Content-Length"]
        assert "sandbox" in answer.headers["Content-Security-Policy"]
        again = visitor.get(path, If_None_Match=answer.headers["ETag"])
        assert (304, b"") == (again.status, again.body)
        assert 200 == visitor.get(path, If_None_Match='"other"').status
        head = visitor.ask("HEAD", path)
        assert (200, b"") == (head.status, head.body)


def test_a_big_body_is_refused(site: SiteProcess, visitor: Visitor) -> None:
    """A vote is small; what is not is not read."""
    winner, loser = visitor.pair()
    body = form(winner, loser) + b"&x=" + b"y" * 10_000
    assert 413 == visitor.ask("POST", "/", body, Content_Type=FORM).status
    assert 403 == visitor.ask("POST", "/", b"a=b&" * 500, Content_Type=FORM).status


def test_index_shows_what_it_says(visitor: Visitor) -> None:
    """Two different pictures, each with words for those who cannot see it."""
    page = visitor.get("/").text
    left, right = PICTURE.findall(page)
    assert left != right
    assert 2 == len(re.findall(r'<img src="/img/[^"]+" alt="\w[^"]{10,}" width="\d+" height="\d+"', page))


@pytest.mark.parametrize(("path", "title"), [("/good", "The Good"), ("/bad", "The Bad"), ("/ugliest", "The Ugly")])
def test_every_list_has_its_own_title(visitor: Visitor, path: str, title: str) -> None:
    """Good, bad and ugly, in the tab and on the page."""
    page = visitor.get(path).text
    assert f"<title>{title} &middot; Stickers</title>" in page
    assert [title] == re.findall("<h1>(.*)</h1>", page)


def test_ugly_is_one_word(visitor: Visitor) -> None:
    """The server alone."""
    assert b"UGLY" == visitor.get("/ugly").body


def test_lists_without_decoration(visitor: Visitor) -> None:
    """For programs and for races: nine lines, same store work."""
    lines = visitor.get("/good?format=plain").text.splitlines()
    assert 9 == len(lines)
    assert all(re.fullmatch(r"-?\d+ [a-z]+-[a-z]+/\d+ .+", line) for line in lines)


def test_the_api_is_paged(visitor: Visitor) -> None:
    """Links are relative: what the Host header says is not repeated."""
    first = visitor.get("/stickers?limit=100", Host="evil.example").text
    assert "evil" not in first
    assert '"next": "/stickers?offset=100&limit=100"' in first.replace("\\u0026", "&")
    assert '"next": null' in visitor.get("/stickers?offset=100&limit=100").text
