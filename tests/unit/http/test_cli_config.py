"""Where the settings of `tarmac run` come from, and which source goes before which."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import pytest
import tarmac
from tarmac import ConfigurationError
from tarmac.cli_config import settle
from tarmac.cli_options import LIMITS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    """Give the folder that the command runs in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_line_goes_before_the_environment_and_that_before_the_file(folder):
    (folder / "tarmac.toml").write_text("workers = 2\nport = 1000\nbacklog = 7\n")
    environment = {"TARMAC_WORKERS": "3", "TARMAC_PORT": "2000", "OTHER": "x", "TARMAC_TASKS": "plain"}
    settled = settle({"workers": 4}, environment)
    assert {"workers": 4, "port": 2000, "backlog": 7} == {
        name: settled[name] for name in ("workers", "port", "backlog")
    }


def test_every_kind_of_value_is_read_from_a_file(folder):
    (folder / "tarmac.toml").write_text(
        'app = "shop.web:app"\nmax-rss = "500MiB"\nlimit_body_bytes = 1000\ntimeout-idle = 2.5\n'
        'reload = false\nserver-header = false\nquiet = true\nreload-dir = ["a", "b"]\nuds-mode = "660"\n'
    )
    assert {
        "app": "shop.web:app",
        "max_rss": 500 * 1024**2,
        "body_bytes": 1000,
        "idle_timeout": 2.5,
        "reload": False,
        "server_header": False,
        "quiet": True,
        "reload_dir": ["a", "b"],
        "uds_mode": 0o660,
    } == settle({}, {})


def test_the_projects_own_table_is_found(folder):
    (folder / "pyproject.toml").write_text("[tool.tarmac]\nworkers = 5\n[tool.other]\nworkers = 6\n")
    assert {"workers": 5} == settle({}, {})
    (folder / "tarmac.toml").write_text("workers = 7\n")
    assert {"workers": 7} == settle({}, {})
    (folder / "chosen.toml").write_text("workers = 8\n")
    assert 8 == settle({"config": "chosen.toml"}, {})["workers"]
    assert 8 == settle({}, {"TARMAC_CONFIG": "chosen.toml"})["workers"]


@pytest.mark.parametrize(
    ("file", "environment", "message"),
    [
        ("workres = 2", {}, r"tarmac.toml: there is no option 'workres'; did you mean workers\?"),
        ("workers = 'two'", {}, "tarmac.toml: argument --workers: invalid int value: 'two'"),
        ("reload = 'maybe'", {}, "tarmac.toml: .*--reload"),
        ("loop = 'twisted'", {}, "tarmac.toml: argument --loop: invalid choice"),
        ("max-rss = '5 parsecs'", {}, "tarmac.toml: argument --max-rss: a size is a number"),
        ("uds-mode = '9'", {}, "tarmac.toml: argument --uds-mode: a mode is three octal digits"),
        ("= 1", {}, "tarmac.toml: "),
        ("", {"TARMAC_WORKERS": "two"}, "TARMAC_WORKERS: argument --workers: invalid int value: 'two'"),
        ("", {"TARMAC_RELOAD": "maybe"}, "TARMAC_RELOAD: say true or false, not 'maybe'"),
        ("", {"TARMAC_CONFIG": "nowhere.toml"}, "cannot read nowhere.toml: No such file"),
    ],
)
def test_what_is_wrong_is_blamed_on_its_source(folder, file, environment, message):
    (folder / "tarmac.toml").write_text(file)
    with pytest.raises(ConfigurationError, match=message):
        settle({}, environment)


@pytest.mark.parametrize(("word", "truth"), [("1", True), ("Yes", True), ("off", False), ("false", False)])
def test_flags_of_the_environment_are_words(folder, word, truth):
    assert {"quiet": truth} == settle({}, {"TARMAC_QUIET": word})


def test_every_limit_has_an_option_of_its_name():
    """Who knows one knows the other: `body_bytes` is `--limit-body-bytes`, `idle_timeout` is `--timeout-idle`."""
    expected = {
        f"--timeout-{name.removesuffix('_timeout')}" if name.endswith("_timeout") else f"--limit-{name}"
        for name in inspect.signature(tarmac.Limits).parameters
    }
    assert {option.replace("_", "-") for option in expected} == {options[0] for options, *_ in LIMITS}
