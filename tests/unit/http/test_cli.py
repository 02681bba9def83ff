"""The command line finds an application, or says what is wrong."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from tarmac import ConfigurationError
from tarmac.cli import load, main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAM = """
import tarmac
class Site: app = tarmac.App()
app = tarmac.App()
number = 7
async def asgi(scope, receive, send): ...
class AsgiObject:
    async def __call__(self, scope, receive, send): ...
asgi_object = AsgiObject()
def wsgi(environ, start_response): ...
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Give a folder with a program; the import system forgets it afterwards."""
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "broken.py").write_text("import a_module_that_is_not_there")
    path = list(sys.path)
    yield tmp_path
    sys.path[:] = path
    for name in ("program", "broken"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("target", ["program:app", "program:Site.app"])
def test_an_application_is_found(folder, target):
    assert type(load(target, folder=str(folder))).__name__ == "App"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("program", "say module:app"),
        ("program:", "say module:app"),
        ("nothing:app", "no module 'nothing' in .*--app-dir"),
        ("nothing.inner:app", "no module"),
        ("program:nothing", "'program' has no 'nothing'; it has app"),
        ("program:number", "program:number: .* is no application but int"),
    ],
)
def test_what_is_wrong_is_said(folder, target, message):
    with pytest.raises(ConfigurationError, match=message):
        load(target, folder=str(folder))


@pytest.mark.parametrize("target", ["program:asgi", "program:asgi_object", "program:wsgi"])
def test_a_foreign_application_is_hosted(folder, target):
    assert "Hosted" == type(load(target, folder=str(folder))).__name__


def test_a_factory_is_called(folder):
    assert "App" == type(load("program:tarmac.App", folder=str(folder), factory=True)).__name__
    with pytest.raises(ConfigurationError, match="--factory wants something to call"):
        load("program:number", folder=str(folder), factory=True)


def test_a_module_that_cannot_import_something_shows_its_own_error(folder):
    with pytest.raises(ModuleNotFoundError, match="a_module_that_is_not_there"):
        load("broken:app", folder=str(folder))


def test_help_shows_examples(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["run", "--help"])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert "examples:" in printed
    assert "--limit-body" in printed
    assert "--timeout-idle" in printed


def test_a_wrong_program_ends_with_one_line_and_status_1(folder, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["run", "nothing:app", "--app-dir", str(folder)])
    assert ended.value.code == 1
    assert capsys.readouterr().err.startswith("tarmac: there is no module 'nothing'")


def test_a_wrong_option_ends_with_status_2(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["run", "x:app", "--loop", "twisted"])
    assert ended.value.code == 2
    assert "twisted" in capsys.readouterr().err


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.startswith("tarmac 0.")
