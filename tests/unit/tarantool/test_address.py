"""A database URL says where, who and how."""

from __future__ import annotations

import pytest
from tarmac.tarantool import NotSupported, Options, UsageError
from tarmac.tarantool.address import Target, parse


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("tarantool://127.0.0.1:3301", Target("127.0.0.1", 3301)),
        ("tarantool://127.0.0.1", Target("127.0.0.1", 3301)),
        ("tarantool://db.example:33/", Target("db.example", 33)),
        ("tarantool://[::1]:33", Target("::1", 33)),
        ("tarantool://", Target("127.0.0.1", 3301)),
        ("tarantool://ann:p%40ss%2F@h", Target("h", user="ann", password="p@ss/")),
        ("tarantool://ann@h", Target("h", user="ann")),
        ("unix:/run/t.sock", Target(path="/run/t.sock")),
        ("unix:relative.sock", Target(path="relative.sock")),
        ("unix://ann:x@/run/t.sock", Target(path="/run/t.sock", user="ann", password="x")),
    ],
)
def test_a_url_says_where_and_who(url, target):
    assert (target, Options()) == parse(url, {})


def test_parameters_of_the_url_are_options_and_keywords_win():
    url = "tarantool://h?timeout=1.5&in_flight=7&fail_fast=true&connect_timeout=2&user=bob"
    target, options = parse(url, {"timeout": 3})
    assert "bob" == target.user
    assert Options(timeout=3, in_flight=7, fail_fast=True, connect_timeout=2.0) == options


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://h", "starts with tarantool://"),
        ("127.0.0.1:3301", "starts with tarantool://"),
        ("unix:", "needs a path"),
        ("tarantool://h/database", "means nothing"),
        ("tarantool://h:x", "Port"),
        ("tarantool://h:70000", "Port"),
        ("tarantool://h?timeout=soon", "soon"),
        ("tarantool://h?fail_fast=maybe", "true or false"),
        ("tarantool://h?speed=9", "no option speed"),
        ("tarantool://h?timeout=0", "above 0"),
        ("tarantool://h?in_flight=-1", "above 0"),
    ],
)
def test_a_wrong_url_says_what_is_wrong(url, message):
    with pytest.raises(UsageError, match=message):
        parse(url, {})


def test_tls_is_for_later_and_never_falls_back_to_plain():
    with pytest.raises(NotSupported, match="later release"):
        parse("tarantools://h", {})


@pytest.mark.parametrize(("host", "numeric"), [("127.0.0.1", True), ("::1", True), ("localhost", False), (None, True)])
def test_only_names_are_looked_up(host, numeric):
    assert numeric is Target(host).numeric


def test_a_password_is_never_shown():
    target = Target("h", user="ann", password="secret")
    assert "secret" not in repr(target) + str(target)
    assert "tarantool://ann@h:3301" == str(target)
