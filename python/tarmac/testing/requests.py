"""A request of a test client as bytes: its target, its headers and a body in one of many forms."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, TypedDict, cast
from urllib.parse import SplitResult, urlencode, urljoin, urlsplit

__all__ = ["RequestOptions", "Sent", "build"]

Pairs = Mapping[str, Any] | Sequence[tuple[str, Any]]
File = bytes | str | BinaryIO | tuple[str, bytes | str | BinaryIO] | tuple[str, bytes | str | BinaryIO, str]
Files = Mapping[str, File] | Sequence[tuple[str, File]]
Body = bytes | str | Pairs | Iterable[bytes] | AsyncIterable[bytes]

_BOUNDARY = "tarmac-testing-boundary"


class RequestOptions(TypedDict, total=False):
    """What every request of a test client takes."""

    params: Pairs  # the query
    headers: Pairs
    cookies: Mapping[str, str]  # for this request alone
    data: Body  # a form for a mapping or pairs; bytes or text as they are; an iterator is sent in chunks
    json: Any
    files: Files  # a form in parts, with the pairs of `data` in it
    follow_redirects: bool
    timeout: float | None  # seconds


@dataclass
class Sent:
    """One request, ready to be sent; it can be sent again to another place."""

    method: str
    url: SplitResult
    headers: list[tuple[str, str]]
    body: bytes | Iterable[bytes] | AsyncIterable[bytes] = b""
    cookies: Mapping[str, str] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether the body is known already."""
        return isinstance(self.body, bytes)

    def head(self, cookies: str) -> bytes:
        """The request line and the headers, with what the client adds."""
        target = (self.url.path or "/") + (f"?{self.url.query}" if self.url.query else "")
        own = {name.lower() for name, _ in self.headers}
        lines = [f"{self.method} {target} HTTP/1.1"]
        if "host" not in own:
            lines.append(f"Host: {self.url.netloc}")
        lines += [f"{name}: {value}" for name, value in self.headers]
        if every := "; ".join(filter(None, [cookies, *(f"{name}={value}" for name, value in self.cookies.items())])):
            lines.append(f"Cookie: {every}")
        if not isinstance(self.body, bytes):
            lines.append("Transfer-Encoding: chunked")
        elif "content-length" not in own and (self.body or self.method in {"POST", "PUT", "PATCH"}):
            lines.append(f"Content-Length: {len(self.body)}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def build(base: str, method: str, url: str, common: Pairs, options: RequestOptions) -> Sent:
    """The request for *url*, which may be a path below *base*."""
    split = urlsplit(urljoin(base, url))
    if params := options.get("params"):
        query = urlencode(_pairs(params), doseq=True)
        split = split._replace(query=f"{split.query}&{query}" if split.query else query)
    split = split._replace(path=_ascii(split.path), query=_ascii(split.query))
    headers = [(name, str(value)) for name, value in _pairs(options.get("headers", {}))]
    own = {name.lower() for name, _ in headers}
    headers += [(name, str(value)) for name, value in _pairs(common) if name.lower() not in own]
    body, content_type = _body(options)
    if content_type and "content-type" not in own:
        headers.append(("Content-Type", content_type))
    return Sent(method.upper(), split, headers, body, options.get("cookies", {}))


def _ascii(part: str) -> str:
    """Percent-encode what no request line can carry; what is encoded already stays."""
    from urllib.parse import quote  # noqa: PLC0415 - for other alphabets only

    return part if part.isascii() and " " not in part else quote(part, safe="/%:@!$&'()*+,;=?~-._")


def _pairs(given: Pairs) -> list[tuple[str, Any]]:
    return list(given.items()) if isinstance(given, Mapping) else list(given)


def _body(options: RequestOptions) -> tuple[bytes | Iterable[bytes] | AsyncIterable[bytes], str | None]:
    """The body, and the type that goes with it."""
    data = options.get("data", b"")
    if "json" in options:
        if data or options.get("files"):
            message = "a request has one body: json, or data and files"
            raise TypeError(message)
        text = json.dumps(options["json"], ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode(), "application/json"
    if files := options.get("files"):
        return _multipart(_form(data) or [], _pairs(files)), f"multipart/form-data; boundary={_BOUNDARY}"
    if isinstance(data, str):
        return data.encode(), "text/plain; charset=utf-8"
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data), None
    pairs = _form(data)
    if pairs is not None:
        return urlencode(pairs, doseq=True).encode(), "application/x-www-form-urlencoded"
    return cast("Iterable[bytes] | AsyncIterable[bytes]", data), None


def _form(data: Body) -> list[tuple[str, Any]] | None:
    """The pairs of a form, if *data* is one."""
    if isinstance(data, Mapping):
        return list(data.items())
    if isinstance(data, (list, tuple)) and all(isinstance(pair, tuple) for pair in data):
        return list(data)
    return None


def _multipart(pairs: list[tuple[str, Any]], files: list[tuple[str, Any]]) -> bytes:
    parts = []
    for name, value in pairs:
        for one in value if isinstance(value, (list, tuple)) else [value]:
            parts.append(_part(f'name="{_quoted(name)}"', None, _bytes(one)))  # noqa: PERF401 - two loops read better
    for name, value in files:
        filename, content, content_type = _file(name, value)
        about = f'name="{_quoted(name)}"; filename="{_quoted(filename)}"'
        parts.append(_part(about, content_type, _bytes(content)))
    return b"".join(parts) + f"--{_BOUNDARY}--\r\n".encode()


def _part(about: str, content_type: str | None, content: bytes) -> bytes:
    lines = [f"--{_BOUNDARY}", f"Content-Disposition: form-data; {about}"]
    if content_type:
        lines.append(f"Content-Type: {content_type}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + content + b"\r\n"


def _file(name: str, value: File) -> tuple[str, bytes | str | BinaryIO, str]:
    if not isinstance(value, tuple):
        return str(getattr(value, "name", name)).rpartition("/")[2], value, "application/octet-stream"
    filename, content, *kind = value
    return filename, content, kind[0] if kind else "application/octet-stream"


def _bytes(content: Any) -> bytes:
    if hasattr(content, "read"):
        content = content.read()
    return content if isinstance(content, bytes) else str(content).encode()


def _quoted(name: str) -> str:
    """A name inside quotes, as browsers write it."""
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
