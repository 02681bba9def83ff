"""The site as people meet it: a real browser votes, reloads, goes back, turns dark, gets narrow."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from support.site import SiteProcess, fill, need

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [pytest.mark.live, pytest.mark.browser]

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PHONE = {"width": 360, "height": 740}

# Collects every layout shift; `hadRecentInput` ones count too, nothing here may jump.
WATCH_SHIFTS = """
window.shifts = 0;
new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.shifts += entry.value; })
  .observe({type: "layout-shift", buffered: true});
"""

PAINTED = "new Promise((done) => new PerformanceObserver(() => done()).observe({type: 'paint', buffered: true}))"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    folder = tmp_path_factory.mktemp("site")
    fill(folder, 300)
    with SiteProcess("aiohttp", folder) as running:
        yield running


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


@pytest.fixture
def open_page(site: SiteProcess, browser: Any) -> Iterator[Callable[..., Any]]:
    """Give `open_page(path, **context)`; complaints on the console and requests elsewhere fail the test."""
    complaints: list[str] = []
    contexts = []
    base = f"http://127.0.0.1:{site.port}"

    def note_request(request: Any) -> None:
        if not request.url.startswith(base):
            complaints.append(f"request to {request.url}")

    def open_one(path: str = "/", **options: Any) -> Any:
        context = browser.new_context(base_url=base, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", note_request)
        page.add_init_script(WATCH_SHIFTS)
        page.goto(path)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert [] == complaints


def shown(page: Any) -> list[str]:
    return [image.get_attribute("src") for image in page.locator(".choice img").all()]


def rating(page: Any, picture: str) -> int:
    """Ask the API, in a request of the browser's own."""
    pack, number = re.findall(r"/img/([^/]+)/(\d+)\.", picture)[0]
    answer = page.context.request.get(f"/stickers/{pack}/{number}")
    return int(json.loads(answer.text())["rating"])


def test_a_click_votes_and_the_ratings_move(open_page: Any) -> None:
    """The chosen one gains, the other one loses, and a new pair is shown."""
    page = open_page()
    left, right = shown(page)
    before = rating(page, left), rating(page, right)
    with page.expect_navigation():
        page.locator(".choice.right button").click()
    assert (before[0] - 1, before[1] + 1) == (rating(page, left), rating(page, right))
    assert [left, right] != shown(page)
    page.goto("/good")
    assert right in [image.get_attribute("src") for image in page.locator(".wall img").all()]


@pytest.mark.parametrize(("key", "side"), [("ArrowLeft", 0), ("ArrowRight", 1)])
def test_arrow_keys_vote(open_page: Any, key: str, side: int) -> None:
    """For those who judge quickly."""
    page = open_page()
    pair = shown(page)
    before = rating(page, pair[side])
    with page.expect_navigation():
        page.keyboard.press(key)
    assert before + 1 == rating(page, pair[side])


def test_a_key_with_a_modifier_does_not_vote(open_page: Any) -> None:
    """Alt and the left arrow go back in the history; they are no opinion."""
    page = open_page("/about")
    page.goto("/")
    pair = shown(page)
    before = [rating(page, one) for one in pair]
    page.keyboard.press("Alt+ArrowLeft")
    page.keyboard.press("Control+ArrowRight")
    assert before == [rating(page, one) for one in pair]


def test_it_works_without_javascript(open_page: Any) -> None:
    """Buttons are enough."""
    page = open_page(java_script_enabled=False)
    left, _ = shown(page)
    before = rating(page, left)
    with page.expect_navigation():
        page.locator(".choice.left button").click()
    assert before + 1 == rating(page, left)
    assert 2 == len(shown(page))


def test_reload_shows_a_new_pair_and_votes_nothing(open_page: Any) -> None:
    """After a vote, reloading is harmless: the vote was a redirect."""
    page = open_page()
    left, _ = shown(page)
    with page.expect_navigation():
        page.locator(".choice.left button").click()
    after = rating(page, left)
    page.reload()
    assert after == rating(page, left)
    assert 2 == len(shown(page))


def test_the_back_button_draws_a_fresh_pair(open_page: Any) -> None:
    """A spent pair is not shown again, so the next vote counts."""
    page = open_page("/about")
    page.goto("/")
    spent = page.locator("input[name=winner]").first.get_attribute("value")
    with page.expect_navigation():
        page.locator(".choice.left button").click()
    page.go_back()
    if page.url.endswith("/about"):
        page.go_forward()
    assert spent != page.locator("input[name=winner]").first.get_attribute("value")
    pair = shown(page)
    before = rating(page, pair[0])
    with page.expect_navigation():
        page.locator(".choice.left button").click()
    assert page.url.endswith("/")
    assert before + 1 == rating(page, pair[0])


@pytest.mark.parametrize("path", ["/", "/good", "/bad", "/ugliest", "/about"])
@pytest.mark.parametrize("viewport", [PHONE, {"width": 1280, "height": 860}])
def test_nothing_jumps_and_nothing_sticks_out(open_page: Any, path: str, viewport: dict[str, int]) -> None:
    """No layout shift, no sideways scrolling, on a phone as on a desk."""
    page = open_page("/ugly", viewport=viewport)
    held: list[Any] = []
    page.route("**/img/**", lambda route: held.append(route))  # noqa: PLW0108 - playwright marks its handlers
    page.goto(path, wait_until="domcontentloaded")
    # The pictures come only after the page was painted without them.
    page.evaluate(PAINTED)
    for picture in held:
        picture.continue_()
    page.evaluate("Promise.all(Array.from(document.images, (image) => image.decode()))")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert 0 == page.evaluate("window.shifts")
    assert viewport["width"] >= page.evaluate("document.documentElement.scrollWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_themes_can_be_read(open_page: Any, scheme: str) -> None:
    """Text stands out from what is behind it: at least 4.5 to 1, as WCAG 2.2 asks for."""
    page = open_page("/good", color_scheme=scheme)
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (scheme == "dark") == (sum(map(int, re.findall(r"\d+", dark)[:3])) < 384)
    for selector, behind in (
        ("h1", "body"), (".lead", "body"), (".wall .title", ".wall li"), (".score b", ".wall li"), (".up", ".wall li"),
        (".down", ".wall li"), ("nav a[aria-current]", "nav a[aria-current]"), ("nav a:not([aria-current])", "body"),
    ):  # fmt: skip
        colours = [
            page.evaluate("([s, p]) => getComputedStyle(document.querySelector(s))[p]", [chosen, name])
            for chosen, name in ((selector, "color"), (behind, "backgroundColor"))
        ]
        assert contrast(*colours) >= 4.5, (selector, colours)


def contrast(one: str, other: str) -> float:
    """WCAG's ratio of two `rgb(...)` colours."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_pictures_have_words_and_buttons_have_names(open_page: Any) -> None:
    """For those who listen to the page."""
    page = open_page()
    titles = [image.get_attribute("alt") for image in page.locator(".choice img").all()]
    assert all(title and len(title) > 10 for title in titles)
    for title in titles:
        assert 1 == page.get_by_role("button", name=title).count()
    assert 1 == page.get_by_role("heading", level=1).count()
    assert "en" == page.locator("html").get_attribute("lang")


def test_the_keyboard_reaches_everything(open_page: Any) -> None:
    """Tab walks to the skip link first, later to the buttons; Enter votes."""
    page = open_page()
    left, _ = shown(page)
    before = rating(page, left)
    page.keyboard.press("Tab")
    assert "skip" == page.evaluate("document.activeElement.className")
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "BUTTON":
            break
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert before + 1 == rating(page, left)
