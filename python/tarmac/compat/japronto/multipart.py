"""Reads a multipart form that is in memory already: fields as text, files as ``File``."""

from __future__ import annotations

from email.message import Message
from typing import NamedTuple

__all__ = ["File", "parse_multipart"]


class File(NamedTuple):
    """A file of a form."""

    type: str | None
    body: bytes
    name: str | None


def parse_multipart(body: bytes, boundary: str) -> tuple[dict[str, str], dict[str, File]]:
    """Fields and files by name; the last one of a name counts. Raises ``ValueError`` for what is not a form."""
    delimiter = b"\r\n--" + boundary.encode("latin-1")
    # The first delimiter may stand at the very beginning, without its line break (RFC 2046 section 5.1.1).
    _, *parts = (b"\r\n" + body).split(delimiter)
    fields: dict[str, str] = {}
    files: dict[str, File] = {}
    for number, part in enumerate(parts):
        if part.startswith(b"--"):
            return fields, files
        head, found, content = part.lstrip(b" \t").removeprefix(b"\r\n").partition(b"\r\n\r\n")
        if not found:
            message = f"part {number + 1} of the form has no end of its headers"
            raise ValueError(message)
        _add(_headers(head), content, fields, files)
    message = "the form does not end with its boundary"
    raise ValueError(message)


def _add(headers: Message, content: bytes, fields: dict[str, str], files: dict[str, File]) -> None:
    name = headers.get_param("name", header="Content-Disposition")
    if not isinstance(name, str):
        message = "a part of the form has no name"
        raise ValueError(message)  # noqa: TRY004 - it is the client's text that is wrong
    file_name = headers.get_param("filename", header="Content-Disposition")
    if file_name is None and "Content-Type" not in headers:
        fields[name] = content.decode()
        return
    kind = headers.get_content_type() if "Content-Type" in headers else None
    files[name] = File(kind, content, file_name if isinstance(file_name, str) else None)


def _headers(head: bytes) -> Message:
    headers = Message()
    for line in head.decode().split("\r\n"):
        name, colon, value = line.partition(":")
        if not colon:
            message = f"{line!r} is no header of a form's part"
            raise ValueError(message)
        headers[name.strip()] = value.strip()
    return headers
