"""Settings of ``tarmac run`` from three sources, each over the one before: file, environment, command line.

Every source is turned into the words of a command line and read by the same parser: one set of names,
one set of checks.
"""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tarmac.cli_options import Parser, add_run_options, named
from tarmac.errors import ConfigurationError

__all__ = ["settle"]


def settle(given: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    """All options that anybody gave; *given* are those of the command line."""
    in_environment = _from_environment(environment)
    whereabouts = {**in_environment, **given}
    in_file = _from_file(whereabouts.get("config"), Path(whereabouts.get("app_dir") or "."))
    return {**in_file, **in_environment, **given}


def given(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options that were really said."""
    return {name: value for name, value in vars(arguments).items() if value is not None}


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, action in _options().items():
        variable = f"TARMAC_{name.upper()}"
        if (text := environment.get(variable)) is not None:
            value = _truth(variable, text) if _is_flag(action) else text
            found |= _read(variable, _words(name, action, value))
    return found


def _from_file(chosen: str | None, folder: Path) -> dict[str, Any]:
    if chosen is not None:
        return _from_table(chosen, _table(Path(chosen)))
    for path in (Path("tarmac.toml"), folder / "tarmac.toml", Path("pyproject.toml"), folder / "pyproject.toml"):
        if path.is_file() and (table := _table(path)):
            return _from_table(str(path), table)
    return {}


def _table(path: Path) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415 - most programs have no file

    try:
        table = tomllib.loads(path.read_text())
    except OSError as error:
        message = f"cannot read {path}: {error.strerror}"
        raise ConfigurationError(message) from None
    except ValueError as error:
        message = f"{path}: {error}"
        raise ConfigurationError(message) from None
    if path.name == "pyproject.toml" or "tool" in table:
        table = table.get("tool", {}).get("tarmac", {})
    return table


def _from_table(source: str, table: dict[str, Any]) -> dict[str, Any]:
    options = _options()
    found: dict[str, Any] = {}
    for key, value in table.items():
        name = named(key)
        if name == "app":
            found["app"] = str(value)
            continue
        if name not in options:
            near = difflib.get_close_matches(name, options, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            message = f"{source}: there is no option {key!r}{hint}"
            raise ConfigurationError(message)
        found |= _read(source, _words(name, options[name], value))
    return found


def _options() -> dict[str, argparse.Action]:
    """Every option by its name in a file."""
    parser = Parser(add_help=False)
    add_run_options(parser)
    return {
        named(option): action
        for action in parser._actions  # noqa: SLF001 - argparse has no other list of them
        for option in action.option_strings
        if not option.startswith("--no-")
    }


def _is_flag(action: argparse.Action) -> bool:
    return isinstance(action, argparse.BooleanOptionalAction)


def _truth(source: str, text: str) -> bool:
    words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
    if text.lower() not in words:
        message = f"{source}: say true or false, not {text!r}"
        raise ConfigurationError(message)
    return words[text.lower()]


def _words(name: str, action: argparse.Action, value: object) -> list[str]:
    """An option of a file or a variable as it would stand on a command line."""
    option = name.replace("_", "-")
    if _is_flag(action):
        return [f"--{option}" if value is True else f"--no-{option}" if value is False else f"--{option}={value}"]
    values = value if isinstance(value, list) else [value]
    return [f"--{option}={one}" for one in values]


def _read(source: str, words: list[str]) -> dict[str, Any]:
    parser = Parser(add_help=False)
    parser.source = source
    add_run_options(parser)
    return given(parser.parse_args(words))
