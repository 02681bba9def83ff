"""The command line: ``tarmac run module:app``, and what helps to get there."""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
import sys
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from tarmac import __version__
from tarmac.cli_config import given, settle
from tarmac.cli_options import LIMITS, PROGRAM, Parser, add_program, add_run_options
from tarmac.errors import ConfigurationError

if TYPE_CHECKING:
    from tarmac.hosting import Interface
    from tarmac.http.app import App
    from tarmac.http.tls import TLS

__all__ = ["load", "main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; exits with 2 for a wrong command and 1 for a program that cannot be served."""
    words = _parser().parse_args(arguments)
    command: Callable[[dict[str, Any]], None] = words.command
    del words.command
    try:
        command(given(words))
    except ConfigurationError as error:
        _fail(str(error))
    except OSError as error:
        _fail(str(error) if error.filename or not error.strerror else error.strerror)


def load(
    target: str, *, folder: str = ".", interface: Interface = "auto", factory: bool = False, **hosting: Any
) -> App:
    """The application that ``module:attribute`` names; the attribute may have dots.

    *folder* is put first on the import path. With *factory* the attribute is called to make the application.
    An ASGI or WSGI application is hosted, with the options of ``tarmac.hosting.Hosted``. Raises
    ``ConfigurationError`` saying what is missing.
    """
    from tarmac.hosting import adapt  # noqa: PLC0415 - --help and a wrong command stay quick

    module_name, colon, attribute = target.partition(":")
    if not module_name or not colon or not attribute:
        message = f"say module:app, such as hello:app, not {target!r}"
        raise ConfigurationError(message)
    sys.path.insert(0, os.path.abspath(folder))  # noqa: PTH100 - pathlib would be imported for this line alone
    found = _attribute(_module(module_name, folder), attribute)
    if factory:
        found = _made(target, found)
    try:
        return adapt(found, interface, **hosting)
    except ConfigurationError as error:
        message = f"{target}: {error}"
        raise ConfigurationError(message) from None


def _made(target: str, factory: object) -> object:
    if callable(factory):
        return factory()
    message = f"{target} makes no application: it is {type(factory).__name__}, and --factory wants something to call"
    raise ConfigurationError(message)


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


def _run(words: dict[str, Any]) -> None:
    from tarmac.http.run import run_program  # noqa: PLC0415 - see load
    from tarmac.http.settings import Settings  # noqa: PLC0415 - see load
    from tarmac.http.sockets import Address  # noqa: PLC0415 - see load

    options = settle(words, os.environ)
    if "app" not in options:
        message = "say which application: tarmac run module:app"
        raise ConfigurationError(message)
    _begin_log(options.get("log_level", "info"))
    address = Address(**_those_of(Address, options))
    options["access_log"] = _access_log(options)
    settings = Settings(limits=_limits(options), tls=_tls(options), **_those_of(Settings, options), **_headers(options))
    program = partial(load, options["app"], **_program(options))
    run_program(program, address, settings, options.get("workers"), changed=_watcher(options))


def _tls(options: dict[str, Any]) -> TLS | None:
    words = {name.removeprefix("tls_"): options[name] for name in options if name.startswith("tls_")}
    if not words:
        return None
    if "cert" not in words:
        message = "TLS needs a certificate: --tls-cert FILE --tls-key FILE"
        raise ConfigurationError(message)
    from tarmac.http.tls import TLS  # noqa: PLC0415 - for servers that speak TLS

    return TLS(**words)


def _access_log(options: dict[str, Any]) -> Any:
    if not {"access_log", "access_log_file"} & options.keys():
        return None
    from tarmac.http.access_log import AccessLog  # noqa: PLC0415 - off by default

    return AccessLog(options.get("access_log", "combined"), options.get("access_log_file", "-"))


def _watcher(options: dict[str, Any]) -> Callable[[], bool] | None:
    if not options.get("reload"):
        return None
    from tarmac.http.reloading import Watcher  # noqa: PLC0415 - for development only

    return Watcher(options.get("reload_dir") or [options.get("app_dir", ".")])


def _program(options: dict[str, Any]) -> dict[str, Any]:
    """What ``load`` wants to know beside the name."""
    found = {name: options[name] for name in PROGRAM if name in options}
    return {"folder": options.get("app_dir", "."), **found}


def _those_of(kind: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The options that a dataclass has a field for: its names are the command line's."""
    return {one.name: options[one.name] for one in fields(kind) if one.name in options}


def _headers(options: dict[str, Any]) -> dict[str, Any]:
    return {} if options.get("server_header", True) else {"server_name": None}


def _limits(options: dict[str, Any]) -> Any:
    from tarmac._native import Limits  # noqa: PLC0415 - see load

    try:
        return Limits(**{name: options[name] for _, name, _, _ in LIMITS if name in options})
    except (ValueError, OverflowError) as error:
        message = f"wrong limit: {error}"
        raise ConfigurationError(message) from None


def _begin_log(level: str) -> None:
    import logging  # noqa: PLC0415 - see load

    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("tarmac").setLevel(level.upper())


def _routes(words: dict[str, Any]) -> None:
    app = _loaded(words)
    rows = [("method", "pattern", "name", "handler")]
    rows += [(route.method, route.pattern, route.name, _place(route.endpoint)) for route in app.routes]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        print("  ".join([*cells, row[3]]))  # noqa: T201 - the command line speaks


def _place(endpoint: Callable[..., Any]) -> str:
    """Where a handler is written."""
    inner = inspect.unwrap(endpoint)
    while isinstance(inner, partial):
        inner = inner.func
    code = getattr(inner, "__code__", None)
    name = f"{getattr(inner, '__module__', '?')}.{getattr(inner, '__qualname__', type(inner).__qualname__)}"
    return f"{name}:{code.co_firstlineno}" if code is not None else name


def _check(words: dict[str, Any]) -> None:
    app = _loaded(words)
    app.native_router()  # every route is looked at as a server would
    print(f"ok: {len(app.routes)} routes")  # noqa: T201 - the command line speaks


def _loaded(words: dict[str, Any]) -> App:
    options = settle(words, os.environ)
    if "app" not in options:
        message = "say which application: module:app"
        raise ConfigurationError(message)
    return load(options["app"], **_program(options))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("tarmac", description="HTTP/1.1 server for Python.")
    parser.add_argument("--version", action="version", version=f"tarmac {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command", parser_class=Parser)
    run = commands.add_parser("run", help="serve an application", description="Serve an application.")
    add_run_options(run)
    run.set_defaults(command=_run)
    for name, what, command in (
        ("routes", "Print the table of an application's routes.", _routes),
        ("check", "Load an application and look at every route, without serving it.", _check),
    ):
        other = commands.add_parser(name, help=what[0].lower() + what[1:-1], description=what)
        add_program(other)
        other.set_defaults(command=command)
    return parser


def _fail(message: str) -> NoReturn:
    print(f"tarmac: {message}", file=sys.stderr)  # noqa: T201 - the command line speaks
    raise SystemExit(1)
