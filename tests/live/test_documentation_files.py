"""The programs of the pages about uploads, files and events do what the pages say."""

from __future__ import annotations

import gzip
import json
import os
import urllib.request

import pytest

pytestmark = pytest.mark.live


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch) -> None:
    """Run the programs in a folder of their own: they write files."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def form(*parts: tuple[str, str | None, bytes]) -> bytes:
    """A multipart form of (name, file name, data) with the boundary `b`."""
    lines = []
    for name, filename, data in parts:
        head = f'--b\r\nContent-Disposition: form-data; name="{name}"'
        head += "" if filename is None else f'; filename="{filename}"'
        lines.append(head.encode() + b"\r\n\r\n" + data + b"\r\n")
    return b"".join(lines) + b"--b--\r\n"


def test_the_page_about_uploads(serve, tmp_path):
    service = serve("docs/how-to/receive-uploads.md")
    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    assert 'enctype="multipart/form-data"' in service.ask("/")[1]
    parts = [("title", None, b"Cats"), ("photo", "cat.jpg", b"JPEG"), ("photo", "", b"")]
    status, text = service.send("POST", "/photos", form(*parts), **kind)
    told = json.loads(text)
    ((kept),) = told["kept"]
    assert (200, "Cats", "cat.jpg", 4) == (status, told["title"], kept["was"], kept["bytes"])
    assert b"JPEG" == (tmp_path / "work/uploads" / kept["name"]).read_bytes()
    many = form(("title", None, b"x"), *[("photo", f"{number}.jpg", b"x") for number in range(11)])
    assert 413 == service.send("POST", "/photos", many, **kind)[0]
    assert 413 == service.send("POST", "/photos", form(("photo", "x", bytes(5_000_001))), **kind)[0]
    assert 400 == service.send("POST", "/photos", b"--b", **kind)[0]
    assert 415 == service.send("POST", "/photos", b"x", **{"Content-Type": "text/plain"})[0]
    lines = form(("file", "a.txt", b"1\n2\n"))
    assert {"lines": 2, "type": None} == json.loads(service.send("POST", "/measure", lines, **kind)[1])
    assert (200, '{"bytes":30000000}') == service.send("PUT", "/raw", bytes(30_000_000))
    packed = {"Content-Encoding": "gzip"}
    assert (200, '{"events":3}') == service.send("POST", "/events", gzip.compress(b"[1,2,3]"), **packed)
    assert 413 == service.send("POST", "/events", gzip.compress(bytes(1_000_001)), **packed)[0]


def test_the_page_about_files(serve, tmp_path):
    service = serve("docs/how-to/serve-files.md")
    assert "teal" in service.ask("/static/app.css")[1]
    assert (404, 404) == (service.ask("/static/")[0], service.ask("/static/%2e%2e/reports/2026.csv")[0])
    assert "home" in service.ask("/docs/")[1]
    assert 308 == service.ask("/docs")[0]
    assert (200, "month,votes\n1,17\n") == service.ask("/report") == service.ask("/reports/2026.csv")
    assert 404 == service.ask("/reports/..%2fassets%2fapp.css")[0]
    assert (206, "month") == service.send("GET", "/report", Range="bytes=0-4")
    with urllib.request.urlopen(service.base + "/report", timeout=5) as answer:  # noqa: S310 - our own server
        assert 'attachment; filename="Report 2026.csv"' == answer.headers["Content-Disposition"]
    assert 304 == service.send("GET", "/version", **{"If-None-Match": '"v7"'})[0]
    assert (200, '{"version":7}') == service.send("GET", "/version", **{"If-None-Match": '"v6"'})
    css = tmp_path / "work/assets/app.css"
    (tmp_path / "work/assets/app.css.gz").write_bytes(gzip.compress(b"packed"))
    os.utime(css, (1, 1))
    request = urllib.request.Request(service.base + "/static/app.css", headers={"Accept-Encoding": "gzip"})  # noqa: S310
    with urllib.request.urlopen(request, timeout=5) as answer:  # noqa: S310 - our own server
        assert b"packed" == gzip.decompress(answer.read())
        assert ("public, max-age=3600", "Accept-Encoding") == (answer.headers["Cache-Control"], answer.headers["Vary"])


def test_the_page_about_events(serve):
    service = serve("docs/how-to/stream-events.md")
    assert "EventSource" in service.ask("/")[1]
    assert (200, "0 told") == service.ask("/vote", pack="cats")
    with urllib.request.urlopen(service.base + "/events", timeout=5) as events:  # noqa: S310 - our own server
        assert [b"retry: 2000\n", b"\n"] == [events.readline() for _ in range(2)]
        while service.ask("/vote", pack="dogs")[1] == "0 told":
            pass
        assert [b"event: vote\n", b'data: {"pack":"dogs"}\n', b"\n"] == [events.readline() for _ in range(3)]
    while service.ask("/vote", pack="dogs")[1] != "0 told":
        pass
