"""A multipart form that is in memory already, as Japronto gave it: fields as text, files as ``File``."""

from __future__ import annotations

from typing import NamedTuple

from tarmac._native import FormReader

__all__ = ["File", "parse_multipart"]


class File(NamedTuple):
    """A file of a form."""

    type: str | None
    body: bytes
    name: str | None


def parse_multipart(body: bytes, content_type: str) -> tuple[dict[str, str], dict[str, File]]:
    """Fields and files by name; the last one of a name counts. Raises ``BadRequest`` for what is not a form."""
    reader = FormReader(content_type)
    fields: dict[str, str] = {}
    files: dict[str, File] = {}
    name, file_name, kind, content = "", None, None, bytearray()
    for event in reader.feed(body):
        if isinstance(event, tuple):
            name, file_name, kind, _ = event
            content = bytearray()
        elif event is not None:
            content += event
        elif file_name is None and kind is None:
            fields[name] = content.decode(errors="replace")
        else:
            files[name] = File(kind, bytes(content), file_name)
    reader.finish()
    return fields, files
