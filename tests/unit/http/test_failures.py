"""Which handler answers for which exception."""

from __future__ import annotations

import asyncio
import logging

import pytest
from tarmac import BadRequest, ConfigurationError, HTTPError, NotFound
from tarmac.errors import Unauthorized
from tarmac.http.failures import Failures


class Request:
    method, path = "GET", "/x"


REQUEST = Request()


def answered(failures: Failures, error: BaseException):
    return failures.answer(REQUEST, error)  # type: ignore[arg-type]


def test_an_http_error_is_its_own_answer():
    answer = answered(Failures(), Unauthorized("who?", headers={"WWW-Authenticate": "Basic"}))
    assert (401, b"who?", [("WWW-Authenticate", "Basic")]) == (
        answer.status,
        answer.body,
        answer.headers.multi_items()[1:],
    )


def test_without_a_detail_the_reason_phrase_is_the_body():
    assert answered(Failures(), HTTPError(404)).body == b"Not Found"


def test_a_defect_is_logged_and_says_nothing_to_the_client(caplog):
    answer = answered(Failures(), ZeroDivisionError("secret"))
    assert (500, b"Internal Server Error") == (answer.status, answer.body)
    (record,) = caplog.records
    assert (logging.ERROR, "GET /x failed") == (record.levelno, record.getMessage())
    assert record.exc_info[0] is ZeroDivisionError


def test_the_most_derived_handler_wins():
    failures = Failures()
    failures.add(LookupError, lambda request, error: "lookup")
    failures.add(KeyError, lambda request, error: "key")
    failures.add(500, lambda request, error: "status")
    assert ["key", "lookup", "status"] == [answered(failures, error()) for error in (KeyError, IndexError, OSError)]


def test_a_class_wins_over_a_status_and_both_over_the_default():
    failures = Failures()
    failures.add(404, lambda request, error: f"status {error.status}")
    assert answered(failures, NotFound()) == "status 404"
    failures.add(NotFound, lambda request, error: "class")
    assert answered(failures, NotFound()) == "class"
    assert answered(failures, HTTPError(404)) == "status 404"


def test_a_handler_for_exception_is_for_defects_only():
    failures = Failures()
    failures.add(Exception, lambda request, error: "defect")
    assert answered(failures, BadRequest("x")).status == 400
    assert answered(failures, ValueError()) == "defect"


def test_a_handler_that_fails_is_answered_with_500(caplog):
    failures = Failures()
    failures.add(ValueError, lambda request, error: 1 / 0)
    assert answered(failures, ValueError()).status == 500
    assert caplog.records[0].exc_info[0] is ZeroDivisionError


def test_an_asynchronous_handler_gives_a_coroutine_that_never_fails(caplog):
    failures = Failures()

    async def handler(request, error):
        raise OSError

    failures.add(ValueError, handler)
    assert asyncio.run(answered(failures, ValueError())).status == 500
    assert caplog.records[0].exc_info[0] is OSError


@pytest.mark.parametrize("error", [asyncio.CancelledError(), KeyboardInterrupt(), SystemExit()])
def test_what_ends_a_program_is_answered_with_503_and_not_logged(error, caplog):
    assert answered(Failures(), error).status == 503
    assert not caplog.records


def test_only_statuses_and_exception_classes_have_handlers():
    with pytest.raises(ConfigurationError, match="not 'x'"):
        Failures().add("x", lambda request, error: "")  # type: ignore[arg-type]


@pytest.mark.parametrize("status", [200, 399, 600])
def test_an_http_error_is_an_error(status):
    with pytest.raises(ValueError, match=str(status)):
        HTTPError(status)


def test_a_handler_that_raises_what_it_was_given_declines():
    failures = Failures()

    def decline(request, error):
        raise error

    failures.add(KeyError, decline)
    failures.add(LookupError, lambda request, error: "lookup")
    assert "lookup" == answered(failures, KeyError("x"))
    failures.add(LookupError, decline)
    assert 500 == answered(failures, KeyError("x")).status
    failures.add(500, lambda request, error: "status")
    assert "status" == answered(failures, KeyError("x"))


def test_an_asynchronous_handler_may_decline_too():
    failures = Failures()

    async def decline(request, error):
        await asyncio.sleep(0)
        raise error

    async def answer(request, error):
        return "lookup"

    failures.add(KeyError, decline)
    failures.add(LookupError, answer)
    assert "lookup" == asyncio.run(answered(failures, KeyError("x")))
    failures.add(LookupError, lambda request, error: "plain")
    assert "plain" == asyncio.run(answered(failures, KeyError("x")))


def test_a_traceback_is_shown_only_for_debugging():
    failures = Failures()
    assert b"Internal Server Error" == answered(failures, ZeroDivisionError("why")).body
    failures.debug = True
    assert b"ZeroDivisionError: why" in answered(failures, ZeroDivisionError("why")).body
    assert b"Not Found" == answered(failures, NotFound()).body
