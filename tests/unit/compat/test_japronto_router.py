"""The compiled matcher of Japronto's routes agrees with their plain meaning, on generated routes and paths."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tarmac.compat.japronto.router import Route, Router, parse

METHODS = ("GET", "POST", "DELETE", "GE", "T")
# Few letters, so that generated paths meet generated patterns; among them what regular expressions mean otherwise.
TEXT = st.text(alphabet="ab.|{é\n ", max_size=3)


def plainly(routes: list[Route], method: str, path: str) -> tuple[Route, dict[str, str]] | None:
    """Try each route in turn, segment by segment: what a pattern means, without any cleverness."""
    for route in routes:
        if (not route.methods or method in route.methods) and (values := fits(route, path)) is not None:
            return route, values
    return None


def fits(route: Route, rest: str) -> dict[str, str] | None:
    values = {}
    for kind, text in route.segments:
        if kind == "exact":
            if not rest.startswith(text):
                return None
            rest = rest[len(text) :]
        else:
            value, slash, after = rest.partition("/")
            if not value:
                return None
            values[text] = value
            rest = slash + after
    return None if rest else values


@st.composite
def patterns(draw: st.DrawFn) -> str:
    """A pattern as a program may write it; a placeholder may follow text without a slash."""
    parts = []
    for number in range(draw(st.integers(1, 4))):
        text = draw(TEXT).replace("{", "{{")
        parts.append(f"{text}{{p{number}}}" if draw(st.booleans()) else text)
    return "/" + "/".join(parts)


PATHS = st.lists(TEXT, min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))
TABLES = st.lists(st.tuples(patterns(), st.sets(st.sampled_from(METHODS), max_size=2)), max_size=6)


def handler(request):
    """Answer nothing: here only the way to a handler is looked at."""


@given(table=TABLES, paths=st.lists(PATHS, min_size=1, max_size=8), method=st.sampled_from(METHODS))
@example(table=[("/{a}", set()), ("/x", set())], paths=["/x"], method="GET")
@example(table=[("/x", {"POST"}), ("/{a}", {"GET"}), ("/x", set())], paths=["/x"], method="GET")
@example(table=[("/a{x}", set())], paths=["/a", "/ab", "/a/b"], method="GET")
@example(table=[("/x", {"GET"})], paths=["/x"], method="T")
def test_compiled_and_plain_matching_agree(table, paths, method):
    router = Router()
    for pattern, methods in table:
        router.add_route(pattern, handler, methods=methods)
    matcher = router.matcher()
    fixed = [route.pattern.replace("{{", "{") for route in router.routes if not route.names]
    for path in [*paths, *fixed]:
        assert plainly(router.routes, method, path) == matcher.find(method, path), path


@pytest.mark.parametrize(
    ("pattern", "segments"),
    [
        ("/", [("exact", "/")]),
        ("/a/b", [("exact", "/a/b")]),
        ("/{x}", [("exact", "/"), ("placeholder", "x")]),
        ("/{x}/y/{z}", [("exact", "/"), ("placeholder", "x"), ("exact", "/y/"), ("placeholder", "z")]),
        ("/a{x}/", [("exact", "/a"), ("placeholder", "x"), ("exact", "/")]),
        ("/{{x}}", [("exact", "/{x}")]),
        ("/{{{x}", [("exact", "/{"), ("placeholder", "x")]),
    ],
)
def test_a_pattern_is_taken_apart(pattern, segments):
    assert segments == parse(pattern)


@pytest.mark.parametrize("pattern", ["/{", "/}", "/{x}y", "/{x", "/{x}/{x}", "/{}", "/{a{b}"])
def test_a_pattern_that_means_nothing_is_refused(pattern):
    with pytest.raises(ValueError, match="placeholder"):
        parse(pattern)


def test_methods_are_named_once_in_any_case_and_any_way():
    router = Router()
    one = router.add_route("/", handler, "get")
    also = router.add_route("/", handler, methods="get")
    several = router.add_route("/", handler, methods=["get", "POST"])
    assert {"GET"} == one.methods == also.methods
    assert {"GET", "POST"} == several.methods
    assert "/ GET POST" == several.describe()
    with pytest.raises(ValueError, match="not both"):
        router.add_route("/", handler, method="GET", methods=["POST"])
