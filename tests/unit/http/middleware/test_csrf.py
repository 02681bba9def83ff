"""CSRF: what changes something comes from our own pages, or not at all."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tarmac import App, ConfigurationError
from tarmac.middleware import CSRF, Sessions
from tarmac.testing import Client

KEY = "a key of at least sixteen bytes"


def site(*, sessions: bool = False, **options: Any) -> App:
    app = App()
    if sessions:
        app.add_middleware(Sessions(KEY, secure=False))
        app.add_middleware(CSRF(**options))
    else:
        app.add_middleware(CSRF(KEY, **{"secure": False, **options}))
    app.get("/form")(lambda request: request.state.csrf_token())
    app.get("/plain")(lambda request: "x")

    @app.route("/change", methods=["POST", "PUT", "DELETE"])
    async def change(request):
        return f"changed {await request.text()}"

    @app.post("/upload", stream=True)
    async def upload(request):
        return f"uploaded {await request.text()}"

    return app


@pytest.fixture(params=[False, True], ids=["cookie", "session"])
def client(request):
    with Client(site(sessions=request.param)) as client:
        yield client


def test_a_token_lets_a_form_pass(client):
    assert 403 == client.post("/change").status
    token = client.get("/form").text
    assert 403 == client.post("/change").status
    assert 200 == client.post("/change", headers={"X-CSRF-Token": token}).status
    assert "changed csrf_token" in client.post("/change", data={"csrf_token": token}).text
    assert 200 == client.put("/change", headers={"X-CSRF-Token": token}).status
    assert 200 == client.delete("/change", headers={"X-CSRF-Token": token}).status
    assert 200 == client.post("/change", data={"csrf_token": token}, files={"a": b"1"}).status


def test_every_page_has_another_token_and_all_are_good(client):
    first, second = (client.get("/form").text for _ in range(2))
    assert first != second
    for token in (first, second):
        assert 200 == client.post("/change", headers={"X-CSRF-Token": token}).status


def test_a_token_of_somebody_else_is_worth_nothing(client):
    token = client.get("/form").text
    client.cookies.clear()
    assert 403 == client.post("/change", headers={"X-CSRF-Token": token}).status
    client.get("/form")
    assert 403 == client.post("/change", headers={"X-CSRF-Token": token}).status


@pytest.mark.parametrize(
    "change", [lambda t: t[:-1], lambda t: t[:-2] + "AA", lambda t: "", lambda t: t + "A", lambda t: "\xe9"]
)
def test_a_changed_token_is_worth_nothing(client, change):
    token = client.get("/form").text
    assert 403 == client.post("/change", headers={"X-CSRF-Token": change(token)}).status


def test_a_cookie_of_the_clients_own_is_worth_nothing():
    with Client(site()) as client:
        token = client.get("/form").text
        cookie = client.cookies["csrf"]
        assert "HttpOnly" in client.get("/form").headers.get("set-cookie", "HttpOnly")
        client.cookies["csrf"] = "AAAAAAAAAAAAAAAAAAAAAA." + cookie.partition(".")[2]
        assert 403 == client.post("/change", headers={"X-CSRF-Token": token}).status


def test_the_secret_is_kept_once_and_only_for_pages_that_want_it(client):
    plain = client.get("/plain").headers
    assert not {"set-cookie", "vary"} & set(plain)
    answer = client.get("/form")
    assert ("Cookie", True) == (answer.headers["vary"], "set-cookie" in answer.headers)
    assert "set-cookie" not in client.get("/form").headers


SOURCES = [
    ({}, 200),
    ({"Sec-Fetch-Site": "same-origin"}, 200),
    ({"Sec-Fetch-Site": "none"}, 200),
    ({"Sec-Fetch-Site": "same-site"}, 403),
    ({"Sec-Fetch-Site": "cross-site"}, 403),
    ({"Sec-Fetch-Site": "cross-site", "Origin": "https://friend.test"}, 200),
    ({"Sec-Fetch-Site": "cross-site", "Origin": "http://testserver"}, 403),
    ({"Origin": "http://testserver"}, 200),
    ({"Origin": "http://testserver:80"}, 403),
    ({"Origin": "https://testserver"}, 403),
    ({"Origin": "http://evil.test"}, 403),
    ({"Origin": "null"}, 403),
    ({"Referer": "http://testserver/form?x"}, 200),
    ({"Referer": "http://testserver.evil.test/"}, 403),
    ({"Referer": "http://evil.test/http://testserver/"}, 403),
    ({"Referer": "nonsense"}, 403),
]


@pytest.mark.parametrize(("headers", "status"), SOURCES)
@pytest.mark.parametrize("tokens", [False, True])
def test_where_a_request_comes_from(headers, status, tokens):
    with Client(site(trusted=["https://friend.test"], tokens=tokens)) as client:
        if tokens:
            headers = {**headers, "X-CSRF-Token": client.get("/form").text}
        else:
            assert 200 == client.get("/plain", headers={"Origin": "http://evil.test"}).status
        assert status == client.post("/change", headers=headers).status


def test_a_body_in_pieces_is_left_to_its_handler():
    with Client(site()) as client:
        token = client.get("/form").text
        head = f"POST /upload HTTP/1.1\r\nHost: testserver\r\nCookie: csrf={client.cookies['csrf']}\r\n"
        form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 8\r\n"
        for line, status in (("", 403), (f"X-CSRF-Token: {token}\r\n", 200)):
            connection = client.connect()
            connection.send(f"{head}{form}{line}\r\na=".encode())
            if status == 200:
                client.run(asyncio.sleep(0))
                connection.send(b"123456")
            assert status == connection.answer().status


def test_some_requests_need_none():
    with Client(site(exempt=lambda request: "x-api-key" in request.headers)) as client:
        assert 200 == client.post("/change", headers={"X-Api-Key": "1", "Origin": "http://evil.test"}).status
        assert 403 == client.post("/change").status


def test_it_needs_somewhere_to_keep_its_secret():
    app = App()
    app.add_middleware(CSRF())
    app.get("/")(lambda request: request.state.csrf_token())
    with Client(app) as client, pytest.raises(ConfigurationError, match="Sessions"):
        client.get("/")
