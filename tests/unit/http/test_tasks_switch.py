"""How asynchronous handlers are run is chosen by a setting, else by the environment."""

from __future__ import annotations

import asyncio
import sys

import pytest
from tarmac import errors
from tarmac.http.settings import Settings
from tarmac.http.tasks import RequestTasks, light_is_possible, way_of_tasks

KNOWN = sys.version_info < (3, 14)


def test_the_setting_goes_before_the_environment(monkeypatch):
    monkeypatch.delenv("TARMAC_TASKS", raising=False)
    default = way_of_tasks()
    monkeypatch.setenv("TARMAC_TASKS", "")
    assert default == way_of_tasks()
    for way, other in (("light", "plain"), ("plain", "light")):
        monkeypatch.setenv("TARMAC_TASKS", way)
        assert way == way_of_tasks()
        assert other == way_of_tasks(other)


@pytest.mark.parametrize("source", ["setting", "environment"])
def test_any_other_word_is_refused(source, monkeypatch):
    if source == "environment":
        monkeypatch.setenv("TARMAC_TASKS", "heavy")
    with pytest.raises(errors.ConfigurationError, match="light or plain, not 'heavy'"):
        Settings(tasks="heavy" if source == "setting" else None)


def test_light_tasks_are_left_where_they_are_not_known(monkeypatch):
    async def main():
        loop = asyncio.get_running_loop()
        assert KNOWN == RequestTasks(loop, "light").light
        assert not RequestTasks(loop, "plain").light
        monkeypatch.setattr("tarmac.http.tasks.Task", asyncio.tasks._PyTask)
        assert not light_is_possible(loop)

    asyncio.run(main())


def test_the_command_line_has_the_switch():
    from tarmac.cli_options import Parser, add_run_options

    parser = Parser()
    add_run_options(parser)
    assert parser.parse_args(["--tasks", "light", "hello:app"]).tasks == "light"
    with pytest.raises(SystemExit):
        parser.parse_args(["--tasks", "heavy", "hello:app"])
