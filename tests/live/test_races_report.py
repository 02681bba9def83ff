"""The report in a real browser: on a phone and on a desk, by day and by night, without a network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from races.report import write_report
from unit.races.made import race

pytestmark = [pytest.mark.live, pytest.mark.browser]

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SMALLEST_TEXT = 10.0

CONTRAST = """() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const light = (colour) => parts(colour).map((part) => part / 255)
    .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!/, 0\\)$|transparent/.test(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const texts = [...document.querySelectorAll("h1, h2, h3, p, li, td, th, figcaption, summary, svg text")];
  return Math.min(...texts.filter((text) => text.textContent.trim()).map((text) => {
    const style = getComputedStyle(text);
    const [high, low] = [light(text instanceof SVGElement ? style.fill : style.color), light(behind(text))]
      .sort((one, other) => other - one);
    return (high + 0.05) / (low + 0.05);
  }));
}"""

SVG_TEXT_HEIGHTS = """() => [...document.querySelectorAll("svg text")].map((text) => {
  const scale = text.ownerSVGElement.getBoundingClientRect().width / text.ownerSVGElement.viewBox.baseVal.width;
  return parseFloat(getComputedStyle(text).fontSize) * scale;
})"""

OVERLAPS = """() => [...document.querySelectorAll("svg")].flatMap((svg) => {
  const boxes = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
  return boxes.flatMap(([one, a], at) => boxes.slice(at + 1)
    .filter(([, b]) => meet(a, b)).map(([other]) => `${one} | ${other}`));
})"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no chromium here: apt-get install chromium")
    playwright_module = pytest.importorskip("playwright.sync_api")
    with playwright_module.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """Long names, flags, something left out: the worst a layout meets."""
    made = race(flags={"slow": ["HOST_NOISY", "GEN_SATURATED"]})
    made.entrants["slow"]["title"] = "Starlette + asynctnt, one call a page"
    made.leave_out("nginx + PHP", "not installed (Debian: apt install nginx-light php8.2-fpm)")
    return write_report(made, tmp_path)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 800, 1280])
def test_the_report_can_be_read(browser: Any, report: Path, width: int, scheme: str) -> None:
    """Nothing sticks out, nothing is too small or too pale, no label lies on another, nothing is fetched."""
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    fetched: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(report.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CONTRAST) >= 4.5
    assert min(page.evaluate(SVG_TEXT_HEIGHTS)) >= SMALLEST_TEXT
    assert [] == page.evaluate(OVERLAPS)
    assert [report.as_uri()] == fetched
    assert [] == complaints
    page.close()


def test_a_heat_opens_its_command_line(browser: Any, report: Path) -> None:
    page = browser.new_page()
    page.goto(report.as_uri())
    heat = page.locator("#heats details").first
    assert not heat.locator("dl").is_visible()
    heat.locator("summary").click()
    assert "tarmac-load" in heat.locator("dl").inner_text()
    page.close()
