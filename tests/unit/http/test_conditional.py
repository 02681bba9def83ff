"""Validators of an answer, and the conditions that requests make of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from tarmac import Response, stream
from tarmac.http.conditional import Validators, conditional, http_date, parse_http_date

NOW = 784111777  # Sun, 06 Nov 1994 08:49:37 GMT
DATE = "Sun, 06 Nov 1994 08:49:37 GMT"
EARLIER = "Sun, 06 Nov 1994 08:49:36 GMT"
LATER = "Sun, 06 Nov 1994 08:49:38 GMT"


class Headers(dict[str, str]):
    def get_all(self, name: str) -> list[str]:
        return [value for key, value in self.items() if key.rstrip("*") == name]


class Asking:
    """A request as far as conditions go; `if-match*` is a second line of the same field."""

    def __init__(self, method: str = "GET", **headers: str) -> None:
        self.method = method
        self.headers = Headers({name.replace("_", "-"): value for name, value in headers.items()})

    def header(self, name: str) -> str | None:
        return self.headers.get(name)


STRONG = Validators('"a"', NOW)
WEAK = Validators('W/"a"', NOW)
UNKNOWN = Validators()


@pytest.mark.parametrize(
    ("version", "request_", "status"),
    [
        (STRONG, Asking(), None),
        (STRONG, Asking(if_none_match='"a"'), 304),
        (STRONG, Asking(if_none_match='W/"a"'), 304),
        (WEAK, Asking(if_none_match='"a"'), 304),
        (STRONG, Asking(if_none_match='"x", W/"y" ,"a"'), 304),
        (STRONG, Asking(if_none_match="*"), 304),
        (STRONG, Asking(if_none_match='"b"'), None),
        (STRONG, Asking(if_none_match='"A"'), None),
        (STRONG, Asking(if_none_match="a"), None),
        (STRONG, Asking(if_none_match='"x,"a"'), None),
        (STRONG, Asking("HEAD", if_none_match='"a"'), 304),
        (STRONG, Asking("PUT", if_none_match='"a"'), 412),
        (STRONG, Asking("PUT", if_none_match="*"), 412),
        (STRONG, Asking("PUT", if_none_match='"b"'), None),
        (STRONG, Asking(if_modified_since=DATE), 304),
        (STRONG, Asking(if_modified_since=LATER), 304),
        (STRONG, Asking(if_modified_since=EARLIER), None),
        (STRONG, Asking(if_modified_since="yesterday"), None),
        (STRONG, Asking("PUT", if_modified_since=DATE), None),
        (STRONG, Asking(if_none_match='"b"', if_modified_since=DATE), None),
        (STRONG, Asking(if_none_match='"a"', if_modified_since=EARLIER), 304),
        (UNKNOWN, Asking(if_modified_since=DATE, if_unmodified_since=EARLIER), None),
        (STRONG, Asking("PUT", if_match='"a"'), None),
        (STRONG, Asking("PUT", if_match='"b", "a"'), None),
        (STRONG, Asking("PUT", if_match="*"), None),
        (STRONG, Asking("PUT", if_match='"b"'), 412),
        (STRONG, Asking("PUT", if_match='W/"a"'), 412),
        (WEAK, Asking("PUT", if_match='"a"'), 412),
        (WEAK, Asking("PUT", if_match='W/"a"'), 412),
        (STRONG, Asking(if_match='"b"', if_none_match='"a"'), 412),
        (STRONG, Asking(if_match='"a"', if_none_match='"a"'), 304),
        (STRONG, Asking("PUT", if_unmodified_since=DATE), None),
        (STRONG, Asking("PUT", if_unmodified_since=EARLIER), 412),
        (STRONG, Asking("PUT", if_match='"a"', if_unmodified_since=EARLIER), None),
        (STRONG, Asking("PUT", if_unmodified_since="yesterday"), None),
    ],
)
def test_conditions_are_judged_in_the_order_of_the_rfc(version, request_, status):
    assert status == version.judge(request_)


def test_several_lines_of_a_condition_are_one_list():
    asking = Asking()
    asking.headers = Headers({"if-none-match": '"x"', "if-none-match*": '"a"'})
    assert 304 == STRONG.judge(asking)


@pytest.mark.parametrize(
    ("version", "value", "allows"),
    [
        (STRONG, None, True),
        (STRONG, '"a"', True),
        (STRONG, '"b"', False),
        (STRONG, 'W/"a"', False),
        (WEAK, '"a"', False),
        (WEAK, 'W/"a"', False),
        (STRONG, DATE, True),
        (STRONG, LATER, False),
        (STRONG, EARLIER, False),
        (WEAK, DATE, False),
        (UNKNOWN, DATE, False),
        (Validators(None, NOW), DATE, True),
        (STRONG, "nonsense", False),
    ],
)
def test_if_range_wants_this_very_version(version, value, allows):
    asking = Asking() if value is None else Asking(if_range=value)
    assert allows == version.allows_range(asking)


@pytest.mark.parametrize("text", [DATE, "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])
def test_dates_are_read_in_three_ways_and_written_in_one(text):
    assert NOW == parse_http_date(text)
    assert DATE == http_date(NOW + 0.9)


@pytest.mark.parametrize(
    "text",
    [None, "", "Sun, 06 Nov 1994 08:49:37", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Xxx 1994 08:49:37 GMT",
     "Sun, 06 Nov 1994 24:49:37 GMT", f" {DATE}", "06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 0000 08:49:37 GMT"],
)  # fmt: skip
def test_what_is_no_date_is_none(text):
    assert parse_http_date(text) is None


def test_years_of_two_digits_are_not_far_ahead():
    this = datetime.now(UTC).year
    for ahead, expected in [(50, this + 50), (51, this - 49), (-1, this - 1)]:
        day = f"Sunday, 06-Nov-{(this + ahead) % 100:02} 08:49:37 GMT"
        read = parse_http_date(day)
        assert read is not None
        assert expected == datetime.fromtimestamp(read, UTC).year


def test_a_leap_second_is_the_second_before():
    assert parse_http_date("Sat, 31 Dec 2016 23:59:60 GMT") == parse_http_date("Sat, 31 Dec 2016 23:59:59 GMT")


def test_an_answer_gets_its_version():
    response = conditional(Asking(), "x", etag="v1", last_modified=NOW)
    assert (200, b"x", '"v1"', DATE) == (
        response.status, response.body, response.headers["etag"], response.headers["last-modified"],
    )  # fmt: skip


def test_a_version_can_be_weak_and_its_time_a_datetime():
    time = datetime.fromtimestamp(NOW, timezone(timedelta(hours=5)))
    response = conditional(Asking(), "x", etag="v1", weak=True, last_modified=time)
    assert ('W/"v1"', DATE) == (response.headers["etag"], response.headers["last-modified"])


def test_an_answer_that_the_client_has_is_not_even_made():
    made = []
    response = conditional(Asking(if_none_match='"v1"'), lambda: made.append(1), etag="v1")
    assert (304, b"", '"v1"', []) == (response.status, response.body, response.headers["etag"], made)


def test_an_answer_that_the_client_lacks_is_made_once():
    assert b"x" == conditional(Asking(if_none_match='"v0"'), lambda: "x", etag="v1").body


def test_without_a_version_the_body_is_the_version():
    first = conditional(Asking(), {"a": 1})
    tag = first.headers["etag"]
    assert tag == conditional(Asking(), {"a": 1}).headers["etag"] != conditional(Asking(), {"a": 2}).headers["etag"]
    again = conditional(Asking(if_none_match=tag), {"a": 1})
    assert (304, b"", tag) == (again.status, again.body, again.headers["etag"])


def test_not_modified_repeats_what_caches_live_by():
    def ask(**headers: str) -> Response:
        return conditional(Asking(**headers), Response("x", headers={"Vary": "Cookie", "Cache-Control": "private"}))

    response = ask(if_none_match=ask().headers["etag"])
    assert (304, "Cookie", "private") == (response.status, response.headers["vary"], response.headers["cache-control"])
    assert "content-type" not in response.headers


@pytest.mark.parametrize("tag", ['a"b', "a b", "a\r\n", "a\x7f"])
def test_a_tag_that_would_end_early_is_refused(tag):
    with pytest.raises(ValueError, match="entity tag"):
        conditional(Asking(), "x", etag=tag)


def test_an_answer_in_pieces_needs_a_version():
    with pytest.raises(TypeError, match="give etag="):
        conditional(Asking(), stream(["x"]))
    response = conditional(Asking(), stream(["x"]), etag="v1")
    assert (200, '"v1"') == (response.status, response.headers["etag"])
