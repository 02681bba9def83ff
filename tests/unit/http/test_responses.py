"""Answers by name."""

from __future__ import annotations

import json

import pytest
from tarmac import Response, html, redirect, text
from tarmac import json as json_response
from tarmac.http.responses import as_response


def test_json_is_compact_utf8():
    response = json_response({"a": [1, None, "ä"]}, status=201)
    assert (201, "application/json", '{"a":[1,null,"ä"]}'.encode()) == (
        response.status,
        response.content_type,
        response.body,
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_json_has_no_infinities(value):
    with pytest.raises(ValueError, match="JSON compliant"):
        json_response(value)


def test_html_and_text_say_utf8():
    assert html("<p>").content_type == "text/html; charset=utf-8"
    assert text("x").content_type == "text/plain; charset=utf-8"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_carry_a_location(status):
    response = redirect("/next?a=1", status=status)
    assert (status, [("Location", "/next?a=1")]) == (response.status, response.headers.multi_items())


def test_a_location_is_encoded_for_a_header():
    assert [("Location", "/caf%C3%A9%20x?a=%20")] == redirect("/café x?a=%20").headers.multi_items()


@pytest.mark.parametrize("location", ["/\r\nSet-Cookie: a=b", "/\n"])
def test_a_location_cannot_smuggle_headers(location):
    with pytest.raises(ValueError, match="line break"):
        redirect(location)


def test_a_redirect_has_a_status_of_redirects():
    with pytest.raises(ValueError, match="200 is not a redirect"):
        redirect("/", status=200)


@pytest.mark.parametrize("headers", [{"X": "a\r\nb"}, {"X": "a\nb"}, {"X": "a\0"}, {"X\r\n": "a"}, {"": "a"}])
def test_headers_with_line_breaks_are_refused(headers):
    with pytest.raises(ValueError, match=r".+"):
        Response("x", headers=headers)


@pytest.mark.parametrize("name", ["Content-Length", "transfer-encoding", "Connection"])
def test_framing_belongs_to_the_server(name):
    with pytest.raises(ValueError, match=r".+"):
        Response("x", headers={name: "1"})


def test_a_cookie_has_every_attribute():
    response = Response("x")
    response.set_cookie(
        "id", "1", max_age=60, domain="x.test", secure=True, http_only=True, same_site="lax", partitioned=True
    )
    parts = response.headers["set-cookie"].lower().split("; ")
    assert parts[0] == "id=1"
    assert {"max-age=60", "path=/", "domain=x.test", "secure", "httponly", "samesite=lax", "partitioned"} == set(
        parts[1:]
    )


@pytest.mark.parametrize(("name", "value"), [("a b", "1"), ("a", "1;x"), ("a", "1\r\n"), ("", "1")])
def test_a_cookie_that_would_be_read_otherwise_is_refused(name, value):
    with pytest.raises(ValueError, match=r".+"):
        Response("x").set_cookie(name, value)


def test_a_response_can_be_subclassed():
    class Teapot(Response):
        pass

    assert Teapot("short and stout", status=418).status == 418


@pytest.mark.parametrize(
    ("result", "status", "content_type", "body"),
    [
        ("x", 200, "text/plain; charset=utf-8", b"x"),
        (b"x", 200, "application/octet-stream", b"x"),
        ({"a": 1}, 200, "application/json", b'{"a":1}'),
        ([1], 200, "application/json", b"[1]"),
        (("x", 202), 202, "text/plain; charset=utf-8", b"x"),
        (({"a": 1}, 404), 404, "application/json", b'{"a":1}'),
        (None, 204, None, b""),
    ],
)
def test_results_become_responses(result, status, content_type, body):
    response = as_response(result)
    assert (status, content_type, body) == (response.status, response.content_type, response.body)


def test_a_response_stays_itself():
    response = Response("x")
    assert response is as_response(response)


def test_json_response_is_json():
    value = {"a": '\u2028</script>"\\', "b": 1.5, "c": True}
    assert value == json.loads(json_response(value).body)
