"""The headers of an answer can be read and changed until it is sent."""

from __future__ import annotations

import gc
import weakref
from datetime import UTC, datetime, timedelta, timezone

import pytest
from tarmac import Response, json

TWICE = [("X-A", "1"), ("x-a", "2"), ("X-B", "3")]


@pytest.fixture
def response() -> Response:
    return Response("x", headers=TWICE)


def test_they_read_like_a_mapping_without_regard_to_case(response):
    headers = response.headers
    assert "1" == headers["x-A"] == headers.get("X-a")
    assert (["1", "2"], []) == (headers.get_all("X-A"), headers.get_all("none"))
    assert ("X-A" in headers, "content-type" in headers, "x-c" in headers, 7 in headers) == (True, True, False, False)
    assert ["Content-Type", "X-A", "X-B"] == list(headers) == list(headers.keys())
    assert 3 == len(headers)
    assert {"Content-Type": "text/plain; charset=utf-8", "X-A": "1", "X-B": "3"} == dict(headers)
    assert ["text/plain; charset=utf-8", "1", "3"] == list(headers.values())
    assert [("Content-Type", "text/plain; charset=utf-8"), *TWICE] == headers.multi_items()
    assert (None, "d") == (headers.get("none"), headers.get("none", "d"))
    with pytest.raises(KeyError, match="none"):
        headers["none"]


def test_setting_replaces_every_line_and_appending_adds_one(response):
    response.headers["X-a"] = "new"
    assert ["new"] == response.headers.get_all("x-a")
    response.headers.append("X-A", "more")
    assert ["new", "more"] == response.headers.get_all("x-a")
    response.headers.update({"X-A": "last", "X-D": "4"})
    assert [("X-B", "3"), ("X-A", "last"), ("X-D", "4")] == response.headers.multi_items()[1:]
    assert ("last", "5") == (response.headers.setdefault("x-a", "5"), response.headers.setdefault("x-e", "5"))


def test_deleting_takes_every_line(response):
    del response.headers["x-a"]
    assert [("X-B", "3")] == response.headers.multi_items()[1:]
    with pytest.raises(KeyError):
        del response.headers["x-a"]
    assert ("3", None) == (response.headers.pop("x-b"), response.headers.pop("x-b", None))
    with pytest.raises(KeyError):
        response.headers.pop("x-b")


def test_the_content_type_is_one_of_them(response):
    response.headers["Content-Type"] = "text/csv"
    assert "text/csv" == response.content_type == response.headers["content-type"]
    del response.headers["content-type"]
    assert response.content_type is None
    response.content_type = "text/html"
    assert "text/html; charset=utf-8" == response.headers["content-type"]


@pytest.mark.parametrize(
    ("name", "value"), [("X", "a\r\nb"), ("X\n", "a"), ("Content-Length", "1"), ("X", "\u20ac"), ("", "")]
)
def test_what_cannot_be_sent_is_refused_and_changes_nothing(response, name, value):
    before = response.headers.multi_items()
    for change in (response.headers.__setitem__, response.headers.append):
        with pytest.raises(ValueError, match=r".+"):
            change(name, value)
    assert before == response.headers.multi_items()


def test_status_and_body_can_be_changed(response):
    response.status = 404
    response.body = b"other"
    assert (404, b"other") == (response.status, response.body)
    response.body = None
    assert b"" == response.body
    with pytest.raises(ValueError, match="99 is not a status"):
        response.status = 99
    with pytest.raises(TypeError, match="str or bytes"):
        response.body = {}


COOKIES = [
    ({"expires": datetime(2031, 1, 2, 3, 4, 5, tzinfo=UTC)}, "Expires=Thu, 02 Jan 2031 03:04:05 GMT"),
    (
        {"expires": datetime(2031, 1, 2, 3, tzinfo=timezone(timedelta(hours=2)))},
        "Expires=Thu, 02 Jan 2031 01:00:00 GMT",
    ),
    ({"expires": 86400}, "Expires=Fri, 02 Jan 1970 00:00:00 GMT"),
    ({"expires": -5.5}, "Expires=Thu, 01 Jan 1970 00:00:00 GMT"),
    ({"expires": "Thu, 02 Jan 2031 03:04:05 GMT"}, "Expires=Thu, 02 Jan 2031 03:04:05 GMT"),
    ({"max_age": timedelta(minutes=2)}, "Max-Age=120"),
    ({"max_age": 7}, "Max-Age=7"),
]


@pytest.mark.parametrize(("given", "attribute"), COOKIES)
def test_a_cookie_says_when_it_ends(given, attribute):
    response = Response("x")
    response.set_cookie("a", "1", **given)
    assert f"a=1; Path=/; {attribute}" == response.headers["set-cookie"]


REFUSED = [
    ("a", {"expires": datetime(2031, 1, 1)}, "needs a time zone"),  # noqa: DTZ001 - that is the mistake
    ("a", {"expires": []}, "a datetime"),
    ("a", {"max_age": "1"}, "whole number of seconds"),
    ("__Secure-a", {}, "secure=True"),
    ("__host-a", {}, "secure=True"),
    ("__Host-a", {"secure": True, "domain": "x.test"}, "no domain"),
    ("__Host-a", {"secure": True, "path": "/a"}, 'path="/"'),
    ("__Host-a", {"secure": True, "path": None}, 'path="/"'),
    ("a", {"partitioned": True}, "secure=True"),
    ("a", {"same_site": "none"}, "secure=True"),
    ("a", {"same_site": "Laxest"}, "lax"),
    ("a", {"path": "/;x"}, "semicolon"),
]


@pytest.mark.parametrize(("name", "given", "why"), REFUSED)
def test_what_a_browser_would_drop_is_refused(name, given, why):
    with pytest.raises((ValueError, TypeError), match=why):
        Response("x").set_cookie(name, "1", **given)


def test_prefixes_keep_their_promise():
    response = Response("x")
    response.set_cookie("__Host-a", "1", secure=True)
    response.set_cookie("__Secure-b", "1", secure=True, domain="x.test", path="/b")
    response.delete_cookie("__Host-a")
    response.delete_cookie("c", partitioned=True)
    first, second, deleted, partitioned = response.headers.get_all("set-cookie")
    assert ("__Host-a=1; Path=/; Secure", "__Secure-b=1; Path=/b; Domain=x.test; Secure") == (first, second)
    assert deleted.startswith("__Host-a=; Path=/; Expires=") and deleted.endswith("; Max-Age=0; Secure")
    assert partitioned.endswith("; Secure; Partitioned")


def test_work_for_later_can_be_given_and_makes_no_leak():
    class Work:
        def __call__(self) -> None:
            pass

    work = Work()
    assert work is Response("x", background=work).background is json({}, background=work).background
    response = Response("x")
    response.background = work
    work.response = response  # a ring
    seen = weakref.ref(work)
    del work, response
    gc.collect()
    assert seen() is None
