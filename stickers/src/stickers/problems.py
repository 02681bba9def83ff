"""What a visitor reads when something goes wrong: one text per status, never a traceback."""

import json
from typing import Final

from stickers.http import DATA_HEADERS, HTML, JSON, PAGE_HEADERS, PageRequest, PageResponse

_TEXTS: Final = {
    400: ("That was no proper request", "Something in it could not be understood."),
    403: (
        "This vote does not count",
        (
            "The pair was voted on already, has expired, or was not shown to you. "
            "Nothing has changed. A fresh pair is waiting."
        ),
    ),
    404: ("Nothing sticks here", "There is no such page, pack or sticker."),
    405: ("Not like this", "This page cannot be asked in that way."),
    413: ("Too much", "A vote is a very small thing. This was not."),
    429: ("Slow down a little", "Too many from you in too short a time. Try again in a minute."),
    500: ("Our fault", "Something broke here. It has been written down."),
    503: ("The stickers are out for a moment", "The store does not answer. Try again soon."),
}

_MORE_HEADERS: Final = {429: (("Retry-After", "60"),), 503: (("Retry-After", "5"),)}


class Problem(Exception):
    """A page raises it to answer with a status and its text."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def problem_page(request: PageRequest, status: int, extra: tuple[tuple[str, str], ...] = ()) -> PageResponse:
    """JSON for the JSON API, HTML for everything else."""
    title, text = _TEXTS[status]
    headers = (*_MORE_HEADERS.get(status, ()), *extra)
    if request.path.startswith("/stickers"):
        body = json.dumps({"error": title, "status": status}).encode()
        return PageResponse(body, status, JSON, (*DATA_HEADERS, *headers))
    body = request.site.templates.render("problem", page="problem", title=title, text=text, status=status)
    return PageResponse(body, status, HTML, (*PAGE_HEADERS, *headers))
