"""CORS: which scripts of other origins may call, and what they are told."""

from __future__ import annotations

from typing import Any

import pytest
from tarmac import App, ConfigurationError
from tarmac.middleware import CORS
from tarmac.testing import Answer, Client

ORIGIN = "https://example.org"


def client(**options: Any) -> Client:
    app = App()
    app.add_middleware(CORS(**options))
    app.get("/")(lambda request: "x")
    app.put("/")(lambda request: "put")

    @app.get("/defect")
    def defect(request):
        raise ValueError

    return Client(app, raise_server_exceptions=False)


def preflight(client: Client, origin: str = ORIGIN, method: str = "PUT", headers: str | None = None) -> Answer:
    asked = {"Origin": origin, "Access-Control-Request-Method": method}
    if headers is not None:
        asked["Access-Control-Request-Headers"] = headers
    return client.options("/", headers=asked)


def told(answer: Answer) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name.startswith("access-control")}


def test_a_preflight_is_answered_for_whom_it_is_allowed():
    with client(origins=[ORIGIN], headers=["X-Own"], max_age=99) as one:
        answer = preflight(one, headers="x-own, Content-Type")
        assert (204, b"") == (answer.status, answer.body)
        assert {
            "access-control-allow-origin": ORIGIN,
            "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
            "access-control-allow-headers": "x-own, Content-Type",
            "access-control-max-age": "99",
        } == told(answer)
        assert "Origin, Access-Control-Request-Method, Access-Control-Request-Headers" == answer.headers["vary"]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"origin": "https://evil.test"}, "this origin"),
        ({"origin": "https://example.org.evil.test"}, "this origin"),
        ({"origin": "http://example.org"}, "this origin"),
        ({"origin": "https://example.org:444"}, "this origin"),
        ({"origin": "null"}, "this origin"),
        ({"method": "TRACE"}, "this method"),
        ({"method": "put"}, "this method"),
        ({"headers": "x-own, x-other"}, "x-other"),
    ],
)
def test_a_preflight_is_refused_otherwise(asked, why):
    with client(origins=[ORIGIN], headers=["X-Own"]) as one:
        answer = preflight(one, **asked)
        assert (403, {}) == (answer.status, told(answer))
        assert why in answer.text
        assert "Origin" in answer.headers["vary"]


def test_an_options_request_that_is_no_preflight_reaches_the_routes():
    with client(origins=[ORIGIN]) as one:
        answer = one.options("/", headers={"Origin": ORIGIN})
        assert (204, "GET, PUT, HEAD, OPTIONS") == (answer.status, answer.headers["allow"])
        assert {"access-control-allow-origin": ORIGIN} == told(answer)


@pytest.mark.parametrize("path", ["/", "/none", "/defect"])
def test_every_answer_says_who_may_read_it(path):
    with client(origins=[ORIGIN], expose=["X-A", "X-B"], credentials=True) as one:
        answer = one.get(path, headers={"Origin": ORIGIN})
        assert {
            "access-control-allow-origin": ORIGIN,
            "access-control-expose-headers": "X-A, X-B",
            "access-control-allow-credentials": "true",
        } == told(answer)
        assert "Origin" == answer.headers["vary"]
        for headers in ({}, {"Origin": "https://evil.test"}):
            answer = one.get(path, headers=headers)
            assert ({}, "Origin") == (told(answer), answer.headers["vary"])


def test_all_origins_share_one_answer():
    with client(origins="*", headers="*") as one:
        answer = one.get("/", headers={"Origin": "https://any.test"})
        assert ({"access-control-allow-origin": "*"}, None) == (told(answer), answer.headers.get("vary"))
        assert "X-What-Ever" == told(preflight(one, headers="X-What-Ever"))["access-control-allow-headers"]


def test_a_pattern_has_to_match_the_whole_origin():
    with client(origin_regex=r"https://[a-z]+\.example\.org") as one:
        for origin, allowed in [
            ("https://a.example.org", True),
            ("https://a.example.org.evil.test", False),
            ("https://evil.test/https://a.example.org", False),
            ("https://aXexample.org", False),
        ]:
            assert (204 if allowed else 403) == preflight(one, origin).status, origin


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"origins": "*", "credentials": True}, "every site"),
        ({"origins": ["*"], "credentials": True}, "every site"),
        ({}, "needs origins"),
        ({"origins": ["https://example.org/"]}, "without a path"),
        ({"origins": ["example.org"]}, "looks like"),
    ],
)
def test_what_would_not_do_what_it_seems_to_is_refused(options, why):
    with pytest.raises(ConfigurationError, match=why):
        CORS(**options)
