"""Every flag from both sides of its limit."""

import pytest
from races.flags import (
    CEILING_LIMIT,
    FOREIGN_CPU_LIMIT,
    GENERATOR_BUSY_LIMIT,
    SHARED_CORE_LIMIT,
    STEAL_LIMIT,
    Answers,
    Finding,
    Flag,
    GeneratorUse,
    HostUse,
    Work,
    check_answers,
    check_generator,
    check_host,
    check_work,
)

ABOVE = 0.001


def names(findings: list[Finding]) -> list[Flag]:
    return [finding.flag for finding in findings]


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (Answers(good=1000, wrong=0, errors=0), []),
        (Answers(good=1000, wrong=0, errors=1), [Flag.ERRORS]),
        (Answers(good=1000, wrong=1, errors=0), [Flag.WRONG_ANSWERS]),
        (Answers(good=1000, wrong=1, errors=1), [Flag.ERRORS, Flag.WRONG_ANSWERS]),
        (Answers(good=0, wrong=0, errors=0), [Flag.ERRORS]),
    ],
)
def test_one_bad_answer_is_enough(answers: Answers, expected: list[Flag]) -> None:
    assert expected == names(check_answers(answers))


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        (GeneratorUse(GENERATOR_BUSY_LIMIT, 0.5, 1000, None), []),
        (GeneratorUse(GENERATOR_BUSY_LIMIT + ABOVE, 0.5, 1000, None), [Flag.GEN_SATURATED]),
        (GeneratorUse(0.5, SHARED_CORE_LIMIT, 1000, None), []),
        (GeneratorUse(0.5, SHARED_CORE_LIMIT + ABOVE, 1000, None), [Flag.GEN_SATURATED]),
        (GeneratorUse(0.5, 0.5, CEILING_LIMIT * 1000, 1000), []),
        (GeneratorUse(0.5, 0.5, CEILING_LIMIT * 1000 + 1, 1000), [Flag.GEN_SATURATED]),
    ],
)
def test_the_generator_must_not_set_the_pace(use: GeneratorUse, expected: list[Flag]) -> None:
    assert expected == names(check_generator(use))


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        (HostUse(FOREIGN_CPU_LIMIT, 0), []),
        (HostUse(FOREIGN_CPU_LIMIT + ABOVE, 0), [Flag.HOST_NOISY]),
        (HostUse(0, STEAL_LIMIT), []),
        (HostUse(0, STEAL_LIMIT + ABOVE), [Flag.HOST_NOISY]),
    ],
)
def test_a_busy_neighbour_is_noticed(use: HostUse, expected: list[Flag]) -> None:
    assert expected == names(check_host(use))


@pytest.mark.parametrize(
    ("counted", "expected"),
    [
        (3000, []),
        (2999, [Flag.WORK_MISMATCH]),  # an answer without its work: something was cached
        (3030, []),  # ten requests were under way
        (3035, []),  # and the site's timers asked five times
        (3036, [Flag.WORK_MISMATCH]),
    ],
)
def test_the_store_must_have_done_the_work(counted: int, expected: list[Flag]) -> None:
    """Three operations for each of 1,000 answers, ten requests unfinished, five of the background."""
    work = Work({"select": 3}, {"select": counted}, good=1000, unfinished=10, uneven=0, background=5)
    assert expected == names(check_work(work))


@pytest.mark.parametrize(
    ("counted", "expected"), [(480, []), (479, [Flag.WORK_MISMATCH]), (520, []), (521, [Flag.WORK_MISMATCH])]
)
def test_a_flow_may_end_between_its_steps(counted: int, expected: list[Flag]) -> None:
    """Half an operation a request, forty requests off the even mix."""
    work = Work({"insert": 0.5}, {"insert": counted}, good=1000, unfinished=0, uneven=40, background=0)
    assert expected == names(check_work(work))


def test_an_operation_that_never_happened_is_missed() -> None:
    work = Work({"call": 1, "insert": 2}, {"call": 10}, good=10, unfinished=0, uneven=0, background=0)
    findings = check_work(work)
    assert [Flag.WORK_MISMATCH] == names(findings)
    assert findings[0].why == "insert: 0 counted, 20 owed"
