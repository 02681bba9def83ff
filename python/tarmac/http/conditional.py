"""Conditional requests: what stands for a version of an answer, and what a request makes of it (RFC 9110 section 13).

::

    return tarmac.conditional(request, tarmac.json(stickers), etag=f"v{version}")

answers 304 to a client that has this version already, 412 to one that changes another, and else the
answer with its ``ETag``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tarmac._native import Response
from tarmac.http.responses import as_response

if TYPE_CHECKING:
    from tarmac._native import Request

__all__ = ["Validators", "conditional", "http_date", "parse_http_date"]

NOT_MODIFIED = 304
PRECONDITION_FAILED = 412
_SAFE = {"GET", "HEAD"}
_TAG = re.compile(r'(W/)?"([\x21\x23-\x7e\x80-\xff]*)"')
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# RFC 9110 section 5.6.7: the one that is sent, and two of old that are read.
_FIXDATE = re.compile(r"\w{3}, (?P<day>\d\d) (?P<month>\w{3}) (?P<year>\d{4}) (?P<time>\d\d:\d\d:\d\d) GMT")
_RFC850 = re.compile(r"\w{6,9}, (?P<day>\d\d)-(?P<month>\w{3})-(?P<year>\d\d) (?P<time>\d\d:\d\d:\d\d) GMT")
_ASCTIME = re.compile(r"\w{3} (?P<month>\w{3}) (?P<day>[ \d]\d) (?P<time>\d\d:\d\d:\d\d) (?P<year>\d{4})")


def conditional(
    request: Request,
    answer: Any,
    *,
    etag: str | None = None,
    weak: bool = False,
    last_modified: datetime | float | None = None,
) -> Response:
    """*answer*, or 304 or 412 where the conditions of *request* say so.

    *answer* is what a handler may return, or a function without arguments that makes it, called only where
    it is needed. *etag* is any text without quotes and blanks; without one, and without *last_modified*, the
    tag is made of the body. ``weak=True`` says that equal tags mean the same to people but not byte for byte.
    *last_modified* is a time with its zone, or seconds since 1970.
    """
    made = None
    if etag is None and last_modified is None:
        made = _made(answer)
        if made.producer is not None:
            message = "an answer that comes in pieces has no version of its own: give etag= or last_modified="
            raise TypeError(message)
        from hashlib import blake2b  # noqa: PLC0415 - slow to import

        etag = blake2b(made.body, digest_size=16).hexdigest()
    if isinstance(last_modified, datetime):
        last_modified = last_modified.timestamp()
    version = Validators(None if etag is None else quoted(etag, weak=weak), last_modified)
    status = version.judge(request)
    response = (made or _made(answer)) if status is None else _without_body(status, made)
    # What has changed something has another version now than the one that was asked about.
    if status is not None or request.method in _SAFE:
        version.mark(response)
    return response


@dataclass(frozen=True, slots=True)
class Validators:
    """What tells one version of an answer from another.

    ``etag`` is quoted, with ``W/`` before it if it is weak; ``last_modified`` is in seconds since 1970.
    """

    etag: str | None = None
    last_modified: float | None = None

    def mark(self, response: Response) -> None:
        """Put the version on *response*."""
        if self.etag is not None:
            response.headers["ETag"] = self.etag
        if self.last_modified is not None:
            response.headers["Last-Modified"] = http_date(self.last_modified)

    def judge(self, request: Request) -> int | None:
        """304 or 412 instead of the answer, in the order of RFC 9110 section 13.2.2; ``None`` for the answer."""
        match = _combined(request, "if-match")
        since = parse_http_date(request.header("if-unmodified-since"))
        if match is not None:
            if not self._is_among(match, strong=True):
                return PRECONDITION_FAILED
        elif since is not None and self.last_modified is not None and int(self.last_modified) > since:
            return PRECONDITION_FAILED
        return self._judge_cached(request)

    def allows_range(self, request: Request) -> bool:
        """Whether If-Range, if it is there, names this very version (RFC 9110 section 13.1.5)."""
        value = request.header("if-range")
        if value is None:
            return True
        if value.endswith('"'):
            return self._is_among(value, strong=True)
        # A weak tag says that the file may change within the second that a date tells.
        known = None if self.last_modified is None or self._is_weak() else int(self.last_modified)
        return known is not None and parse_http_date(value) == known

    def _judge_cached(self, request: Request) -> int | None:
        is_safe = request.method in _SAFE
        none_match = _combined(request, "if-none-match")
        if none_match is not None:
            if not self._is_among(none_match, strong=False):
                return None
            return NOT_MODIFIED if is_safe else PRECONDITION_FAILED
        since = parse_http_date(request.header("if-modified-since"))
        if is_safe and since is not None and self.last_modified is not None and int(self.last_modified) <= since:
            return NOT_MODIFIED
        return None

    def _is_weak(self) -> bool:
        return self.etag is not None and self.etag.startswith("W/")

    def _is_among(self, value: str, *, strong: bool) -> bool:
        """Whether a list of tags names this version (RFC 9110 section 8.8.3.2)."""
        if value.strip() == "*":
            return True
        if self.etag is None or (strong and self._is_weak()):
            return False
        own = self.etag.removeprefix("W/")[1:-1]
        return any(tag == own and not (strong and weak) for weak, tag in _TAG.findall(value))


def quoted(tag: str, *, weak: bool = False) -> str:
    """*tag* as an entity tag. Raises ``ValueError`` for one that cannot stand in quotes."""
    made = f'W/"{tag}"' if weak else f'"{tag}"'
    if not _TAG.fullmatch(made):
        message = f"an entity tag has no quotes, blanks or control characters: {tag!r}"
        raise ValueError(message)
    return made


def http_date(seconds: float) -> str:
    """Seconds since 1970 as ``Sun, 06 Nov 1994 08:49:37 GMT``."""
    time = datetime.fromtimestamp(int(seconds), UTC)
    return f"{_DAYS[time.weekday()]}, {time:%d} {_MONTHS[time.month - 1]} {time:%Y %H:%M:%S} GMT"


def parse_http_date(value: str | None) -> int | None:
    """A date of HTTP in seconds since 1970; ``None`` for anything else, as a condition wants it."""
    found = value and (_FIXDATE.fullmatch(value) or _RFC850.fullmatch(value) or _ASCTIME.fullmatch(value))
    if not found:
        return None
    try:
        month = _MONTHS.index(found["month"]) + 1
        hour, minute, second = map(int, found["time"].split(":"))
        day = (_full_year(found["year"]), month, int(found["day"]))
        return int(datetime(*day, hour, minute, min(second, 59), tzinfo=UTC).timestamp())
    except ValueError:
        return None


def _full_year(year: str) -> int:
    """Two digits mean a year that is not more than fifty years ahead (RFC 9110 section 5.6.7)."""
    if len(year) > 2:  # noqa: PLR2004 - two digits
        return int(year)
    now = datetime.now(UTC).year
    full = now - now % 100 + int(year)
    return full - 100 if full > now + 50 else full


def _combined(request: Request, name: str) -> str | None:
    """All lines of a list as one."""
    lines = request.headers.get_all(name)
    return ", ".join(lines) if lines else None


def _made(answer: Any) -> Response:
    return as_response(answer() if isinstance(answer, Callable) else answer)  # type: ignore[arg-type]


def _without_body(status: int, made: Response | None) -> Response:
    """A 304 repeats the fields that a cache lives by (RFC 9110 section 15.4.5)."""
    if made is None or status != NOT_MODIFIED:
        return Response(None, status=status)
    made.status, made.body, made.content_type = status, None, None
    return made
