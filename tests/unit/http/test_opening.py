"""Files are opened inside a directory or not at all."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from tarmac import errors
from tarmac.http.opening import Folder, OpenedFile, open_file, open_inside, segments_of


@pytest.fixture
def root(tmp_path):
    """Give a directory with `a.txt` and `sub/b.txt`, beside it `secret.txt`, and links of every kind."""
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "a.txt").write_text("a")
    (root / "sub/b.txt").write_text("b")
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.txt").write_text("secret")
    (root / "inner.txt").symlink_to("sub/b.txt")
    (root / "inner").symlink_to("sub")
    (root / "outer.txt").symlink_to("../secret.txt")
    (root / "outer").symlink_to(tmp_path / "outside")
    (root / "up").symlink_to("..")
    (root / "loop").symlink_to("loop")
    return root


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def content(opened: OpenedFile) -> bytes:
    return opened.read(0, 100)


@pytest.mark.parametrize(("path", "expected"), [("a.txt", b"a"), ("sub/b.txt", b"b")])
@pytest.mark.parametrize("follow_links", [False, True])
def test_what_is_inside_is_found(root, path, expected, follow_links):
    assert expected == content(open_inside(root, path, follow_links=follow_links))


@pytest.mark.parametrize(
    "path",
    ["", "/", "sub", "sub/", "none", "none/a.txt", "a.txt/b", "../secret.txt", "sub/../../secret.txt", "sub/../a.txt",
     "./a.txt", "sub//b.txt", "/a.txt", "//a.txt", "a.txt\0", "a\n", "\\a.txt", "..\\secret.txt", "sub\\b.txt",
     "outer.txt", "outer/secret.txt", "up/secret.txt", "up/root/a.txt/..", "loop", "x" * 300, "x/" * 3000 + "x",
     "\udcff"],
)  # fmt: skip
@pytest.mark.parametrize("follow_links", [False, True])
def test_nothing_else_is(root, path, follow_links):
    with pytest.raises(errors.NotFound):
        open_inside(root, path, follow_links=follow_links)


@pytest.mark.parametrize("path", ["inner.txt", "inner/b.txt"])
def test_links_inside_are_followed_only_where_that_is_wanted(root, path):
    assert b"b" == content(open_inside(root, path, follow_links=True))
    with pytest.raises(errors.NotFound):
        open_inside(root, path)


def test_the_root_itself_may_be_a_link(root, tmp_path):
    (tmp_path / "current").symlink_to("root")
    for follow_links in (False, True):
        assert b"b" == content(open_inside(tmp_path / "current", "sub/b.txt", follow_links=follow_links))


def test_a_directory_that_becomes_a_link_leads_nowhere(root, tmp_path, monkeypatch):
    """A directory is swapped for a link between two steps of the way."""
    real = os.open

    def swapped(path, flags, *arguments: Any, **named: Any):
        if path == "b.txt":
            (root / "sub").rename(root / "gone")
            (root / "sub").symlink_to(tmp_path / "outside")
        return real(path, flags, *arguments, **named)

    monkeypatch.setattr(os, "open", swapped)
    assert b"b" == content(open_inside(root, "sub/b.txt"))
    assert (root / "gone").is_dir()
    with pytest.raises(errors.NotFound):
        open_inside(root, "sub/secret.txt")


def test_a_resolved_link_that_changes_leads_nowhere(root, tmp_path, monkeypatch):
    """What was a directory inside when the path was resolved is a link outside when it is opened."""
    (root / "sub/secret.txt").write_text("harmless")
    resolve = os.path.realpath

    def swapped(path, **named: Any):
        found = resolve(path, **named)
        if str(path).endswith("secret.txt"):
            (root / "sub").rename(root / "gone")
            (root / "sub").symlink_to(tmp_path / "outside")
        return found

    monkeypatch.setattr(os.path, "realpath", swapped)
    with pytest.raises(errors.NotFound):
        open_inside(root, "sub/secret.txt", follow_links=True)


def test_only_regular_files_are_files(root):
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root / "socket"))
        for name in ("pipe", "socket", "sub"):
            with pytest.raises(errors.NotFound):
                open_inside(root, name)
    for path in ("/dev/null", root, root / "none"):
        with pytest.raises(errors.NotFound):
            open_file(path)


def test_a_refused_permission_is_forbidden(root, monkeypatch):
    def refuse(*_arguments: Any, **_named: Any):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(errors.Forbidden):
        open_file(root / "a.txt")


def test_other_troubles_are_not_hidden(root, monkeypatch):
    def fail(*_arguments: Any, **_named: Any):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(os, "open", fail)
    with pytest.raises(OSError, match="Too many"):
        open_file(root / "a.txt")


def test_nothing_stays_open(root):
    before = open_descriptors()
    for path in ("a.txt", "sub/b.txt", "sub/none", "outer/secret.txt", "sub"):
        for follow_links in (False, True):
            try:
                open_inside(root, path, follow_links=follow_links)
            except errors.NotFound:
                continue
    assert before == open_descriptors()


def test_a_settled_file_has_a_strong_tag(root):
    os.utime(root / "a.txt", ns=(1, 784111777_000000123))
    validators = open_file(root / "a.txt").validators()
    assert (f'"{784111777_000000123:x}-1"', 784111777) == (validators.etag, int(validators.last_modified))
    assert open_file(root / "a.txt").validators("-br").etag == f'"{784111777_000000123:x}-1-br"'


def test_a_file_that_changed_just_now_has_a_weak_tag(root):
    (root / "a.txt").write_text("x")
    tag = open_file(root / "a.txt").validators().etag
    assert tag is not None
    assert tag.startswith('W/"')


def test_a_file_of_tomorrow_is_of_now(root):
    tomorrow = time.time() + 86400
    os.utime(root / "a.txt", (tomorrow, tomorrow))
    validators = open_file(root / "a.txt").validators()
    assert (validators.etag or "").startswith("W/")
    assert (validators.last_modified or tomorrow) <= time.time()


def test_what_the_kernel_has_is_read_at_once(root):
    opened = open_file(root / "a.txt")
    assert b"a" == opened.read(0, 10)
    assert b"a" == opened.read_soon(0, 10)
    assert b"" == opened.read_soon(5, 10)


def test_segments_are_names():
    assert ([], ["a"], ["a", "b"], ["a"]) == tuple(map(segments_of, ["", "a", "a/b", "a/"]))
    assert isinstance(Folder.of("/"), Folder)
