"""The page of an OpenAPI document as people meet it: read it, filter it, send a request from it."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.site import need

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.process import Process

pytestmark = [pytest.mark.live, pytest.mark.browser]

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    need("playwright")
    if CHROMIUM is None:
        pytest.skip("no chromium here: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


# Tells what it was asked with; every way in which OpenAPI sends a key.
ECHO = """
from dataclasses import dataclass
from tarmac import App
from tarmac.openapi import describe

app = App()

@dataclass
class Asked:
    word: str = ""
    empty: str = ""

@app.get("/echo/{name}/{rest:path}")
@describe(headers={"X-Extra": str}, security=["header", "query", "token"], deprecated=True)
def echo(request, name, rest, query: Asked):
    wanted = ("x-key", "x-extra", "authorization")
    return {"name": name, "rest": rest, "query": request.query, **{one: request.header(one) for one in wanted}}

app.openapi(title="Echo <b>", version="<i>", description="<script>document.title = 'spoilt'</script>", security={
    "header": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "query": {"type": "apiKey", "in": "query", "name": "key"},
    "token": {"type": "http", "scheme": "bearer"},
})
"""


@pytest.fixture
def open_docs(run_process: Callable[..., Process], browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Give `open_docs(fragment, **context)` for examples/todo.py; complaints and foreign requests fail the test.

    With `echo=True` it is the page of the program above.
    """
    complaints: list[str] = []
    contexts = []

    bases: list[str] = []
    (tmp_path / "echo.py").write_text(ECHO)

    def serve(name: str, folder: Path) -> str:
        command = (sys.executable, "-m", "tarmac", "run", f"{name}:app", "--app-dir", folder, "--port", "0")
        found: str = run_process(*command).wait_for_line(r"^listening on (http://\S+)$")[1]
        return found

    def note(complaint: str) -> None:
        if "422" not in complaint:  # which the browser itself writes down
            complaints.append(complaint)

    def start(fragment: str = "", *, echo: bool = False, **options: Any) -> Any:
        base = serve("echo", tmp_path) if echo else serve("todo", EXAMPLES)
        bases.append(base)
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: note(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda asked: asked.url.startswith((*bases, "data:")) or complaints.append(asked.url))
        page.goto(f"{base}/docs{fragment}")
        page.wait_for_selector("details.operation")
        return page

    yield start
    for context in contexts:
        context.close()
    assert [] == complaints


def test_every_operation_is_shown_under_its_tag(open_docs):
    page = open_docs()
    assert "Todos" == page.inner_text("h1") == page.title()
    assert ["todos"] == page.locator("main h2").all_inner_texts()
    assert 5 == page.locator("main details").count()
    assert "5 of 5 operations" == page.inner_text("#count")


def test_the_filter_leaves_what_has_the_words(open_docs):
    page = open_docs()
    page.get_by_label("Filter").fill("delete TODO")
    assert "1 of 5 operations" == page.inner_text("#count")
    assert ["delete"] == [box.get_attribute("id") for box in page.locator("main details:not([hidden])").all()]


def test_a_request_is_sent_from_the_page(open_docs):
    page = open_docs("#create")
    page.get_by_label("Body, application/json").fill('{"text": "by hand <b>"}')
    page.get_by_role("button", name="Send").click()
    page.wait_for_selector("#create .result pre")
    result = page.inner_text("#create .result")
    assert re.match(r"POST /todos: 201 Created", result)
    assert '"text": "by hand <b>"' in result
    page.locator("#one > summary").click()
    page.locator("#one").get_by_label("number").fill("1")
    page.locator("#one").get_by_role("button", name="Send").click()
    page.wait_for_selector("#one .result pre")
    assert "GET /todos/1: 200 OK" in page.inner_text("#one .result")


def test_what_does_not_fit_is_shown_too(open_docs):
    page = open_docs("#create")
    page.get_by_label("Body, application/json").fill('{"text": 7}')
    with page.expect_response("**/todos") as answered:
        page.get_by_role("button", name="Send").click()
    assert 422 == answered.value.status


def test_parameters_and_keys_are_sent_where_they_belong(open_docs):
    page = open_docs("#echo", echo=True)
    for name, key in {"header (X-Key in header)": "in a header", "query (key in query)": "in the query"}.items():
        page.get_by_label(name).fill(key)
    page.get_by_label("token (bearer)").fill("abc")
    operation = page.locator("#echo")
    for name, value in {"name": "a b/c", "rest": "d", "word": "é&=", "X-Extra": "more"}.items():
        operation.get_by_label(name, exact=True).fill(value)
    operation.get_by_role("button", name="Send").click()
    page.wait_for_selector("#echo .result pre")
    answer = page.locator("#echo .result pre").nth(1).inner_text()
    assert {
        "name": "a b/c",
        "rest": "d",
        "query": {"word": "é&=", "key": "in the query"},
        "x-key": "in a header",
        "x-extra": "more",
        "authorization": "Bearer abc",
    } == json.loads(answer)
    assert "deprecated" in operation.locator("summary").inner_text()


def test_text_of_the_document_is_text_and_no_markup(open_docs):
    page = open_docs(echo=True)
    assert ("Echo <b>", "Echo <b>") == (page.title(), page.inner_text("h1"))
    assert "Version <i>" in page.inner_text("header")
    assert "<script>" in page.inner_text("#description")


def test_it_can_be_used_without_a_mouse_and_every_field_has_a_label(open_docs):
    page = open_docs()
    page.keyboard.press("Tab")
    assert "Skip to the operations" == page.evaluate("document.activeElement.textContent")
    page.locator("#create > summary").focus()
    page.keyboard.press("Enter")
    assert page.locator("#create[open]").count() == 1
    unlabelled = "[...document.querySelectorAll('input, textarea')].filter((one) => !one.labels.length).length"
    assert 0 == page.evaluate(unlabelled)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_its_colours_follow_the_readers_and_can_be_read(open_docs, scheme):
    page = open_docs("#change", color_scheme=scheme)
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 27)"
    assert (scheme == "dark") == dark
    assert 4.5 <= min(page.evaluate(CONTRASTS))


def test_a_narrow_window_needs_no_scrolling_sideways(open_docs):
    page = open_docs("#change", viewport={"width": 320, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


# The contrast of every text with what is behind it (WCAG 2.2, success criterion 1.4.3).
CONTRASTS = """
(() => {
  const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = (value) => { const x = value / 255; return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; };
  const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  const behind = (element) => {
    const color = numbers(getComputedStyle(element).backgroundColor);
    return (color[3] === 0 && element.parentElement) ? behind(element.parentElement) : color;
  };
  const speaks = (one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  return [...document.querySelectorAll("body *")].filter((one) => one.checkVisibility() && speaks(one))
    .map((one) => [luminance(numbers(getComputedStyle(one).color)), luminance(behind(one))])
    .map(([a, b]) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
})()
"""
