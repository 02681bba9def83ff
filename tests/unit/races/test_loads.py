"""What the generators say, read back: wrk's histogram made true again, tarmac-load's report."""

import json
import random

import pytest
from races.course import Course
from races.errors import LabError
from races.loads import own, wrk


def corrected(raw: dict[int, int], expected: int) -> dict[int, int]:
    """What wrk's stats_correct() does, step by step, to the histogram it measured."""
    data = dict(raw)
    for value in range(2 * expected, max(raw) + 1):
        count, at = data.get(value, 0), value - expected
        while count and at > expected:
            data[at] = data.get(at, 0) + count
            at -= expected
    return data


@pytest.mark.parametrize("seed", range(5))
def test_wrks_guess_is_undone(seed: int) -> None:
    """The true histogram comes back out of the one that wrk shows."""
    chooser = random.Random(seed)
    raw = {chooser.randrange(1, 4000): chooser.randrange(1, 50) for _ in range(200)}
    shown = corrected(raw, 100)
    assert shown != raw
    assert raw == wrk.uncorrected(shown, 100)


def test_percentiles_are_counted_from_below() -> None:
    found = wrk.percentiles({10: 50, 20: 40, 30: 9, 40: 1})
    assert {"p50": 10.0, "p90": 20.0, "p99": 30.0, "p99.9": 40.0, "max": 40.0} == found
    assert {} == wrk.percentiles({})


def test_wrks_line_is_read() -> None:
    told = {
        "requests": 1000, "duration": 2_000_000, "wrong": 3, "connect": 1, "read": 0, "write": 0, "timeout": 2,
        "histogram": [[100, 900], [200, 100]],
    }  # fmt: skip
    output = f"Running 2s test\n{wrk.MARK}{json.dumps(told)}\nRequests/sec: 500\n"
    measured = wrk.measurement_from(output, ["wrk"], 0.5, 10)
    assert (997, 3, 3, 2.0, 498.5) == (measured.good, measured.wrong, measured.errors, measured.seconds, measured.rate)
    assert wrk.MARK not in measured.output
    assert not measured.waits_for_all


REPORT = {
    "ok": 990, "wrong": {"status": 1, "body": 2}, "errors": {"timeout": 4, "reset": 0}, "seconds": 2.0,
    "latency_ns": {"p50": 1000, "p90": 2000, "p99": 3000, "p99_9": 4000, "max": 5000, "histogram": [[1, 2]]},
    "warmup": {"ok": 0, "wrong": {}, "errors": {}}, "drain": {"ok": 7, "wrong": {"body": 1}, "errors": {}},
}  # fmt: skip


def test_tarmac_loads_report_is_read() -> None:
    """Answers after the end count as work done, not as speed; latencies become microseconds."""
    measured = own.measurement_from(json.dumps(REPORT), ["tarmac-load"], 0.1)
    assert (990, 4, 4, 7) == (measured.good, measured.wrong, measured.errors, measured.good_outside)
    assert {"p50": 1.0, "p90": 2.0, "p99": 3.0, "p99.9": 4.0, "max": 5.0} == measured.latency
    assert "histogram" not in measured.output


@pytest.mark.parametrize("text", ["", "oops", "Running 2s test"])
def test_a_generator_that_rambles_is_an_error(text: str) -> None:
    with pytest.raises(LabError, match="said nothing"):
        own.measurement_from(text, ["tarmac-load"], 0.1)
    with pytest.raises(LabError, match="said nothing"):
        wrk.measurement_from(text, ["wrk"], 0.1, 10)


def test_flows_are_refused_where_they_cannot_run() -> None:
    flow = Course("vote", "Vote", "", "/", scenario="vote.json")
    deep = Course("vote", "Vote", "", "/", scenario="vote.json", depth=4)
    page = Course("good", "Good", "", "/good", depth=24)
    ours, theirs = own.OwnGenerator("tarmac-load", "1"), wrk.WrkGenerator("wrk", "1")
    assert [None, "a flow cannot be pipelined", None] == [ours.refuses(course) for course in (flow, deep, page)]
    assert ["wrk cannot run a flow", None] == [theirs.refuses(course) for course in (flow, page)]
