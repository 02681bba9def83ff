"""Forms, files and events as a real browser sends and takes them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.process import Process
from support.site import need
from support.waiting import free_port

pytestmark = [pytest.mark.live, pytest.mark.browser]

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PROGRAM = '''
import sys
import tarmac

app = tarmac.App()
app.static("/files", sys.argv[2])


@app.get("/")
def page(request):
    return tarmac.html("""<!doctype html><meta charset=utf-8><link rel=icon href="data:,"><title>Form</title>
        <form method=post action=/form enctype=multipart/form-data>
        <input name="te&quot;xt" value="ä&#13;&#10;b"><textarea name=area>a\\nb</textarea>
        <input name=none type=file><input name=f type=file multiple><button>Send</button></form>""")


@app.post("/form", stream=True)
async def form(request):
    read = await request.form(spool_bytes=10)
    told = []
    for name, value in read.multi_items():
        if isinstance(value, str):
            told.append([name, value])
        else:
            told.append([name, value.filename, value.content_type, (await value.read()).decode("latin-1")])
    return told


@app.get("/listen")
def listen(request):
    return tarmac.html("""<!doctype html><link rel=icon href="data:,"><title>Listen</title><pre id=log></pre><script>
        const log = document.getElementById("log");
        const source = new EventSource("/events");
        source.addEventListener("vote", event => { log.textContent += `${event.lastEventId}:${event.data};`; });
        </script>""")


@app.get("/events")
async def events(request):
    last = int(request.header("last-event-id", "0"))

    async def some():
        for number in range(last + 1, last + 3):
            yield tarmac.ServerSentEvent(f"{number}\\nä", event="vote", id=str(number))

    return tarmac.sse(some(), retry=0.01)


app.run(port=int(sys.argv[1]))
'''


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the address of a site with a form, events and files."""
    folder, port = tmp_path_factory.mktemp("site"), free_port()
    (folder / "program.py").write_text(PROGRAM)
    (folder / "files").mkdir()
    (folder / "files/page.html").write_text("<!doctype html><title>Static</title><p>a page")
    with Process([sys.executable, folder / "program.py", str(port), folder / "files"], log=folder / "log") as process:
        process.wait_for_port(port)
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def open_page(base: str) -> Iterator[Callable[[str], Any]]:
    """Give `open_page(path)`."""
    need("playwright")
    if CHROMIUM is None:
        pytest.skip("no chromium here: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])

        def open_one(path: str) -> Any:
            page = browser.new_page(base_url=base)
            page.goto(path)
            return page

        yield open_one
        browser.close()


def test_a_form_with_files(open_page: Callable[[str], Any], tmp_path: Path) -> None:
    page = open_page("/")
    files = [tmp_path / 'q"ä.txt', tmp_path / "two.bin"]
    files[0].write_bytes(b"first")
    files[1].write_bytes(bytes(range(256)))
    page.set_input_files("input[name=f]", files)
    with page.expect_response("**/form") as answer:
        page.click("button")
    # Browsers escape quotes by percents, and send line breaks of text as CR LF.
    assert answer.value.json() == [
        ["te%22xt", "äb"],
        ["area", "a\r\nb"],
        ["none", "", "application/octet-stream", ""],
        ["f", "q%22ä.txt", "text/plain", "first"],
        ["f", "two.bin", "application/octet-stream", bytes(range(256)).decode("latin-1")],
    ]


def test_events_and_coming_again(open_page: Callable[[str], Any]) -> None:
    page = open_page("/listen")
    page.wait_for_function("document.getElementById('log').textContent.includes('4:4')")
    assert page.text_content("#log").startswith("1:1\nä;2:2\nä;3:3\nä;4:4\nä;")


def test_a_page_from_the_cache(open_page: Callable[[str], Any]) -> None:
    page = open_page("/files/page.html")
    assert "a page" == page.text_content("p")
    with page.expect_response("**/page.html") as again:
        page.reload()
    # The browser asks whether it has changed, and shows what it has.
    assert again.value.status in {200, 304}
    assert "if-modified-since" in again.value.request.all_headers()
    assert "a page" == page.text_content("p")
