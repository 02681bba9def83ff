"""Every exception of tarmac outside the database, in one tree.

::

    TarmacError
    ├── ConfigurationError      the program is put together wrongly: a route, a hook, an address
    │   └── NoSuchRoute         a URL was asked for by a name that no route has
    ├── HTTPError               raised by a handler, answered with its status
    │   ├── BadRequest               400
    │   ├── Unauthorized             401
    │   ├── Forbidden                403
    │   ├── NotFound                 404
    │   ├── MethodNotAllowed         405
    │   ├── NotAcceptable            406
    │   ├── Conflict                 409
    │   ├── Gone                     410
    │   ├── PreconditionFailed       412
    │   ├── ContentTooLarge          413
    │   ├── UnsupportedMediaType     415
    │   ├── UnprocessableContent     422
    │   │   └── InvalidInput              with the places that are wrong
    │   ├── TooManyRequests          429
    │   ├── InternalServerError      500
    │   └── ServiceUnavailable       503
    ├── Disconnected            the client has gone: nobody reads what is written, or nothing more comes
    │   └── WebSocketClosed     a WebSocket has ended, with a code and a reason
    └── TarantoolError          see tarmac.tarantool.errors
"""

from collections.abc import Mapping
from typing import Any, ClassVar

__all__ = [
    "BadRequest",
    "ConfigurationError",
    "Conflict",
    "ContentTooLarge",
    "Disconnected",
    "Forbidden",
    "Gone",
    "HTTPError",
    "InternalServerError",
    "InvalidInput",
    "MethodNotAllowed",
    "NoSuchRoute",
    "NotAcceptable",
    "NotFound",
    "PreconditionFailed",
    "ServiceUnavailable",
    "TarmacError",
    "TooManyRequests",
    "Unauthorized",
    "UnprocessableContent",
    "UnsupportedMediaType",
    "WebSocketClosed",
]


class TarmacError(Exception):
    """The root of everything that tarmac raises on its own account."""


class ConfigurationError(TarmacError):
    """The program is put together wrongly; the message says what to change."""


class NoSuchRoute(ConfigurationError, LookupError):
    """No route has that name."""


class Disconnected(TarmacError, ConnectionError):
    """The client has gone: nobody reads what is written, or nothing more of a body comes."""


class WebSocketClosed(Disconnected):
    """A WebSocket has ended: nothing more is received, and nothing is sent.

    *code* is a close code of RFC 6455 section 7.4: 1000 for a good end, 1001 when the client or the server
    goes, 1005 when the client gave none, 1006 when it left without a word. *reason* is what came with it.
    """

    def __init__(self, code: int, reason: str = "") -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason

    def __str__(self) -> str:
        return f"the WebSocket was closed: {self.code} {self.reason}".rstrip()


class HTTPError(TarmacError):
    """An answer by exception: ``raise HTTPError(418, "I am a teapot")``.

    *detail* becomes the body as plain text; without one the reason phrase of the status does.
    *headers* are added to the answer.
    """

    default_status: ClassVar[int | None] = None

    def __init__(self, status: int, detail: str | None = None, *, headers: Mapping[str, str] | None = None) -> None:
        if not 400 <= status <= 599:  # noqa: PLR2004 - RFC 9110 section 15: the classes of errors
            message = f"an HTTPError has a status from 400 to 599, not {status}"
            raise ValueError(message)
        super().__init__(status, detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})

    def __str__(self) -> str:
        return f"{self.status} {self.text}"

    @property
    def text(self) -> str:
        """The detail, or the reason phrase of the status."""
        return self.detail if self.detail is not None else reason_phrase(self.status)


class _Fixed(HTTPError):
    """An HTTPError whose class says the status: ``raise NotFound("no such sticker")``."""

    default_status: ClassVar[int]

    def __init__(self, detail: str | None = None, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(self.default_status, detail, headers=headers)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (type(self), self.detail, self.headers))


class BadRequest(_Fixed):
    """400: the request cannot be understood."""

    default_status = 400


class Unauthorized(_Fixed):
    """401: say who you are."""

    default_status = 401


class Forbidden(_Fixed):
    """403: known, and not allowed."""

    default_status = 403


class NotFound(_Fixed):
    """404: nothing is there."""

    default_status = 404


class MethodNotAllowed(_Fixed):
    """405: pass ``headers={"Allow": ...}``."""

    default_status = 405


class NotAcceptable(_Fixed):
    """406: no representation that the client accepts."""

    default_status = 406


class Conflict(_Fixed):
    """409: the state of the resource forbids it."""

    default_status = 409


class Gone(_Fixed):
    """410: it was there and will not come back."""

    default_status = 410


class PreconditionFailed(_Fixed):
    """412: an If-... header does not hold."""

    default_status = 412


class ContentTooLarge(_Fixed):
    """413: the body is larger than allowed."""

    default_status = 413


class UnsupportedMediaType(_Fixed):
    """415: the body is of a type that is not read here."""

    default_status = 415


class UnprocessableContent(_Fixed):
    """422: well formed, and makes no sense."""

    default_status = 422


class InvalidInput(UnprocessableContent):
    """422: a body or a query is not what its model says.

    ``problems`` is a list of ``{"where": "$.todos[0].text", "problem": "..."}``; the answer carries it as JSON.
    """

    def __init__(self, problems: list[dict[str, str]], detail: str = "the request is not what it has to be") -> None:
        super().__init__(detail)
        self.problems = problems

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.problems, self.detail))


class TooManyRequests(_Fixed):
    """429: slow down; pass ``headers={"Retry-After": ...}``."""

    default_status = 429


class InternalServerError(_Fixed):
    """500: a defect of the program."""

    default_status = 500


class ServiceUnavailable(_Fixed):
    """503: not now."""

    default_status = 503


def reason_phrase(status: int) -> str:
    """The reason phrase of *status*, or ``Error`` for one without a name."""
    from http import HTTPStatus  # noqa: PLC0415 - keeps `import tarmac` quick

    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"


def _restore(kind: type[_Fixed], detail: str | None, headers: dict[str, str]) -> _Fixed:
    return kind(detail, headers=headers)
