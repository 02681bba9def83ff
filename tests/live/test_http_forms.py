"""Forms: fields and files, whole and while they arrive, and their limits."""

from __future__ import annotations

import asyncio
import io
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tarmac
from support.http import Wire, connected, served
from support.loops import on_every_loop, until
from tarmac import App, Form, Limits, UploadFile

pytestmark = pytest.mark.live

MULTIPART = "Content-Type: multipart/form-data; boundary=b\r\n"
URLENCODED = "Content-Type: application/x-www-form-urlencoded\r\n"


def part(name: str, data: bytes | str, filename: str | None = None, kind: str | None = None) -> bytes:
    """One part of a form."""
    head = f'--b\r\nContent-Disposition: form-data; name="{name}"'
    head += "" if filename is None else f'; filename="{filename}"'
    head += "" if kind is None else f"\r\nContent-Type: {kind}"
    return head.encode() + b"\r\n\r\n" + (data.encode() if isinstance(data, str) else data) + b"\r\n"


def form(*parts: bytes) -> bytes:
    return b"".join(parts) + b"--b--\r\n"


async def told(value: str | UploadFile) -> Any:
    """A value as a test compares it."""
    if isinstance(value, str):
        return value
    return (value.filename, value.content_type, value.size, await value.read())


class Site:
    """Reads forms on `/whole` and, while they arrive, on `/stream`; remembers what it saw."""

    def __init__(self, **options: Any) -> None:
        self.app = App()
        self.seen: list[Any] = []
        self.forms: list[Form] = []

        async def handler(request):
            read = await request.form(**options)
            self.forms.append(read)
            self.seen.append([(name, await told(value)) for name, value in read.multi_items()])
            return "ok"

        self.app.post("/whole")(handler)
        self.app.post("/stream", stream=True)(handler)

    async def post(self, path: str, body: bytes, headers: str = MULTIPART, **server: Any) -> tuple[int, Any]:
        """Status, and what the handler saw or what the client was told."""
        async with connected(self.app, **server) as wire:
            answer = await wire.get(path, method="POST", headers=headers, body=body)
        return (answer.status, self.seen.pop()) if self.seen else (answer.status, answer.body.decode())


PATHS = pytest.mark.parametrize("path", ["/whole", "/stream"])
EXAMPLE = form(
    part("a", "1"),
    part("f", b"\0\xffX", "x.bin", "application/octet-stream"),
    part("f", "Y", "y.txt", "text/plain"),
    part("a", "ä"),
    part("empty", ""),
    part("none", "", "", "application/octet-stream"),
)
SEEN = [
    ("a", "1"),
    ("f", ("x.bin", "application/octet-stream", 3, b"\0\xffX")),
    ("f", ("y.txt", "text/plain", 1, b"Y")),
    ("a", "ä"),
    ("empty", ""),
    ("none", ("", "application/octet-stream", 0, b"")),
]


@PATHS
@on_every_loop
async def test_fields_and_files_come_in_their_order(path):
    assert (200, SEEN) == await Site().post(path, EXAMPLE)


@PATHS
@on_every_loop
async def test_a_form_on_disk_is_the_same_form(path):
    assert (200, SEEN) == await Site(spool_bytes=0).post(path, EXAMPLE)


@PATHS
@on_every_loop
async def test_an_urlencoded_form_has_the_same_interface(path):
    site = Site()
    assert (200, [("a", "1"), ("b", "x y"), ("a", "2")]) == await site.post(path, b"a=1&b=x+y&a=2", URLENCODED)
    (read,) = site.forms
    assert ({"a": "2", "b": "x y"}, ["1", "2"], []) == (read, read.get_all("a"), read.get_all("c"))


@on_every_loop
async def test_a_form_is_a_mapping_of_last_values():
    app = App()
    seen = []

    @app.post("/")
    async def handler(request):
        read = await request.form()
        files = read.get_all("f")
        assert all(isinstance(one, UploadFile) for one in files)
        seen.append((read["a"], read["f"] is files[-1], [one.filename for one in files], "b" in read))
        seen.append((bool(read["f"]), bool(read["none"]), await request.form() is read))

    async with connected(app) as wire:
        assert 204 == (await wire.get("/", method="POST", headers=MULTIPART, body=EXAMPLE)).status
    assert [("ä", True, ["x.bin", "y.txt"], False), (True, False, True)] == seen


@on_every_loop
async def test_a_form_can_arrive_byte_by_byte():
    site = Site()
    async with connected(site.app) as wire:
        wire.send(f"POST /stream HTTP/1.1\r\nHost: x\r\nContent-Length: {len(EXAMPLE)}\r\n{MULTIPART}\r\n")
        for byte in EXAMPLE:
            wire.send(bytes([byte]))
            await wire.writer.drain()
            await asyncio.sleep(0)
        assert 200 == (await wire.answer()).status
    assert [SEEN] == site.seen


@on_every_loop
async def test_a_form_can_come_in_chunks():
    site = Site()
    async with connected(site.app) as wire:
        wire.send(f"POST /stream HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n{MULTIPART}\r\n")
        for start in range(0, len(EXAMPLE), 7):
            piece = EXAMPLE[start : start + 7]
            wire.send(b"%x\r\n%b\r\n" % (len(piece), piece))
        wire.send("0\r\n\r\n")
        assert 200 == (await wire.answer()).status
    assert [SEEN] == site.seen


@pytest.mark.parametrize(
    ("body", "headers", "status", "text"),
    [
        (EXAMPLE[:-4], MULTIPART, 400, "The form ends before its last boundary."),
        (b"", MULTIPART, 400, "The form ends before its last boundary."),
        (EXAMPLE, "Content-Type: multipart/form-data\r\n", 400, "names no valid boundary"),
        (EXAMPLE, "Content-Type: text/plain\r\n", 415, "text/plain, not a form"),
        (form(part("a", "1").replace(b"form-data", b"attachment")), MULTIPART, 400, "not form-data with a name"),
    ],
)
@PATHS
@on_every_loop
async def test_what_is_no_form_is_refused(path, body, headers, status, text):
    answer, said = await Site().post(path, body, headers)
    assert status == answer
    assert text in said


LIMITED = [
    ("max_fields", 2, form(part("a", "1"), part("b", "2")), form(part("a", "1"), part("b", "2"), part("c", "3"))),
    ("max_files", 1, form(part("a", "1", "x"), part("b", "2")), form(part("a", "1", "x"), part("b", "2", "y"))),
    ("max_field_bytes", 5, form(part("a", "12345"), part("f", "123456", "x")), form(part("a", "123456"))),
    ("max_file_bytes", 5, form(part("f", "12345", "x"), part("a", "123456")), form(part("f", "123456", "x"))),
]


@pytest.mark.parametrize(("limit", "value", "within", "beyond"), LIMITED)
@PATHS
@on_every_loop
async def test_every_limit_holds_from_both_sides(path, limit, value, within, beyond):
    assert 200 == (await Site(**{limit: value}).post(path, within))[0]
    assert 413 == (await Site(**{limit: value}).post(path, beyond))[0]


@pytest.mark.parametrize(
    ("limit", "value", "within", "beyond"),
    [("max_fields", 2, b"a=1&b=2", b"a=1&b=2&c=3"), ("max_field_bytes", 3, b"a=%20%20%20", b"a=1234")],
)
@PATHS
@on_every_loop
async def test_urlencoded_forms_have_limits_too(path, limit, value, within, beyond):
    assert 200 == (await Site(**{limit: value}).post(path, within, URLENCODED))[0]
    assert 413 == (await Site(**{limit: value}).post(path, beyond, URLENCODED))[0]


@on_every_loop
async def test_a_thousand_fields_are_enough_for_everybody():
    for path in ("/whole", "/stream"):
        assert 200 == (await Site().post(path, b"&".join([b"a=1"] * 1000), URLENCODED))[0]
        assert 413 == (await Site().post(path, b"&".join([b"a=1"] * 1001), URLENCODED))[0]


@on_every_loop
async def test_the_head_of_a_part_has_a_limit():
    around = len(part("a", "", "")) - len("--b\r\n\r\n")
    for extra, status in ((0, 200), (1, 413)):
        body = form(part("a", "", "x" * (8192 - around + extra)))
        assert status == (await Site().post("/whole", body))[0]


@on_every_loop
async def test_the_whole_form_has_the_limit_of_every_body():
    limits = Limits(body_bytes=len(EXAMPLE))
    for path in ("/whole", "/stream"):
        assert 200 == (await Site().post(path, EXAMPLE, limits=limits))[0]
        assert 413 == (await Site().post(path, EXAMPLE + b" ", limits=limits))[0]


@on_every_loop
async def test_an_unknown_option_is_a_defect():
    seen = []
    app = App()

    @app.post("/")
    async def handler(request):
        try:
            await request.form(max_feelds=1)
        except TypeError as error:
            seen.append(str(error))

    async with connected(app) as wire:
        await wire.get("/", method="POST")
    assert "max_feelds" in seen[0]


@on_every_loop
async def test_files_can_be_read_in_parts_and_saved(tmp_path):
    app = App()
    seen: list[Any] = []

    @app.post("/{spool_bytes:int}")
    async def save(request, spool_bytes):
        upload = (await request.form(spool_bytes=spool_bytes))["f"]
        seen.append([await upload.read(2), await upload.read(), await upload.read()])
        await upload.seek(3)
        path = tmp_path / str(spool_bytes)
        await upload.save(path)
        seen.append([await upload.read(), path.read_bytes(), upload.headers[-1], isinstance(upload.file, io.BytesIO)])
        return "ok"

    async with connected(app) as wire:
        for spool_bytes in (6, 5):
            body = form(part("f", "123456", "x", "a/b"))
            assert 200 == (await wire.get(f"/{spool_bytes}", method="POST", headers=MULTIPART, body=body)).status
    for in_memory in (True, False):
        assert [b"12", b"3456", b""] == seen.pop(0)
        assert [b"456", b"123456", ("Content-Type", "a/b"), in_memory] == seen.pop(0)


@pytest.fixture
def spooled(tmp_path, monkeypatch) -> Callable[[], list[str]]:
    """Give what tells the files without a name that are open on behalf of uploads."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def names() -> list[str]:
        links = (str(one.readlink()) for one in Path("/proc/self/fd").iterdir() if one.is_symlink())
        return [name for name in links if name.startswith(str(tmp_path))]

    return names


@pytest.mark.parametrize("ending", ["answers", "raises", "is_cancelled"])
@PATHS
@on_every_loop
async def test_files_are_closed_when_the_request_ends(path, ending, spooled):
    app = App()
    kept: list[UploadFile] = []

    async def handler(request):
        upload = (await request.form(spool_bytes=0))["f"]
        kept.append(upload)
        assert spooled()
        if ending == "raises":
            raise tarmac.Conflict
        if ending == "is_cancelled":
            asyncio.current_task().cancel()
            await asyncio.sleep(0)
        return "ok"

    app.post("/whole")(handler)
    app.post("/stream", stream=True)(handler)
    assert not spooled()
    async with connected(app) as wire:
        answer = await wire.get(path, method="POST", headers=MULTIPART, body=form(part("f", "123", "x")))
        assert {"answers": 200, "raises": 409, "is_cancelled": 503}[ending] == answer.status
        await until(lambda: kept[0].file.closed, what="the file to be closed")
    assert not spooled()


@on_every_loop
async def test_a_client_that_leaves_in_the_middle_leaves_nothing_behind(spooled, caplog):
    site = Site(spool_bytes=0)
    async with served(site.app) as server:
        async with Wire(server.port) as wire:
            wire.send(f"POST /stream HTTP/1.1\r\nHost: x\r\nContent-Length: 10000\r\n{MULTIPART}\r\n")
            wire.send(part("f", b"x" * 5000, "x"))
            await until(spooled, what="the file to be on disk")
            wire.reset()
        await until(lambda: not spooled(), what="the file to be gone")
    assert ([], []) == (site.forms, [one.message for one in caplog.records])


@on_every_loop
async def test_a_form_that_is_refused_leaves_nothing_behind(spooled):
    site = Site(spool_bytes=0, max_files=1)
    for path in ("/whole", "/stream"):
        assert 413 == (await site.post(path, form(part("f", "1", "x"), part("g", "2", "y"))))[0]
        assert not spooled()


@on_every_loop
async def test_memory_stays_flat_while_a_large_file_arrives(tmp_path):
    """64 MiB into a process that may grow by a fraction of it."""
    app = App()
    size = 64 * 1024 * 1024
    sizes: list[int] = []

    @app.post("/", stream=True)
    async def upload(request):
        file = (await request.form())["f"]
        sizes.append(file.size)
        await file.seek(size - 4)
        return await file.read()

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    head, tail = part("f", b"", "x")[:-2], b"last\r\n--b--\r\n"
    block = b"x" * (1024 * 1024)
    async with connected(app, limits=Limits(body_bytes=2 * size)) as wire:
        total = len(head) + size + len(tail) - 4
        wire.send(f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {total}\r\n{MULTIPART}\r\n".encode() + head)
        before = most = resident()
        for start in range(0, size - 4, len(block)):
            wire.send(block[: min(len(block), size - 4 - start)])
            await wire.writer.drain()
            most = max(most, resident())
        wire.send(tail)
        assert b"last" == (await wire.answer()).body
    assert [size] == sizes
    assert most - before < size // 4
