"""Files, conditions and ranges are answered as nginx answers them; where not, the test says so."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.http import Answer, Wire, served
from support.loops import on_every_loop
from support.process import Process
from support.ranges import parts_of
from support.waiting import free_port
from tarmac import App

pytestmark = pytest.mark.live

CONFIGURATION = """
daemon off; master_process off; pid {folder}/pid; error_log {folder}/errors;
events {{ }}
http {{
    access_log off; max_ranges 16;
    client_body_temp_path {folder}/1; proxy_temp_path {folder}/2; fastcgi_temp_path {folder}/3;
    uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
    types {{ text/plain txt; text/css css; application/octet-stream bin; text/html html; }}
    server {{
        listen 127.0.0.1:{port};
        disable_symlinks on from={root};
        location / {{ root {root}; index index.html; gzip_static on; gzip_vary on; }}
    }}
}}
"""
SETTLED = 784111777  # Sun, 06 Nov 1994 08:49:37 GMT
DATE = "Sun, 06 Nov 1994 08:49:37 GMT"
EARLIER, LATER = "Sun, 06 Nov 1994 08:49:36 GMT", "Sun, 06 Nov 1994 08:49:38 GMT"


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """Give a directory with files that have not changed for long."""
    root: Path = tmp_path_factory.mktemp("files") / "root"
    (root / "sub").mkdir(parents=True)
    files = {
        "a.txt": b"0123456789", "large.bin": bytes(range(256)) * 4096, "empty.txt": b"", "sub/index.html": b"<p>sub",
        "x.css": b"body{}", "x.css.gz": b"packed",
    }  # fmt: skip
    for name, content in files.items():
        (root / name).write_bytes(content)
        os.utime(root / name, (SETTLED, SETTLED))
    (root.parent / "secret.txt").write_text("secret")
    (root / "link.txt").symlink_to("../secret.txt")
    return root


@pytest.fixture(scope="module")
def nginx(root, tmp_path_factory) -> Iterator[int]:
    """Give the port of an nginx that serves the same directory."""
    if shutil.which("nginx") is None:
        pytest.skip("no nginx on PATH: apt-get install nginx-light")
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "conf").write_text(user + CONFIGURATION.format(folder=folder, root=root, port=port))
    command = ["nginx", "-c", folder / "conf", "-e", folder / "errors", "-p", folder]
    with Process(command, log=folder / "log") as process:
        process.wait_for_port(port)
        yield port


def ranged(value: str) -> str:
    return f"Range: {value}\r\n"


SAME = [
    ("GET", "/a.txt", ""),
    ("HEAD", "/a.txt", ""),
    ("GET", "/large.bin", ""),
    ("GET", "/empty.txt", ""),
    ("GET", "/none.txt", ""),
    ("GET", "/sub/", ""),
    ("GET", "/a.txt/", ""),
    ("GET", "/x.css", ""),
    ("GET", "/x.css", "Accept-Encoding: gzip\r\n"),
    ("GET", "/x.css", "Accept-Encoding: gzip;q=0\r\n"),
    ("GET", "/x.css", "Accept-Encoding: br, gzip;q=0.1\r\n"),
    *[("GET", path, ranged(value)) for path in ("/a.txt", "/large.bin") for value in (
        "bytes=0-0", "bytes=2-4", "bytes=5-", "bytes=-3", "bytes=0-99999999", "bytes=-99999999", "bytes=99999999-",
        "bytes=-0", "bytes=0-1,4-5", "bytes=-1,0-0", "bytes=0-1,99999999-", "items=0-1", "bytes=0-8,1-9",
        "bytes=" + ",".join(["0-0"] * 17),
    )],
    ("GET", "/empty.txt", ranged("bytes=0-")),
    ("GET", "/a.txt", f"If-Modified-Since: {DATE}\r\n"),
    ("GET", "/a.txt", f"If-Modified-Since: {EARLIER}\r\n"),
    ("GET", "/a.txt", "If-Modified-Since: yesterday\r\n"),
    ("GET", "/a.txt", f"If-Unmodified-Since: {DATE}\r\n"),
    ("GET", "/a.txt", f"If-Unmodified-Since: {EARLIER}\r\n"),
    ("GET", "/a.txt", 'If-None-Match: "x"\r\n'),
    ("GET", "/a.txt", "If-None-Match: *\r\n"),
    ("GET", "/a.txt", "If-None-Match: TAG\r\n"),
    ("GET", "/a.txt", 'If-None-Match: "x", W/TAG\r\n'),
    ("HEAD", "/a.txt", "If-None-Match: TAG\r\n"),
    ("GET", "/a.txt", f'If-None-Match: "x"\r\nIf-Modified-Since: {DATE}\r\n'),
    ("GET", "/a.txt", "If-Match: *\r\n"),
    ("GET", "/a.txt", 'If-Match: "x"\r\n'),
    ("GET", "/a.txt", "If-Match: TAG\r\n"),
    ("GET", "/a.txt", "If-Match: W/TAG\r\n"),
    ("GET", "/a.txt", ranged("bytes=0-1") + "If-Range: TAG\r\n"),
    ("GET", "/a.txt", ranged("bytes=0-1") + 'If-Range: "x"\r\n'),
    ("GET", "/a.txt", ranged("bytes=0-1") + f"If-Range: {DATE}\r\n"),
    ("GET", "/a.txt", ranged("bytes=0-1") + f"If-Range: {LATER}\r\n"),
    ("GET", "/a.txt", ranged("bytes=0-1") + f"If-Modified-Since: {DATE}\r\n"),
    ("POST", "/a.txt", ""),
]  # fmt: skip


async def asked(port: int, method: str, path: str, headers: str) -> Answer:
    """The answer to a request whose tag is the server's own."""
    async with Wire(port) as wire:
        if "TAG" in headers:
            tag = (await wire.get(path)).header("ETag")
            assert tag
            headers = headers.replace("TAG", tag)
        return await wire.get(path, method=method, headers=headers)


def essence(answer: Answer) -> dict[str, object]:
    """What two servers have to agree in."""
    kind = (answer.header("Content-Type") or "").partition(";")[0] if answer.status in {200, 206} else None
    found: dict[str, object] = {"status": answer.status, "kind": kind}
    if answer.status in {200, 206}:
        found |= {name: answer.header(name) for name in ("Content-Range", "Content-Encoding", "Last-Modified")}
        several = kind == "multipart/byteranges"
        found["body"] = [part[1:] for part in parts_of(answer)] if several and answer.body else answer.body
    if answer.status == 416:
        found["Content-Range"] = answer.header("Content-Range")
    return found


@pytest.mark.parametrize("case", range(len(SAME)))
@on_every_loop
async def test_the_same_is_answered(root, nginx, case):
    app = App()
    app.static("/", root, index="index.html")
    async with served(app) as server:
        ours, theirs = [essence(await asked(port, *SAME[case])) for port in (server.port, nginx)]
    assert theirs == ours, SAME[case]


# What nginx says, what we say, and why.
DIFFERENT = [
    ("GET", "/", "", 403, 404),  # a directory without an index is as good as none
    ("GET", "/link.txt", "", 403, 404),  # so is a link
    ("GET", "/sub", "", 301, 308),  # a redirect that keeps the method
    ("HEAD", "/a.txt", ranged("bytes=0-1"), 206, 200),  # RFC 9110 section 14.2: ranges are for GET alone
    ("GET", "/x.css", "Accept-Encoding: gzip\r\n" + ranged("bytes=0-1"), 200, 206),  # a coding has ranges too
    ("GET", "/a.txt", ranged("bytes=2-1"), 416, 200),  # what makes no sense is ignored
    ("GET", "/a.txt", ranged("bytes=x"), 416, 200),
]


@pytest.mark.parametrize("case", range(len(DIFFERENT)))
@on_every_loop
async def test_what_differs_is_meant(root, nginx, case):
    *wanted, theirs, ours = DIFFERENT[case]
    app = App()
    app.static("/", root, index="index.html")
    async with served(app) as server:
        found = [(await asked(port, *wanted)).status for port in (nginx, server.port)]
    assert [theirs, ours] == found, wanted
