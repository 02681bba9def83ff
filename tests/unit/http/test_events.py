"""Server-sent events as bytes."""

from __future__ import annotations

import pytest
from tarmac.http.events import ServerSentEvent, sse


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (ServerSentEvent("hello"), "data: hello\n\n"),
        (ServerSentEvent(""), "data: \n\n"),
        (ServerSentEvent("a\nb\r\nc\rd"), "data: a\ndata: b\ndata: c\ndata: d\n\n"),
        (ServerSentEvent("a\n"), "data: a\ndata: \n\n"),
        (ServerSentEvent("a\u2028b\x0bc\x85d"), "data: a\u2028b\x0bc\x85d\n\n"),
        (ServerSentEvent("ä"), "data: ä\n\n"),
        (ServerSentEvent({"a": [1, "x\ny"]}), 'data: {"a":[1,"x\\ny"]}\n\n'),
        (ServerSentEvent(7), "data: 7\n\n"),
        (ServerSentEvent("x", event="vote", id="5", retry=1.5), "event: vote\nid: 5\nretry: 1500\ndata: x\n\n"),
        (ServerSentEvent(id=""), "id: \n\n"),
        (ServerSentEvent(retry=3), "retry: 3000\n\n"),
    ],
)
def test_events_are_lines(event, expected):
    assert expected.encode() == event.encode()


@pytest.mark.parametrize("value", ["a\nb", "a\rb", "a\r\ndata: forged", "a\0"])
@pytest.mark.parametrize("field", ["event", "id"])
def test_no_field_can_begin_another(field, value):
    with pytest.raises(ValueError, match=f"the {field} of an event is one line"):
        ServerSentEvent("x", **{field: value})


@pytest.mark.parametrize("retry", [-1, float("nan")])
def test_retry_is_a_number_of_seconds(retry):
    with pytest.raises(ValueError, match="number of seconds"):
        ServerSentEvent(retry=retry)


def test_events_come_from_an_asynchronous_iterator():
    with pytest.raises(TypeError, match="not from list"):
        sse(["a"])  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{"ping": 0}, {"ping": -1.0}, {"ping": float("nan")}, {"retry": -1}])
def test_seconds_are_told_at_once(options):
    async def events():
        yield "x"

    with pytest.raises(ValueError, match="number of seconds"):
        sse(events(), **options)
