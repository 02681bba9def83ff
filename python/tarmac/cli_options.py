"""Every option of ``tarmac run``, and what its words mean. Nothing is filled in: a default has one home."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import NoReturn

from tarmac.errors import ConfigurationError

__all__ = ["LIMITS", "PROGRAM", "Parser", "add_program", "add_run_options", "named"]

_LAYOUT = argparse.RawDescriptionHelpFormatter
_UNITS = {"": 1, "k": 1024, "kib": 1024, "kb": 1000, "m": 1024**2, "mib": 1024**2, "mb": 10**6}
_UNITS |= {"g": 1024**3, "gib": 1024**3, "gb": 10**9}

EXAMPLES = """\
examples:
  tarmac run hello:app                          serve app of hello.py on http://127.0.0.1:8080
  tarmac run hello:app --reload                 the same, and again whenever a source file changes
  tarmac run shop.web:app --port 0              take a free port and print it
  tarmac run shop.web:app --workers 4 --loop uvloop --max-rss 500MiB --worker-timeout 30
  tarmac run shop.web:app --uds /run/shop.sock --uds-mode 660
  tarmac run site.wsgi:application              Django, Flask, FastAPI and others, as they are
  tarmac run shop.web:app --limit-body-bytes 1MiB --timeout-idle 30

Every option may also stand in tarmac.toml, in [tool.tarmac] of pyproject.toml (workers = 4), or in the
environment (TARMAC_WORKERS=4). The command line goes before the environment, that before the file.
"""


class Parser(argparse.ArgumentParser):
    """An argument parser that knows whose words it reads: the command line's, or another source's."""

    source: str | None = None

    def error(self, message: str) -> NoReturn:
        """Blame the source; the command line is answered with its usage and status 2."""
        if self.source is None:
            super().error(message)
        raise ConfigurationError(f"{self.source}: {message}")


def size(text: str) -> int:
    """Bytes: ``1048576``, ``1024KiB``, ``1MiB`` or ``1M``; ``1MB`` is a million."""
    found = re.fullmatch(r"(\d+)\s*([a-z]*)", text.strip().lower())
    if not found or found[2] not in _UNITS:
        message = f"a size is a number with or without KiB, MiB, GiB, not {text!r}"
        raise argparse.ArgumentTypeError(message)
    return int(found[1]) * _UNITS[found[2]]


def rights(text: str) -> int:
    """The mode of a file in octal digits."""
    if not re.fullmatch(r"(0o?)?[0-7]{3}", text):
        message = f"a mode is three octal digits, such as 660, not {text!r}"
        raise argparse.ArgumentTypeError(message)
    return int(text.removeprefix("0o"), 8)


# option and its older names, Limits argument, type, what it limits
LIMITS: tuple[tuple[tuple[str, ...], str, Callable[[str], int | float], str], ...] = (
    (("--limit-request-line",), "request_line", size, "bytes of the request line (414)"),
    (("--limit-header-count",), "header_count", int, "headers of a request (431)"),
    (("--limit-header-bytes",), "header_bytes", size, "bytes of a request's whole head (431)"),
    (("--limit-body-bytes", "--limit-body"), "body_bytes", size, "bytes of a request's body (413)"),
    (("--limit-in-flight",), "in_flight", int, "pipelined requests of a connection that run at once"),
    (
        ("--limit-queued-bytes", "--limit-queued"),
        "queued_bytes",
        size,
        "bytes of answers a connection may owe before it is not read",
    ),
    (("--limit-connections",), "connections", int, "open connections"),
    (("--limit-body-rate",), "body_rate", int, "bytes per second that a body must come with, at least (0: any)"),
    (("--limit-body-window",), "body_window", size, "bytes of a body in pieces that wait for its handler"),
    (("--limit-ws-message-bytes",), "ws_message_bytes", size, "bytes of a WebSocket message (close code 1009)"),
    (("--limit-ws-queued-bytes",), "ws_queued_bytes", size, "bytes of WebSocket messages that wait for their handler"),
    (("--timeout-handshake",), "handshake_timeout", float, "seconds for TLS and the word of a proxy before it"),
    (("--timeout-header",), "header_timeout", float, "seconds to send a whole head"),
    (("--timeout-body",), "body_timeout", float, "seconds to go on sending a body"),
    (("--timeout-idle",), "idle_timeout", float, "seconds between two requests of a connection"),
    (("--timeout-write",), "write_timeout", float, "seconds to take an answer"),
    (("--timeout-ws-idle",), "ws_idle_timeout", float, "seconds until a silent WebSocket is pinged (0: never)"),
    (("--timeout-ws-ping",), "ws_ping_timeout", float, "seconds to answer that ping"),
    (("--timeout-ws-close",), "ws_close_timeout", float, "seconds to answer the end of a WebSocket"),
)


# What a program is, beside where: the arguments of `tarmac.cli.load`.
PROGRAM = ("interface", "factory", "root_path", "lifespan", "trusted_proxies", "threads")


def add_program(parser: argparse.ArgumentParser) -> None:
    """Which program, where it is, and what it is."""
    parser.add_argument("app", metavar="module:app", nargs="?", help="where the application is")
    parser.add_argument("--app-dir", metavar="FOLDER", help="where to look for the module (here)")
    kinds = ("auto", "tarmac", "asgi", "asgi2", "wsgi")
    parser.add_argument("--interface", choices=kinds, help="what it is, where that cannot be seen (auto)")
    parser.add_argument(
        "--factory", action=argparse.BooleanOptionalAction, help="it is a function that makes the application"
    )
    group = parser.add_argument_group("hosted applications")
    group.add_argument("--root-path", metavar="PATH", help="the prefix that a proxy in front serves it under")
    group.add_argument("--lifespan", choices=("auto", "on", "off"), help="ASGI's start-up and shutdown (auto)")
    group.add_argument(
        "--trusted-proxies",
        action="append",
        metavar="ADDRESS",
        help="a proxy whose X-Forwarded- headers are believed: an address or a network; may be repeated",
    )
    group.add_argument("--threads", type=int, metavar="N", help="threads that run a WSGI application (32)")


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """All that ``tarmac run`` takes."""
    parser.formatter_class = _LAYOUT
    parser.epilog = EXAMPLES
    add_program(parser)
    parser.add_argument("--config", metavar="FILE", help="settings (tarmac.toml, or [tool.tarmac] of pyproject.toml)")
    _add_address(parser.add_argument_group("where to listen"))
    _add_proxy_and_tls(parser.add_argument_group("proxy and TLS"))
    _add_processes(parser.add_argument_group("processes"))
    _add_end(parser.add_argument_group("the end"))
    _add_words(parser.add_argument_group("what it says"))
    group = parser.add_argument_group("limits and timeouts")
    for options, name, kind, meaning in LIMITS:
        unit = {size: "BYTES", int: "N", float: "SECONDS"}[kind]
        group.add_argument(*options, dest=name, type=kind, metavar=unit, help=meaning)


def _add_address(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--host", metavar="ADDRESS", help="address or name (127.0.0.1)")
    group.add_argument("--port", type=int, metavar="N", help="port; 0 takes a free one and prints it (8080)")
    group.add_argument("--uds", metavar="PATH", help="a Unix socket instead")
    group.add_argument("--uds-mode", type=rights, metavar="MODE", help="its rights, such as 660 (as umask has it)")
    group.add_argument("--uds-owner", metavar="USER:GROUP", help="whose it is; either may be left out")
    group.add_argument("--fd", type=int, metavar="NUMBER", help="an inherited socket instead; systemd's are found")
    group.add_argument("--backlog", type=int, metavar="N", help="connections that may wait (2048)")
    group.add_argument(
        "--reuse-port",
        action=argparse.BooleanOptionalAction,
        help="share a port with servers that are not ours (no: a taken port is an error)",
    )


def _add_proxy_and_tls(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--tls-cert", metavar="FILE", help="speak TLS: the certificate and its chain in PEM")
    group.add_argument("--tls-key", metavar="FILE", help="its key, without a passphrase (in the same file)")
    group.add_argument("--tls-client-ca", metavar="FILE", help="authorities that have to have signed clients' own")
    group.add_argument("--tls-minimum", choices=("1.2", "1.3"), help="the oldest version of TLS (1.2)")
    group.add_argument(
        "--proxy-protocol",
        action=argparse.BooleanOptionalAction,
        help="a proxy in front says first whom it speaks for; nobody else may connect",
    )


def _add_processes(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--workers", type=int, metavar="N", help="supervised processes (none: this one serves)")
    group.add_argument("--loop", choices=("asyncio", "uvloop"), help="event loop (asyncio)")
    group.add_argument("--tasks", choices=("light", "plain"), help="how asynchronous handlers are run (light)")
    group.add_argument("--pid-file", metavar="FILE", help="where to write the process id while it serves")
    group.add_argument("--max-requests", type=int, metavar="N", help="replace a worker after so many requests")
    group.add_argument("--max-requests-jitter", type=int, metavar="N", help="and up to so many more (0)")
    group.add_argument("--max-rss", type=size, metavar="BYTES", help="replace a worker that holds more, such as 500MiB")
    group.add_argument(
        "--worker-timeout",
        type=float,
        metavar="SECONDS",
        help="kill and replace a worker whose loop does not turn for so long (never)",
    )
    group.add_argument(
        "--reload",
        action=argparse.BooleanOptionalAction,
        help="replace the workers when a source file changes: for development",
    )
    group.add_argument("--reload-dir", action="append", metavar="FOLDER", help="where (the folder of the program)")


def _add_end(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--timeout-drain",
        "--drain",
        dest="drain",
        type=float,
        metavar="SECONDS",
        help="seconds for running requests at the end (5)",
    )
    group.add_argument(
        "--timeout-shutdown",
        dest="shutdown_timeout",
        type=float,
        metavar="SECONDS",
        help="seconds for the application's own shutdown after that (10)",
    )
    group.add_argument(
        "--drain-delay",
        type=float,
        metavar="SECONDS",
        help="seconds before that in which requests are accepted and the health route answers 503 (0)",
    )


def _add_words(group: argparse._ArgumentGroup) -> None:
    flag = argparse.BooleanOptionalAction
    levels = ("debug", "info", "warning", "error")
    group.add_argument(
        "--access-log",
        metavar="FORMAT",
        help="a line for each request: common, combined, json, or a template such as '{method} {target} {micros}'",
    )
    group.add_argument("--access-log-file", metavar="FILE", help="where: a file, or logging (standard output)")
    group.add_argument("--metrics-port", type=int, metavar="N", help="tell /metrics and /health at a port of their own")
    group.add_argument("--metrics-host", metavar="HOST", help="and address (127.0.0.1)")
    group.add_argument("--log-level", choices=levels, help="what the server's own log tells (info)")
    group.add_argument("--quiet", action=flag, help="do not print the address")
    group.add_argument("--server-header", action=flag, help="send the Server header (yes)")
    group.add_argument("--date-header", dest="date", action=flag, help="send the Date header (yes)")


def named(option: str) -> str:
    """The name of an option in a file or the environment: lower case, with underscores."""
    return option.lstrip("-").replace("-", "_")
