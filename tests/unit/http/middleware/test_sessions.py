"""Sessions: kept by the visitor, changed by us alone."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import timedelta
from typing import Any

import pytest
from tarmac import App, ConfigurationError
from tarmac.middleware import Sessions
from tarmac.testing import Client

KEY = "a key of at least sixteen bytes"
OTHER = "another key, for later on"


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def site(keys=KEY, **options: Any) -> App:
    app = App()
    app.add_middleware(Sessions(keys, **{"secure": False, **options}))

    @app.get("/set/{name}/{value}")
    def put(request, name, value):
        request.state.session[name] = value
        return "set"

    @app.get("/get")
    def get(request):
        return dict(request.state.session)

    @app.get("/clear")
    def clear(request):
        request.state.session.clear()

    @app.get("/append")
    async def append(request):
        request.state.session.setdefault("list", []).append(1)

    @app.get("/bad")
    def bad(request):
        request.state.session["x"] = object()

    @app.get("/big")
    def big(request):
        request.state.session["x"] = "y" * 4000

    app.get("/untouched")(lambda request: "x")
    return app


def test_values_come_back():
    with Client(site()) as client:
        assert {} == client.get("/get").json()
        client.get("/set/user/Ann")
        client.get("/set/ü/é")
        assert {"user": "Ann", "ü": "é"} == client.get("/get").json()
        client.get("/append")
        client.get("/append")
        assert [1, 1] == client.get("/get").json()["list"], "a change inside a value is seen"
        client.get("/clear")
        assert {} == client.get("/get").json()
        assert "session" not in client.cookies


def test_the_cookie_says_what_it_should():
    with Client(site(secure=True, max_age=timedelta(hours=1), same_site="strict", domain="testserver")) as client:
        cookie = client.get("https://testserver/set/a/1").headers["set-cookie"]
        assert cookie.endswith("; Path=/; Domain=testserver; Max-Age=3600; SameSite=Strict; Secure; HttpOnly")
    with Client(site(cookie="__Host-s", secure=True)) as client:
        assert client.get("https://testserver/set/a/1").headers["set-cookie"].startswith("__Host-s=")


def test_it_is_written_only_when_there_is_something_to_write():
    with Client(site()) as client:
        assert "set-cookie" not in client.get("/get").headers
        assert "set-cookie" in client.get("/set/a/1").headers
        assert "set-cookie" not in client.get("/set/a/1").headers, "the same value again"
        assert "set-cookie" not in client.get("/get").headers


def test_answers_depend_on_the_cookie_where_the_session_was_looked_at():
    with Client(site()) as client:
        assert "Cookie" == client.get("/get").headers["vary"]
        assert "vary" not in client.get("/untouched").headers


def tampered(cookie: str) -> list[str]:
    payload, made, mac = cookie.split(".")
    other = urlsafe_b64encode(json.dumps({"user": "admin"}).encode()).decode().rstrip("=")
    return [
        f"{other}.{made}.{mac}",
        f"{payload}.{int(made) + 1}.{mac}",
        f"{payload}.{made}.{mac[:-2]}",
        f"{payload}.{made}.",
        f"{payload}.{made}",
        f"{payload}.{made}.{mac}x",
        f"x{cookie}",
        mac,
        "",
        ".",
        "..",
        "\xe9.1.x",
    ]


def test_what_was_tampered_with_is_an_empty_session():
    with Client(site()) as client:
        client.get("/set/user/Ann")
        cookie = client.cookies["session"]
        assert {"user": "Ann"} == json.loads(urlsafe_b64decode(cookie.split(".")[0] + "=="))
        for wrong in tampered(cookie):
            client.cookies["session"] = wrong
            answer = client.get("/get")
            assert {} == answer.json(), wrong
            assert "Max-Age=0" in answer.headers["set-cookie"], "it is taken back"
        client.cookies["session"] = cookie
        assert {"user": "Ann"} == client.get("/get").json()


def test_a_cookie_of_another_name_or_key_is_worth_nothing():
    with Client(site()) as client:
        client.get("/set/user/Ann")
        cookie = client.cookies["session"]
    with Client(site(cookie="other")) as client:
        client.cookies["other"] = cookie
        assert {} == client.get("/get").json()
    with Client(site(OTHER)) as client:
        client.cookies["session"] = cookie
        assert {} == client.get("/get").json()


def test_keys_can_be_changed():
    with Client(site([KEY])) as client:
        client.get("/set/user/Ann")
        old = client.cookies["session"]
    with Client(site([OTHER, KEY])) as client:
        client.cookies["session"] = old
        answer = client.get("/get")
        assert {"user": "Ann"} == answer.json()
        new = answer.cookies["session"]
    with Client(site([OTHER])) as client:
        client.cookies["session"] = new
        assert {"user": "Ann"} == client.get("/get").json()
        client.cookies["session"] = old
        assert {} == client.get("/get").json()


def test_it_ends_with_its_time_and_lives_while_it_is_used():
    clock = Clock()
    with Client(site(max_age=100, now=clock)) as client:
        client.get("/set/user/Ann")
        first = client.cookies["session"]
        clock.now += 49
        assert "set-cookie" not in client.get("/get").headers
        clock.now += 1
        assert "set-cookie" in client.get("/get").headers, "half its time is over"
        clock.now += 50
        client.cookies["session"] = first
        assert {"user": "Ann"} == client.get("/get").json()
        clock.now += 1
        client.cookies["session"] = first
        assert {} == client.get("/get").json()
        clock.now -= 200
        client.cookies["session"] = first
        assert {} == client.get("/get").json(), "made in the future"


@pytest.mark.parametrize(("path", "error"), [("/bad", TypeError), ("/big", ValueError)])
def test_what_cannot_be_kept_is_told(path, error):
    with Client(site()) as client, pytest.raises(error):
        client.get(path)


@pytest.mark.parametrize("keys", ["short", [], ["a key of at least sixteen bytes", b"short"]])
def test_keys_must_be_keys(keys):
    with pytest.raises(ConfigurationError, match="16 bytes"):
        Sessions(keys)
