"""The programs of the pages about middleware and about tests do what the pages say."""

from __future__ import annotations

import re
import sys

import pytest
from support import pages

pytestmark = pytest.mark.live

AROUND = "docs/how-to/surround-handlers.md"
TESTS = "docs/how-to/test-your-application.md"


def test_the_program_with_middleware_of_its_own(serve):
    service = serve(AROUND, 0)
    assert (200, "home") == service.ask("/")
    assert (401, "say x-key") == service.ask("/api/number")
    assert (200, '{"number":7}') == service.send("GET", "/api/number", **{"X-Key": "secret"})
    assert (404, "nothing at /none") == service.ask("/none")
    assert (202, "on its way") == service.send("POST", "/letters", b"dear reader")
    assert (200, "done in a thread") == service.ask("/slow")
    assert (200, '["dear reader"]') == service.ask("/letters")


def test_the_program_with_middleware_that_is_there(serve):
    service = serve(AROUND, 1)
    status, page = service.ask("/")
    assert (200, True) == (status, page.startswith("<p>Visit 1</p>"))
    assert 403 == service.send("POST", "/", b"")[0]
    assert 403 == service.ask("/", csrf_token="made up")[0]
    assert 404 == service.ask("/none")[0]


def test_the_tests_of_the_page_about_tests(run_process, tmp_path):
    (tmp_path / "shop.py").write_text(pages.program(TESTS, 0))
    (tmp_path / "test_shop.py").write_text(pages.program(TESTS, 1))
    process = run_process(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tmp_path, cwd=tmp_path)
    assert 0 == process.wait(), process.output
    assert re.search("5 passed", process.output)
