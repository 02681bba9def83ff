"""Files as answers: types, names, conditions, ranges, and what happens to them meanwhile."""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from pathlib import Path
from typing import Any

import pytest
import tarmac
from support.http import Wire, connected, request, served
from support.loops import on_every_loop, until
from support.ranges import parts_of
from tarmac import App, Limits
from tarmac.http import files
from tarmac.http.opening import OpenedFile

pytestmark = pytest.mark.live

SETTLED = 784111777  # Sun, 06 Nov 1994 08:49:37 GMT
DATE = "Sun, 06 Nov 1994 08:49:37 GMT"
TEXT = b"0123456789"
LARGE = bytes(range(256)) * 12_345


@pytest.fixture
def folder(tmp_path) -> Path:
    """Give a directory with a small and a large file that have not changed for long."""
    for name, content in (("small.txt", TEXT), ("large.bin", LARGE), ("empty.txt", b"")):
        (tmp_path / name).write_bytes(content)
        os.utime(tmp_path / name, (SETTLED, SETTLED))
    return tmp_path


def site(folder: Path, **options: Any) -> App:
    app = App()
    app.route("/{name}", methods=("GET", "POST"))(lambda request, name: tarmac.file(folder / name, **options))
    return app


TAG = f'"{SETTLED * 10**9:x}-a"'


@on_every_loop
async def test_a_small_file_says_what_it_is(folder):
    async with connected(site(folder)) as wire:
        answer = await wire.get("/small.txt")
    expected = {
        "Content-Type": "text/plain; charset=utf-8", "Content-Length": "10", "Last-Modified": DATE, "ETag": TAG,
        "Accept-Ranges": "bytes", "Content-Disposition": None, "Transfer-Encoding": None,
    }  # fmt: skip
    assert (200, TEXT) == (answer.status, answer.body)
    assert expected == {name: answer.header(name) for name in expected}


@pytest.mark.parametrize("name", ["small.txt", "large.bin", "empty.txt"])
@on_every_loop
async def test_a_file_comes_whole_and_its_head_alone(folder, name):
    content = (folder / name).read_bytes()
    async with connected(site(folder)) as wire:
        for _ in range(2):
            answer = await wire.get(f"/{name}")
            assert (200, str(len(content))) == (answer.status, answer.header("Content-Length"))
            assert content == answer.body
            head = await wire.get(f"/{name}", method="HEAD", headers="Range: bytes=0-1\r\n")
            assert (200, str(len(content)), b"") == (head.status, head.header("Content-Length"), head.body)
            assert answer.header("ETag") == head.header("ETag")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("x.html", "text/html; charset=utf-8"), ("x.css", "text/css; charset=utf-8"), ("x.png", "image/png"),
        ("x.json", "application/json"), ("x.tar.gz", "application/gzip"), ("x", "application/octet-stream"),
        ("x.svg", "image/svg+xml"), ("x.xyz-unknown", "application/octet-stream"),
    ],
)  # fmt: skip
@on_every_loop
async def test_the_name_tells_the_type(tmp_path, name, kind):
    (tmp_path / name).write_bytes(b"x")
    async with connected(site(tmp_path)) as wire:
        answer = await wire.get(f"/{name}")
    assert (kind, None) == (answer.header("Content-Type"), answer.header("Content-Encoding"))


@pytest.mark.parametrize(
    ("options", "disposition"),
    [
        ({"filename": "a.txt"}, 'attachment; filename="a.txt"'),
        ({"filename": "a b.txt", "disposition": "inline"}, 'inline; filename="a b.txt"'),
        ({"disposition": "attachment"}, "attachment"),
        ({"filename": "ä.txt"}, "attachment; filename=\"_.txt\"; filename*=UTF-8''%C3%A4.txt"),
        ({"filename": 'a"b\\.txt'}, "attachment; filename=\"a_b_.txt\"; filename*=UTF-8''a%22b%5C.txt"),
        ({"filename": "a\udcff"}, "attachment; filename=\"a_\"; filename*=UTF-8''a%3F"),
        ({"filename": "a\r\nX: y"}, "attachment; filename=\"a__X: y\"; filename*=UTF-8''a%0D%0AX%3A%20y"),
    ],
)
@on_every_loop
async def test_a_file_can_be_saved_under_a_name(folder, options, disposition):
    async with connected(site(folder, content_type="image/png", headers={"X-One": "1"}, **options)) as wire:
        answer = await wire.get("/small.txt")
    assert disposition == answer.header("Content-Disposition")
    assert ("image/png", "1") == (answer.header("Content-Type"), answer.header("X-One"))


def test_there_are_two_dispositions(folder):
    with pytest.raises(ValueError, match="'form-data'"):
        tarmac.file(folder / "small.txt", disposition="form-data")


@on_every_loop
async def test_what_is_not_there_is_not_found(folder):
    (folder / "sub").mkdir()
    async with connected(site(folder)) as wire:
        for name in ("none.txt", "sub", "%00", "x" * 300):
            assert 404 == (await wire.get(f"/{name}")).status


@on_every_loop
async def test_a_path_of_the_client_stays_inside_the_root(folder):
    (folder / "root").mkdir()
    (folder / "root/in.txt").write_text("in")
    (folder / "root/link").symlink_to("../small.txt")
    app = App()
    app.get("/{path:path}")(lambda request, path: tarmac.file(path, root=folder / "root"))
    async with connected(app) as wire:
        assert b"in" == (await wire.get("/in.txt")).body
        for path in ("/../small.txt", "/%2e%2e/small.txt", "/..%2fsmall.txt", "/link", "//in.txt", "/./in.txt", "/"):
            assert 404 == (await wire.get(path)).status, path


CONDITIONS = [
    ("GET", f"If-None-Match: {TAG}\r\n", 304),
    ("HEAD", f"If-None-Match: {TAG}\r\n", 304),
    ("POST", f"If-None-Match: {TAG}\r\n", 412),
    ("GET", 'If-None-Match: "x"\r\n', 200),
    ("GET", f'If-None-Match: "x"\r\nIf-None-Match: W/{TAG}\r\n', 304),
    ("GET", f"If-Modified-Since: {DATE}\r\n", 304),
    ("GET", "If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT\r\n", 200),
    ("GET", 'If-Match: "x"\r\n', 412),
    ("GET", f"If-Match: {TAG}\r\n", 200),
    ("GET", "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:36 GMT\r\n", 412),
    ("GET", f"If-Unmodified-Since: {DATE}\r\n", 200),
    ("GET", f"If-None-Match: {TAG}\r\nRange: bytes=0-1\r\n", 304),
    ("GET", 'If-Match: "x"\r\nRange: bytes=0-1\r\n', 412),
]


@pytest.mark.parametrize(("method", "headers", "status"), CONDITIONS)
@on_every_loop
async def test_conditions_are_kept(folder, method, headers, status):
    async with connected(site(folder, headers={"Cache-Control": "private"})) as wire:
        answer = await wire.get("/small.txt", method=method, headers=headers)
        assert status == answer.status
        assert (TAG, DATE, "private") == tuple(map(answer.header, ("ETag", "Last-Modified", "Cache-Control")))
        if status in {304, 412}:
            assert (b"", None) == (answer.body, answer.header("Content-Type"))
        assert 200 == (await wire.get("/small.txt")).status


@on_every_loop
async def test_what_the_client_has_for_good_is_not_sent_again(folder):
    """The tag of the first answer spares the second, until the file changes."""
    async with connected(site(folder)) as wire:
        tag = (await wire.get("/small.txt")).header("ETag")
        headers = f"If-None-Match: {tag}\r\n"
        assert 304 == (await wire.get("/small.txt", headers=headers)).status
        (folder / "small.txt").write_bytes(b"9876543210")
        answer = await wire.get("/small.txt", headers=headers)
        assert (200, b"9876543210") == (answer.status, answer.body)
        assert answer.header("ETag") not in {tag, None}


RANGES = [
    ("bytes=0-0", [(0, 1)]),
    ("bytes=2-4", [(2, 5)]),
    ("bytes=-3", [(-3, None)]),
    ("bytes=5-", [(5, None)]),
    ("bytes=0-99999999", [(0, None)]),
    ("bytes=0-1,4-5", [(0, 2), (4, 6)]),
    ("bytes=-1,0-0", [(-1, None), (0, 1)]),
]


@pytest.mark.parametrize(("value", "slices"), RANGES)
@pytest.mark.parametrize("name", ["small.txt", "large.bin"])
@on_every_loop
async def test_ranges_are_cut_out(folder, name, value, slices):
    content = (folder / name).read_bytes()
    parts = [range(len(content))[slice(*one)] for one in slices]
    async with connected(site(folder)) as wire:
        answer = await wire.get(f"/{name}", headers=f"Range: {value}\r\n")
        assert 206 == answer.status
        found = (
            [one[1:] for one in parts_of(answer)] if len(parts) > 1 else [(answer.header("Content-Range"), answer.body)]
        )
        expected = [
            (f"bytes {part.start}-{part.stop - 1}/{len(content)}", content[part.start : part.stop]) for part in parts
        ]
        assert expected == found
        assert 200 == (await wire.get("/small.txt")).status


@pytest.mark.parametrize("value", ["bytes=10-", "bytes=10-20", "bytes=-0", "bytes=99-,10-"])
@on_every_loop
async def test_ranges_beyond_the_end_are_refused(folder, value):
    async with connected(site(folder)) as wire:
        answer = await wire.get("/small.txt", headers=f"Range: {value}\r\n")
        assert (416, "bytes */10", b"") == (answer.status, answer.header("Content-Range"), answer.body)
        assert 200 == (await wire.get("/small.txt")).status


@pytest.mark.parametrize(
    "headers",
    ["Range: items=0-1\r\n", "Range: bytes=2-1\r\n", "Range: bytes=x\r\n", "Range: bytes=0-8,1-9\r\n",
     'Range: bytes=0-1\r\nIf-Range: "x"\r\n', f"Range: bytes=0-1\r\nIf-Range: W/{TAG}\r\n",
     "Range: bytes=0-1\r\nIf-Range: Sun, 06 Nov 1994 08:49:38 GMT\r\n",
     "Range: bytes=0-1,2-2,3-3,4-4\r\n"],
)  # fmt: skip
@on_every_loop
async def test_ranges_that_do_not_count_are_ignored(folder, headers):
    async with connected(site(folder, max_ranges=3)) as wire:
        answer = await wire.get("/small.txt", headers=headers)
    assert (200, TEXT, None) == (answer.status, answer.body, answer.header("Content-Range"))


@pytest.mark.parametrize("validator", [TAG, DATE])
@on_every_loop
async def test_a_range_of_this_very_version_is_sent(folder, validator):
    async with connected(site(folder, max_ranges=3)) as wire:
        answer = await wire.get("/small.txt", headers=f"Range: bytes=0-1\r\nIf-Range: {validator}\r\n")
        assert (206, b"01") == (answer.status, answer.body)
        answer = await wire.get("/small.txt", headers="Range: bytes=0-1,2-2,3-3\r\n")
        assert 206 == answer.status


@on_every_loop
async def test_only_get_has_ranges(folder):
    async with connected(site(folder)) as wire:
        answer = await wire.get("/small.txt", method="POST", headers="Range: bytes=0-1\r\n")
    assert (200, TEXT) == (answer.status, answer.body)


@on_every_loop
async def test_an_error_page_can_be_a_file(folder):
    app = App()
    app.get("/")(lambda request: (tarmac.file(folder / "small.txt"), 503))
    app.get("/large")(lambda request: (tarmac.file(folder / "large.bin"), 503))
    async with connected(app) as wire:
        for path, content in (("/", TEXT), ("/large", LARGE)):
            answer = await wire.get(path, headers=f"Range: bytes=0-1\r\nIf-None-Match: {TAG}\r\n")
            assert (503, None) == (answer.status, answer.header("ETag"))
            assert content == answer.body


@pytest.mark.parametrize("surrounded", [True, False])
@on_every_loop
async def test_a_status_beside_an_answer_counts_within_middleware_too(folder, surrounded):
    app = App()
    app.get("/file")(lambda request: (tarmac.file(folder / "small.txt"), 404))
    app.get("/text")(lambda request: (tarmac.text("x"), 418))
    if surrounded:
        app.middleware(passing)
    async with connected(app) as wire:
        found = [await wire.get(path) for path in ("/file", "/text")]
    assert [(404, TEXT), (418, b"x")] == [(one.status, one.body) for one in found]


async def passing(request, call_next):
    return await call_next(request)


@on_every_loop
async def test_middleware_adds_to_a_file(folder):
    app = site(folder)

    @app.middleware
    async def add(request, call_next):
        response = await call_next(request)
        response.set_header("X-Added", "yes")
        response.set_cookie("a", "1")
        return response

    async with connected(app) as wire:
        for headers, status in (("", 200), ("Range: bytes=0-1\r\n", 206), (f"If-None-Match: {TAG}\r\n", 304)):
            answer = await wire.get("/small.txt", headers=headers)
            assert (status, "yes") == (answer.status, answer.header("X-Added"))
            assert (answer.header("Set-Cookie") or "").startswith("a=1")


@on_every_loop
async def test_files_answer_in_the_order_of_a_pipeline(folder):
    async with connected(site(folder)) as wire:
        wire.send(
            b"".join(request(f"/{name}") for name in ("large.bin", "small.txt", "none", "large.bin", "small.txt"))
        )
        answers = [await wire.answer() for _ in range(5)]
    assert [200, 200, 404, 200, 200] == [one.status for one in answers]
    assert [LARGE, TEXT, LARGE, TEXT] == [one.body for one in answers if one.status == 200]


@pytest.mark.parametrize(
    ("name", "code", "in_threads"),
    [
        ("small.txt", errno.EAGAIN, True),
        ("large.bin", errno.EAGAIN, True),
        ("small.txt", errno.EOPNOTSUPP, False),  # few bytes are worth no thread
        ("large.bin", errno.EOPNOTSUPP, True),
    ],
)
@on_every_loop
async def test_what_may_be_on_the_disk_is_read_in_a_thread(folder, monkeypatch, name, code, in_threads):
    """The disk is waited for beside the loop, piece by piece."""
    asked = []
    real = OpenedFile.read

    def read(self, start, count):
        asked.append((start, count, threading.current_thread() is not threading.main_thread()))
        return real(self, start, count)

    def refuse(*_: Any) -> int:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(OpenedFile, "read", read)
    monkeypatch.setattr(os, "preadv", refuse)
    monkeypatch.setattr(files, "_PIECE", 1_000_000)
    content = (folder / name).read_bytes()
    async with connected(site(folder)) as wire:
        assert content == (await wire.get(f"/{name}")).body
    starts = range(0, len(content), 1_000_000)
    assert [(start, min(1_000_000, len(content) - start), in_threads) for start in starts] == asked


@on_every_loop
async def test_a_file_that_becomes_shorter_breaks_the_connection_off(tmp_path):
    """The client must not take half a file for a whole one."""
    path = tmp_path / "shrinking"
    with path.open("wb") as file:
        file.truncate(64 * 1024 * 1024)
    async with served(site(tmp_path)) as server, Wire(server.port) as wire:
        wire.send(request("/shrinking"))
        head = await wire.reader.readuntil(b"\r\n\r\n")
        assert b"Content-Length: 67108864" in head
        os.truncate(path, 1000)
        body = await wire.rest()
        assert len(body) < 64 * 1024 * 1024
        await until(lambda: server.connections == 0, what="the connection to go")


def open_files(folder: Path) -> list[str]:
    links = (str(one.readlink()) for one in Path("/proc/self/fd").iterdir() if one.is_symlink())
    return [name for name in links if name.startswith(str(folder))]


@on_every_loop
async def test_a_client_that_leaves_leaves_no_file_open(folder):
    async with served(site(folder), limits=Limits(queued_bytes=1000)) as server:
        for _ in range(3):
            async with Wire(server.port) as wire:
                wire.send(request("/large.bin") * 3)
                await wire.reader.readuntil(b"\r\n\r\n")
                wire.reset()
        await until(lambda: server.connections == 0, what="the connections to go")
        await until(lambda: not open_files(folder), what="the files to be closed")


@on_every_loop
async def test_files_are_closed_after_every_answer(folder):
    async with connected(site(folder)) as wire:
        for headers in ("", "Range: bytes=0-1\r\n", "Range: bytes=99999999-\r\n", f"If-None-Match: {TAG}\r\n"):
            for name in ("small.txt", "large.bin"):
                for method in ("GET", "HEAD"):
                    await wire.get(f"/{name}", method=method, headers=headers)
        await until(lambda: not open_files(folder), what="the files to be closed")


@on_every_loop
async def test_a_slow_client_does_not_hold_others_up(folder):
    with (folder / "huge").open("wb") as file:
        file.truncate(256 * 1024 * 1024)
    async with served(site(folder)) as server, Wire(server.port) as slow, Wire(server.port) as quick:
        slow.send(request("/huge"))
        await slow.reader.readuntil(b"\r\n\r\n")
        for _ in range(20):
            async with asyncio.timeout(5):
                assert TEXT == (await quick.get("/small.txt")).body
        slow.reset()
