"""What an exception of a handler is answered with.

The most derived handler wins: one for the exception's own class before one for its base, and one for
a class before one for a status. A handler that raises the error it was given declines: the next one is
asked. A handler that fails otherwise is answered with a plain 500.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import traceback
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any

from tarmac._native import Response
from tarmac.errors import (
    ConfigurationError,
    Disconnected,
    HTTPError,
    InvalidInput,
    MethodNotAllowed,
    NotFound,
    reason_phrase,
)
from tarmac.http.responses import json, text

if TYPE_CHECKING:
    from tarmac._native import Request

__all__ = ["ErrorHandler", "Failures", "plain"]

ErrorHandler = Callable[["Request", BaseException], Any]

_log = logging.getLogger("tarmac.http")


class Failures:
    """The error handlers of one application."""

    def __init__(self) -> None:
        self._by_type: dict[type[BaseException], ErrorHandler] = {}
        self._by_status: dict[int, ErrorHandler] = {}
        self.debug = False  # whether the client is shown the traceback of a defect
        self.watchers: list[Callable[[BaseException], object]] = []  # called with each defect

    def add(self, what: int | type[BaseException], handler: ErrorHandler) -> None:
        """Let *handler* answer for a status or a class of exceptions."""
        if isinstance(what, int):
            self._by_status[what] = handler
        elif isinstance(what, type) and issubclass(what, BaseException):  # type: ignore[redundant-expr]
            self._by_type[what] = handler
        else:
            message = f"an error handler is for a status or an exception class, not {what!r}"
            raise ConfigurationError(message)

    def expects_unrouted(self) -> bool:
        """Whether the program answers for 404 or 405 itself."""
        return self._find(NotFound()) is not None or self._find(MethodNotAllowed()) is not None

    @property
    def is_empty(self) -> bool:
        """Whether the program answers for nothing itself."""
        return not self._by_type and not self._by_status

    def expects(self, error: BaseException) -> bool:
        """Whether *error* is an answer rather than a defect."""
        return isinstance(error, HTTPError) or self._find(error) is not None

    def answer(self, request: Request, error: BaseException) -> Any:
        """A result for *error*; a coroutine that makes one where the handler is asynchronous.

        Never raises: it is what the server falls back to.
        """
        return self._ask(request, error, self._handlers(error))

    def _ask(self, request: Request, error: BaseException, handlers: Iterator[ErrorHandler]) -> Any:
        for handler in handlers:
            try:
                result = handler(request, error)
            except Exception as second:  # noqa: BLE001 - a broken error handler must not end the server
                if second is error:
                    continue
                return self._default(request, second)
            return self._guarded(request, error, result, handlers) if inspect.iscoroutine(result) else result
        return self._default(request, error)

    def tell(self, error: BaseException) -> None:
        """Let whoever watches know of a defect."""
        for watcher in self.watchers:
            watcher(error)

    async def _guarded(
        self, request: Request, error: BaseException, result: Awaitable[Any], others: Iterator[ErrorHandler]
    ) -> Any:
        try:
            return await result
        except Exception as second:  # noqa: BLE001 - see _ask
            if second is not error:
                return self._default(request, second)
        answer = self._ask(request, error, others)
        return await answer if inspect.iscoroutine(answer) else answer

    def _find(self, error: BaseException) -> ErrorHandler | None:
        return next(self._handlers(error), None)

    def _handlers(self, error: BaseException) -> Iterator[ErrorHandler]:
        """Who may answer for *error*, the one to be asked first in front."""
        for kind in type(error).__mro__:
            if kind in self._by_type:
                yield self._by_type[kind]
            if kind is HTTPError:
                break
        if (handler := self._by_status.get(status_of(error))) is not None:
            yield handler

    def _default(self, request: Request, error: BaseException) -> Response:
        if isinstance(error, InvalidInput):
            return json({"error": error.text, "problems": error.problems}, status=error.status)
        if isinstance(error, HTTPError):
            return text(error.text, status=error.status, headers=error.headers)
        status = status_of(error)
        if status == 500:  # noqa: PLR2004 - the status of a defect
            self.tell(error)
            _log.error("%s %s failed", request.method, request.path, exc_info=error)
            if self.debug:
                return text("".join(traceback.format_exception(error)), status=status)
        return plain(status)


def status_of(error: BaseException) -> int:
    """The status that stands for *error* where nobody has another opinion."""
    if isinstance(error, HTTPError):
        return error.status
    # Who has disconnected reads no status, and leaving is no defect.
    if isinstance(error, (asyncio.CancelledError, KeyboardInterrupt, SystemExit, Disconnected)):
        return 503
    return 500


def plain(status: int) -> Response:
    """The reason phrase of *status* as plain text."""
    return text(reason_phrase(status), status=status)
