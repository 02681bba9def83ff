"""The closing line of `make test` tells the truth, also about runners that break before they count."""

from __future__ import annotations

import pytest
from run_tests import CARGO_RESULT, Totals, counted

REPORT = """<?xml version="1.0"?><testsuites>
<testsuite name="pytest" tests="10" failures="2" errors="1" skipped="3"/></testsuites>"""


@pytest.mark.parametrize(
    ("totals", "line"),
    [(Totals(3, 0), "3 passed, 0 failed"), (Totals(3, 1, 2), "3 passed, 1 failed, 2 skipped")],
)
def test_the_closing_line(totals, line):
    assert line == str(totals)


def test_cargos_result_lines_are_added_up():
    output = (
        "test result: ok. 4 passed; 0 failed; 1 ignored; x\n\ntest result: FAILED. 2 passed; 3 failed; 0 ignored; x\n"
    )
    found = [Totals(*map(int, counts)) for counts in CARGO_RESULT.findall(output)]
    assert Totals(6, 3, 1) == sum(found, Totals())


def test_errors_of_fixtures_count_as_failures(tmp_path):
    path = tmp_path / "report.xml"
    path.write_text(REPORT)
    assert Totals(4, 3, 3) == counted(path)


@pytest.mark.parametrize(
    ("totals", "status", "failed"),
    [(Totals(5, 0), 0, 0), (Totals(5, 0), 101, 1), (Totals(5, 2), 1, 2), (Totals(), 2, 1)],
)
def test_a_runner_that_breaks_without_a_failed_test_is_one_failure(totals, status, failed):
    assert failed == totals.broken(status).failed
