"""What a page is given and what it gives back: the only HTTP that pages know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

if TYPE_CHECKING:
    from stickers.site import Site

Headers = tuple[tuple[str, str], ...]

MOST_BODY: Final = 4096
"""Bytes of a form that an engine may read; a vote needs about 120."""

HTML: Final = "text/html; charset=utf-8"
PLAIN: Final = "text/plain; charset=utf-8"
JSON: Final = "application/json"

_ALWAYS: Final[Headers] = (("X-Content-Type-Options", "nosniff"),)

PAGE_HEADERS: Final[Headers] = (
    *_ALWAYS,
    (
        "Content-Security-Policy",
        (
            "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; "
            "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
    ),
    # Not no-referrer: browsers would then send `Origin: null` with the vote.
    ("Referrer-Policy", "same-origin"),
    # Every page may hold a session or tokens; the back button must draw a new pair.
    ("Cache-Control", "no-store"),
)

DATA_HEADERS: Final[Headers] = (*_ALWAYS, ("Cache-Control", "no-store"))


@dataclass(slots=True)
class PageRequest:
    """One request. `header` looks a header up by name, whatever its case."""

    site: Site
    header: Callable[[str], str | None]
    method: str = "GET"
    path: str = "/"
    query: str = ""
    params: tuple[str, ...] = ()
    address: str = ""
    secure: bool = False
    body: bytes = b""

    def fields(self) -> dict[str, str]:
        """The form in the body; of fields with the same name the first counts."""
        return _first_of_each(self.body.decode("utf-8", "replace"))

    def options(self) -> dict[str, str]:
        """The query string, read the same way."""
        return _first_of_each(self.query) if self.query else {}


@dataclass(slots=True)
class PageResponse:
    """One response; the engine adds `Content-Length`, `Date` and the like."""

    body: bytes
    status: int = 200
    content_type: str = HTML
    headers: Headers = PAGE_HEADERS


def redirect(path: str) -> PageResponse:
    """`303 See Other`: the browser continues with GET."""
    return PageResponse(b"", 303, PLAIN, (*PAGE_HEADERS, ("Location", path)))


def _first_of_each(encoded: str) -> dict[str, str]:
    try:
        pairs = parse_qsl(encoded, keep_blank_values=True, max_num_fields=16, errors="replace")
    except ValueError:  # too many fields: nothing that this site has asked for
        return {}
    return dict(reversed(pairs))
