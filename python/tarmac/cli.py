"""The command line: ``tarmac run module:app``."""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
import sys
from typing import TYPE_CHECKING, NoReturn

from tarmac import __version__
from tarmac.errors import ConfigurationError

if TYPE_CHECKING:
    from tarmac._native import Limits
    from tarmac.http.app import App

__all__ = ["load", "main"]

_EXAMPLES = """\
examples:
  tarmac run hello:app                          serve app of hello.py on http://127.0.0.1:8080
  tarmac run shop.web:app --port 0              take a free port and print it
  tarmac run shop.web:app --workers 4 --loop uvloop
  tarmac run shop.web:app --uds /run/shop.sock
  tarmac run shop.web:app --limit-body 1048576 --timeout-idle 30
"""

# option, Limits argument, what it limits
_LIMITS = (
    ("--limit-request-line", "request_line", "bytes of the request line (414)"),
    ("--limit-header-count", "header_count", "headers of a request (431)"),
    ("--limit-header-bytes", "header_bytes", "bytes of a request's whole head (431)"),
    ("--limit-body", "body_bytes", "bytes of a request's body (413)"),
    ("--limit-in-flight", "in_flight", "pipelined requests of a connection that run at once"),
    ("--limit-queued", "queued_bytes", "bytes of answers a connection may owe before it is not read"),
    ("--limit-connections", "connections", "open connections"),
)
_TIMEOUTS = (
    ("--timeout-header", "header_timeout", "to send a whole head"),
    ("--timeout-body", "body_timeout", "to go on sending a body"),
    ("--timeout-idle", "idle_timeout", "between two requests of a connection"),
    ("--timeout-write", "write_timeout", "to take an answer"),
)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; exits with 2 for a wrong command and 1 for a program that cannot be served."""
    options = _parser().parse_args(arguments)
    try:
        app = load(options.app, folder=options.app_dir)
        _serve(app, options)
    except (ConfigurationError, OSError) as error:
        _fail(str(error))


def load(target: str, *, folder: str = ".") -> App:
    """The application that ``module:attribute`` names; the attribute may have dots.

    *folder* is put first on the import path. Raises ``ConfigurationError`` saying what is missing.
    """
    from tarmac.http.app import App  # noqa: PLC0415 - --help and a wrong command stay quick

    module_name, colon, attribute = target.partition(":")
    if not module_name or not colon or not attribute:
        message = f"say module:app, such as hello:app, not {target!r}"
        raise ConfigurationError(message)
    sys.path.insert(0, os.path.abspath(folder))  # noqa: PTH100 - pathlib would be imported for this line alone
    found = _attribute(_module(module_name, folder), attribute)
    if isinstance(found, App):
        return found
    raise ConfigurationError(_why_not(target, found))


def _module(name: str, folder: str) -> object:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name == error.name or name.startswith(error.name + ".")):
            raise  # the module is there; one that it imports is not
        message = f"there is no module {name!r} in {os.path.abspath(folder)}; --app-dir says where to look"  # noqa: PTH100
        raise ConfigurationError(message) from None


def _attribute(module: object, path: str) -> object:
    found = module
    for name in path.split("."):
        try:
            found = getattr(found, name)
        except AttributeError:
            message = f"module {getattr(module, '__name__', module)!r} has no {path!r}{_suggestion(module)}"
            raise ConfigurationError(message) from None
    return found


def _suggestion(module: object) -> str:
    from tarmac.http.app import App  # noqa: PLC0415 - see load

    names = [name for name, value in vars(module).items() if isinstance(value, App)]
    return f"; it has {' and '.join(names)}" if names else ""


def _why_not(target: str, found: object) -> str:
    call = found if inspect.isroutine(found) else getattr(type(found), "__call__", None)  # noqa: B004
    if callable(found) and call is not None:
        wanted = [name for name in inspect.signature(found).parameters if name != "self"]
        if wanted[:3] == ["scope", "receive", "send"] or inspect.iscoroutinefunction(call):
            return f"{target} looks like an ASGI application: hosting ASGI comes with a later release"
        if len(wanted) == 2:  # noqa: PLR2004 - environ and start_response, whatever they are called
            return f"{target} looks like a WSGI application: hosting WSGI comes with a later release"
    return f"{target} is not a tarmac.App but {type(found).__name__}"


def _serve(app: App, options: argparse.Namespace) -> None:
    from tarmac.http.run import run  # noqa: PLC0415 - see load

    run(
        app,
        host=options.host,
        port=options.port,
        uds=options.uds,
        fd=options.fd,
        backlog=options.backlog,
        workers=options.workers,
        loop=options.loop,
        drain=options.timeout_drain,
        limits=_limits(options),
        server_name=None if options.no_server_header else "tarmac",
        date=not options.no_date_header,
    )


def _limits(options: argparse.Namespace) -> Limits:
    from tarmac._native import Limits  # noqa: PLC0415 - see load

    names = [name for _, name, _ in (*_LIMITS, *_TIMEOUTS)]
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    return Limits(**given)


def _parser() -> argparse.ArgumentParser:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("tarmac", description="HTTP/1.1 server for Python.")
    parser.add_argument("--version", action="version", version=f"tarmac {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    what = "Serve an application."
    run = commands.add_parser("run", help=what, description=what, epilog=_EXAMPLES, formatter_class=layout)
    run.add_argument("app", metavar="module:app", help="where the tarmac.App is")
    run.add_argument("--app-dir", default=".", metavar="FOLDER", help="where to look for the module (here)")
    _add_address(run.add_argument_group("where to listen"))
    _add_process(run.add_argument_group("processes"))
    _add_limits(run.add_argument_group("limits and timeouts"))
    return parser


def _add_address(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--host", default="127.0.0.1", help="address or name (127.0.0.1)")
    group.add_argument("--port", type=int, default=8080, help="port; 0 takes a free one and prints it (8080)")
    group.add_argument("--uds", metavar="PATH", help="a Unix socket instead")
    group.add_argument("--fd", type=int, metavar="NUMBER", help="an inherited socket instead")
    group.add_argument("--backlog", type=int, default=2048, metavar="N", help="connections that may wait (2048)")


def _add_process(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--workers", type=int, default=1, metavar="N", help="processes that share the port (1)")
    group.add_argument("--loop", choices=("asyncio", "uvloop"), default="asyncio", help="event loop (asyncio)")
    group.add_argument("--no-server-header", action="store_true", help="leave the Server header out")
    group.add_argument("--no-date-header", action="store_true", help="leave the Date header out")


def _add_limits(group: argparse._ArgumentGroup) -> None:
    for option, name, meaning in _LIMITS:
        group.add_argument(option, dest=name, type=int, metavar="N", help=meaning)
    for option, name, meaning in _TIMEOUTS:
        group.add_argument(option, dest=name, type=float, metavar="SECONDS", help=f"seconds {meaning}")
    group.add_argument(
        "--timeout-drain",
        type=float,
        default=5.0,
        metavar="SECONDS",
        help="seconds for running requests at the end (5)",
    )


def _fail(message: str) -> NoReturn:
    print(f"tarmac: {message}", file=sys.stderr)  # noqa: T201 - the command line speaks
    raise SystemExit(1)
