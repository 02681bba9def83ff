"""What counts as a change of the program, and when it has come to rest."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tarmac.http.reloading import Watcher

if TYPE_CHECKING:
    from pathlib import Path


def touch(path: Path, time: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, (time, time))


def test_a_change_is_told_once_after_it_has_come_to_rest(tmp_path: Path):
    touch(tmp_path / "shop/web.py", 1)
    changed = Watcher([str(tmp_path)])
    assert [False, False] == [changed(), changed()]
    touch(tmp_path / "shop/web.py", 2)
    assert not changed(), "it may still be being written"
    touch(tmp_path / "shop/other.py", 3)
    assert [False, True, False] == [changed(), changed(), changed()]
    (tmp_path / "shop/other.py").unlink()
    assert [False, True, False] == [changed(), changed(), changed()]


def test_a_change_that_is_taken_back_is_none(tmp_path: Path):
    touch(tmp_path / "web.py", 1)
    changed = Watcher([str(tmp_path)])
    touch(tmp_path / "web.py", 2)
    assert not changed()
    touch(tmp_path / "web.py", 1)
    assert [False, False] == [changed(), changed()]


def test_other_peoples_files_and_products_do_not_count(tmp_path: Path):
    changed = Watcher([str(tmp_path)])
    for name in (".venv/lib/x.py", "node_modules/x.py", "__pycache__/x.py", "data.sqlite", "web.pyc"):
        touch(tmp_path / name, 1)
    assert [False, False] == [changed(), changed()]
    touch(tmp_path / "templates/page.html", 1)
    assert [False, True] == [changed(), changed()]
