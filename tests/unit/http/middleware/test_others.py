"""Request ids, timings, security headers, trusted hosts, rate limits, time limits, and what they share."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
import tarmac
from tarmac import App, ConfigurationError, middleware
from tarmac.middleware import (
    RateLimit,
    RequestId,
    SecurityHeaders,
    Timeout,
    Timing,
    TrustedHosts,
    request_id,
)
from tarmac.middleware.fields import origin_of
from tarmac.middleware.rate_limit import Buckets
from tarmac.testing import AsyncClient, Client


def site(*layers: Any) -> App:
    app = App()
    for layer in layers:
        app.add_middleware(layer)
    app.get("/")(lambda request: "x")

    @app.get("/defect")
    def defect(request):
        raise ValueError

    return app


def test_every_name_is_there():
    assert set(middleware.__all__) <= set(dir(middleware))
    assert [] == [name for name in middleware.__all__ if getattr(middleware, name, None) is None]
    assert request_id is tarmac.middleware.request_id and request_id.get() is None
    with pytest.raises(AttributeError, match="nonsense"):
        _ = middleware.nonsense


@pytest.mark.parametrize("path", ["/", "/none", "/defect"])
def test_every_request_has_a_name(path):
    with Client(site(RequestId()), raise_server_exceptions=False) as client:
        names = {client.get(path, headers={"X-Request-Id": "mine"}).headers["x-request-id"] for _ in range(3)}
        assert 3 == len(names) and all(re.fullmatch("[0-9a-f]{32}", name) for name in names)


def test_the_name_is_known_inside():
    app = App()
    app.add_middleware(RequestId(header="X-Name"))

    @app.get("/")
    async def handler(request):
        await asyncio.sleep(0)
        return [request.state.request_id, request_id.get()]

    with Client(app) as client:
        answer = client.get("/")
        assert [answer.headers["x-name"]] * 2 == answer.json()


def test_the_name_is_forgotten_with_its_request():
    seen = []

    async def outer(request, call_next):
        response = await call_next(request)
        seen.append(request_id.get())
        return response

    with Client(site(outer, RequestId())) as client:
        client.get("/")
    assert [None] == seen


@pytest.mark.parametrize(
    ("given", "accepted"),
    [("abc-1.2_3~+/=:", True), ("x" * 128, True), ("x" * 129, False), ("", False), ("a b", False), ("a\xe9", False)],
)
def test_a_name_that_a_proxy_gave_is_taken_over_if_it_is_plain(given, accepted):
    with Client(site(RequestId(accept=True))) as client:
        assert accepted == (given == client.get("/", headers={"X-Request-Id": given}).headers["x-request-id"])


def test_what_was_measured_is_told():
    app = App()
    app.add_middleware(Timing(total="all"))

    @app.get("/")
    async def handler(request):
        with request.state.timings.measure("db"):
            await asyncio.sleep(0.001)
        request.state.timings.add("cache", 0.25)
        request.state.timings.add("cache", 0.25)
        with pytest.raises(ValueError, match="a part of a timing"):
            request.state.timings.add("a b", 1)

    with Client(app) as client:
        line = client.get("/").headers["server-timing"]
        match = re.fullmatch(r"all;dur=([\d.]+), db;dur=([\d.]+), cache;dur=500\.0", line)
        assert match and 1.0 <= float(match[2]) <= float(match[1])


@pytest.mark.parametrize("path", ["/", "/none", "/defect"])
def test_browsers_are_told_to_be_careful(path):
    careful = SecurityHeaders(
        content_security_policy={"default-src": ["'self'", "https://a.test"], "upgrade-insecure-requests": ""},
        frame_options=None,
        extra={"X-Own": "1"},
    )
    with Client(site(careful), raise_server_exceptions=False) as client:
        headers = client.get(path).headers
        assert {
            "x-content-type-options": "nosniff",
            "referrer-policy": "strict-origin-when-cross-origin",
            "cross-origin-opener-policy": "same-origin",
            "content-security-policy": "default-src 'self' https://a.test; upgrade-insecure-requests",
            "x-own": "1",
        } == {
            name: value
            for name, value in headers.items()
            if name[:7] not in {"content", "date", "server", "date"[:7]} or name == "content-security-policy"
        }


def test_a_handler_knows_better_and_https_is_remembered_on_https_alone():
    app = App()
    app.add_middleware(SecurityHeaders(hsts=60, hsts_subdomains=True, content_security_policy="default-src 'none'"))

    @app.get("/{scheme}")
    def handler(request, scheme):
        request.override(scheme=scheme)
        return tarmac.Response("x", headers={"X-Frame-Options": "SAMEORIGIN"})

    with Client(app) as client:
        headers = client.get("/https").headers
        assert ("SAMEORIGIN", "max-age=60; includeSubDomains", "default-src 'none'") == (
            headers["x-frame-options"],
            headers["strict-transport-security"],
            headers["content-security-policy"],
        )
        assert "strict-transport-security" not in client.get("/http").headers
    with pytest.raises(ConfigurationError, match="semicolon"):
        SecurityHeaders(content_security_policy={"default-src": ["a; b"]})


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("example.org", 200),
        ("EXAMPLE.org:8080", 200),
        ("example.org.", 200),
        ("a.example.net", 200),
        ("a.b.example.net", 200),
        ("[::1]:80", 200),
        ("[::1]", 200),
        ("example.net", 400),
        ("evilexample.org", 400),
        ("example.org.evil.test", 400),
        ("evilexample.net", 400),
    ],
)
def test_other_hosts_are_refused(host, status):
    with Client(site(TrustedHosts(["Example.org", "*.example.net", "[::1]"]))) as client:
        assert status == client.get("/", headers={"Host": host}).status


@pytest.mark.parametrize("hosts", [[], "example.org", ["*"], ["a.*.org"], ["http://x"]])
def test_hosts_are_a_list_of_names(hosts):
    with pytest.raises(ConfigurationError):
        TrustedHosts(hosts)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_fills_again():
    clock = Clock()
    buckets = Buckets(rate=2.0, size=3, most=10, now=clock)
    assert [0, 0, 0, 0.5] == [buckets.take("a") for _ in range(4)]
    assert 0 == buckets.take("b")
    clock.now = 0.4
    assert 0.1 == pytest.approx(buckets.take("a"))
    clock.now = 0.5
    assert (0, 0.5) == (buckets.take("a"), buckets.take("a"))
    clock.now = 100
    assert [0, 0, 0, 0.5] == [buckets.take("a") for _ in range(4)], "never fuller than full"


def test_memory_is_bounded():
    buckets = Buckets(rate=1, size=1, most=3, now=Clock())
    for key in "abcad":
        buckets.take(key)
    assert 3 == len(buckets)
    assert buckets.take("a") > 0, "what was used lately is remembered"
    assert 0 == buckets.take("b"), "what was not is forgotten"


def test_too_much_is_too_much():
    clock = Clock()
    limit = RateLimit(2, per=10, now=clock)
    with Client(site(limit), client=("192.0.2.1", 5)) as client:
        assert [200, 200, 429] == [client.get("/").status for _ in range(3)]
        answer = client.get("/none")
        assert (429, "5", "Too Many Requests") == (answer.status, answer.headers["retry-after"], answer.text)
        clock.now = 4.99
        assert "1" == client.get("/").headers["retry-after"]
        clock.now = 5
        assert [200, 429] == [client.get("/").status for _ in range(2)]


def test_whose_request_it_is():
    by_user = RateLimit(1, per=60, key=lambda request: request.header("x-user"))
    with Client(site(by_user)) as client:
        asked = [client.get("/", headers={"X-User": user}).status for user in ("a", "b", "a")]
        assert [200, 200, 429] == asked
        assert [200, 200] == [client.get("/").status for _ in range(2)], "nobody is not limited"
    app = site(RateLimit(1, per=60))
    statuses = []
    for address in ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1", "192.0.2.1", "192.0.2.2"):
        with Client(app, client=(address, 1)) as client:
            statuses.append(client.get("/").status)
    assert [200, 429, 200, 200, 200] == statuses, "a network of IPv6 is one client"
    with Client(app, client=None) as client:
        assert [200, 200] == [client.get("/").status for _ in range(2)]


@pytest.mark.parametrize(
    "options",
    [
        {"requests": 0},
        {"requests": 1, "per": 0},
        {"requests": 0.5},
        {"requests": 1, "burst": 0},
        {"requests": 1, "most_keys": 0},
    ],
)
def test_a_rate_is_a_rate(options):
    with pytest.raises(ConfigurationError):
        RateLimit(**options)


@pytest.mark.parametrize("status", [503, 504])
def test_an_answer_in_time(status):
    app = App()
    app.add_middleware(Timeout(0.02, status=status))

    @app.get("/")
    async def slow(request):
        await asyncio.Event().wait()

    @app.error(status)
    def late(request, error):
        return f"late: {error.status}", error.status

    with Client(app) as client:
        assert (status, f"late: {status}") == ((answer := client.get("/")).status, answer.text)
    with pytest.raises(ConfigurationError):
        Timeout(0)


def test_a_defect_reaches_the_log_once_and_the_outer_middleware_as_it_is(caplog):
    seen = []

    async def report(request, call_next):
        try:
            return await call_next(request)
        except ValueError as error:
            seen.append(error)
            raise

    with Client(site(report, RequestId()), raise_server_exceptions=False) as client:
        assert 500 == client.get("/defect").status
    assert 1 == len(seen) == caplog.text.count("GET /defect failed")


def test_requests_at_the_same_time_keep_their_names_apart():
    app, together = App(), asyncio.Barrier(5)
    app.add_middleware(RequestId())

    @app.get("/")
    async def handler(request):
        await together.wait()
        return request_id.get()

    async def main() -> None:
        async with AsyncClient(app) as client:
            answers = await asyncio.gather(*(client.get("/") for _ in range(5)))
            assert [answer.headers["x-request-id"] for answer in answers] == [answer.text for answer in answers]
            assert 5 == len({answer.text for answer in answers})

    asyncio.run(main())


def test_an_origin_leaves_out_its_usual_port():
    assert ["http://a", "https://a", "http://a:443", "ws://a:80"] == [
        origin_of("http", "A:80"),
        origin_of("https", "a:443"),
        origin_of("http", "a:443"),
        origin_of("ws", "a:80"),
    ]
