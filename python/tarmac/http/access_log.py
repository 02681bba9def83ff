"""The access log: what a line looks like, and where it goes. Written by the native core, in batches.

``common`` and ``combined`` are the formats of other servers, ``json`` is one object a line; anything
with braces is a template of one's own: ``{client} "{method} {target}" {status} {micros}``. Clients
choose much of what stands there: control characters, quotes and backslashes are escaped.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass, field

from tarmac._native import AccessLog as NativeLog
from tarmac.errors import ConfigurationError

__all__ = ["FORMATS", "AccessLog"]

_COMMON = '{client} - - [{time}] "{method} {target} HTTP/{version}" {status} {bytes}'
_NUMBERS = ("status", "bytes", "micros")
_TEXTS = ("client", "method", "target", "version", "host", "referer", "user_agent", "request_id")
_JSON = ",".join(
    [
        '"time":"{iso_time}"',
        *(f'"{name}":"{{{name}}}"' for name in _TEXTS),
        *(f'"{name}":{{{name}}}' for name in _NUMBERS),
    ]
)
FORMATS = {
    "common": _COMMON,
    "combined": f'{_COMMON} "{{referer}}" "{{user_agent}}"',
    "json": f"{{{{{_JSON}}}}}",
}
_logger = logging.getLogger("tarmac.access")


@dataclass(frozen=True)
class AccessLog:
    """*format* is a name or a template; *to* is a file, ``-`` for standard output, or ``logging``.

    Lines for ``logging`` go to the logger ``tarmac.access``, each as one message of level INFO.
    """

    format: str = "combined"
    to: str = "-"
    _opened: list[NativeLog] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.format not in FORMATS and "{" not in self.format:
            message = f"an access log is {', '.join(FORMATS)} or a template with {{fields}}, not {self.format!r}"
            raise ConfigurationError(message)
        try:
            NativeLog(self._template, sink=print)  # the template is looked at early
        except ValueError as error:
            raise ConfigurationError(str(error)) from None

    @property
    def _template(self) -> str:
        return FORMATS.get(self.format, self.format)

    def open(self) -> NativeLog:
        """The log of this process; servers of one process share it."""
        if not self._opened:
            json = self.format == "json"
            if self.to == "logging":
                self._opened.append(NativeLog(self._template, json=json, sink=_to_logging))
            else:
                descriptor = self._descriptor()
                self._opened.append(NativeLog(self._template, json=json, fd=descriptor))
                self._close(descriptor)
        return self._opened[0]

    def reopen(self) -> None:
        """The file was moved away: begin a new one of the same name."""
        if self.to not in {"-", "logging"}:
            descriptor = self._descriptor()
            for log in self._opened:
                log.reopen(descriptor)
            self._close(descriptor)

    def _descriptor(self) -> int:
        if self.to == "-":
            return 1
        try:
            return os.open(self.to, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o640)
        except OSError as error:
            message = f"cannot write the access log {self.to}: {error.strerror}"
            raise ConfigurationError(message) from None

    def _close(self, descriptor: int) -> None:
        if self.to != "-":
            os.close(descriptor)


def _to_logging(lines: bytes) -> None:
    for line in lines.decode(errors="replace").splitlines():
        _logger.info("%s", line)
