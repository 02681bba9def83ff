"""ProxyHeaders: the client is the last one that no trusted proxy stands for."""

from __future__ import annotations

from typing import Any

import pytest
from tarmac import App, ConfigurationError
from tarmac.middleware import ProxyHeaders
from tarmac.testing import Client

PEER = ("10.0.0.1", 4000)
HERE = [list(PEER), "http", "testserver"]


def seen(headers, *, client=PEER, **options: Any):
    app = App()
    app.add_middleware(ProxyHeaders(**{"trusted": ["10.0.0.0/8"], **options}))
    app.get("/")(lambda request: [request.client, request.scheme, request.host])
    with Client(app, client=client) as one:
        return one.get("/", headers=headers).json()


@pytest.mark.parametrize(
    ("value", "client"),
    [
        ("192.0.2.1", ["192.0.2.1", 0]),
        ("192.0.2.1:77", ["192.0.2.1", 77]),
        ("192.0.2.1:99999", ["192.0.2.1", 0]),
        ("2001:db8::1", ["2001:db8::1", 0]),
        ("[2001:db8::1]:77", ["2001:db8::1", 77]),
        ("::ffff:192.0.2.1", ["192.0.2.1", 0]),
        # What the client made up stands on the left.
        ("1.1.1.1, 192.0.2.1", ["192.0.2.1", 0]),
        ("10.9.9.9, 192.0.2.1", ["192.0.2.1", 0]),
        ("1.1.1.1, 192.0.2.1, 10.0.0.2, 10.0.0.3", ["192.0.2.1", 0]),
        # Everyone is a proxy of ours: the farthest.
        ("10.0.0.3, 10.0.0.2", ["10.0.0.3", 0]),
        # What cannot be read hides whoever stands before it.
        ("192.0.2.1, nonsense, 10.0.0.2", ["10.0.0.2", 0]),
        ("192.0.2.1, nonsense", list(PEER)),
        ("unknown", list(PEER)),
        ("", list(PEER)),
        (",,", list(PEER)),
    ],
)
def test_x_forwarded_for(value, client):
    assert [client, "http", "testserver"] == seen({"X-Forwarded-For": value})


def test_several_lines_are_one_list():
    assert ["192.0.2.1", 0] == seen([("X-Forwarded-For", "1.1.1.1, 192.0.2.1"), ("X-Forwarded-For", "10.0.0.2")])[0]


@pytest.mark.parametrize(
    ("headers", "scheme", "host"),
    [
        ({"X-Forwarded-Proto": "https"}, "https", "testserver"),
        ({"X-Forwarded-Proto": "HTTPS", "X-Forwarded-Host": "example.org:8443"}, "https", "example.org:8443"),
        ({"X-Forwarded-Proto": "gopher", "X-Forwarded-Host": "a b"}, "http", "testserver"),
        ({"X-Forwarded-Host": "example.org/evil"}, "http", "testserver"),
        # Lists that run beside that of the clients: what belongs to the client that counts.
        (
            {"X-Forwarded-For": "1.1.1.1, 192.0.2.1, 10.0.0.2", "X-Forwarded-Proto": "x, https, http"},
            "https",
            "testserver",
        ),
        # Else the word of the nearest proxy.
        ({"X-Forwarded-For": "192.0.2.1, 10.0.0.2", "X-Forwarded-Proto": "http, http, https"}, "https", "testserver"),
    ],
)
def test_scheme_and_host(headers, scheme, host):
    assert [scheme, host] == seen(headers)[1:]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("for=192.0.2.1;proto=https;host=example.org", [["192.0.2.1", 0], "https", "example.org"]),
        ('For="[2001:db8::1]:4711" ; Proto=http', [["2001:db8::1", 4711], "http", "testserver"]),
        ('for="192.0.2.1:80"', [["192.0.2.1", 80], "http", "testserver"]),
        (
            "for=1.1.1.1;proto=https;host=evil.test, for=192.0.2.1;proto=https, for=10.0.0.2;proto=http",
            [["192.0.2.1", 0], "https", "testserver"],
        ),
        ("for=unknown;proto=https", [list(PEER), "https", "testserver"]),
        ("for=_hidden, for=10.0.0.2", [["10.0.0.2", 0], "http", "testserver"]),
        ('for="192.0.2.1', HERE),
        ("for=192.0.2.1 for=1.1.1.1", HERE),
        ("for", HERE),
        ("", HERE),
        (r'for="192.0.2\.1"', [["192.0.2.1", 0], "http", "testserver"]),
    ],
)
def test_forwarded(value, expected):
    assert expected == seen({"Forwarded": value}, use="forwarded")


def test_only_the_header_in_use_counts():
    assert HERE == seen({"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "https"}, use="forwarded")
    assert HERE == seen({"Forwarded": "for=192.0.2.1;proto=https"})


def test_nobody_else_is_believed():
    told = {"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil.test"}
    assert [["11.0.0.1", 9], "http", "testserver"] == seen(told, client=("11.0.0.1", 9))
    assert [None, "http", "testserver"] == seen(told, client=None)
    assert [["192.0.2.1", 0], "https", "evil.test"] == seen(told, client=None, trusted=["unix"])
    assert ["192.0.2.1", 0] == seen(told, client=("::1", 9), trusted=["::1"])[0]


def test_by_default_proxies_are_on_this_machine():
    app = App()
    app.add_middleware(ProxyHeaders())
    app.get("/")(lambda request: [request.client])
    for client, expected in (("127.0.0.1", "192.0.2.1"), ("::1", "192.0.2.1"), ("10.0.0.1", "10.0.0.1")):
        with Client(app, client=(client, 1)) as one:
            assert expected == one.get("/", headers={"X-Forwarded-For": "192.0.2.1"}).json()[0][0]


@pytest.mark.parametrize("options", [{"trusted": ["10.0.0.1/8"]}, {"trusted": ["proxy.test"]}, {"use": "both"}])
def test_what_cannot_be_meant_is_refused(options):
    with pytest.raises(ConfigurationError):
        ProxyHeaders(**options)
