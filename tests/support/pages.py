"""The programs of the documentation: a page's Python block, running as a process of its own."""

from __future__ import annotations

import re
import urllib.error
import urllib.parse
import urllib.request
from typing import TYPE_CHECKING

from support.sources import ROOT

if TYPE_CHECKING:
    from support.process import Process

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Service:
    """A program of a page, running."""

    def __init__(self, port: int, process: Process) -> None:
        self.process = process
        self.base = f"http://127.0.0.1:{port}"

    def ask(self, path: str, **form: str) -> tuple[int, str]:
        """Status and text; POST where there are fields of a form. Redirects are not followed."""
        return self.send("POST" if form else "GET", path, urllib.parse.urlencode(form).encode() if form else None)

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, str]:
        """Status and text of any request."""
        request = urllib.request.Request(self.base + path, body, headers, method=method)  # noqa: S310 - our own server
        try:
            with urllib.request.build_opener(Unredirected).open(request, timeout=5) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()


class Unredirected(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Leave a redirect to the test."""


def program(page: str, number: int, **replaced: str) -> str:
    """The page's nth Python block with some of its text replaced."""
    text: str = BLOCK.findall((ROOT / page).read_text())[number]
    for old, new in replaced.items():
        assert old in text
        text = text.replace(old, new)
    return text
