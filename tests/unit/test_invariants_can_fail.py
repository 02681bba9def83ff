"""The readers behind the invariants find what they are there to find."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.sources import imported, mentions, unexplained_unsafe
from unit.test_invariants import IO_OR_CLOCK, READS_CLOCK, dependency_tree, named_for_unsafe


@pytest.mark.parametrize(
    "code",
    [
        "use std::net::TcpStream;",
        "let now = Instant::now();",
        "std::fs::read(path)",
        "fn f(t: SystemTime) {}",
        "use std::net::{Ipv6Addr, TcpStream};",
    ],
)
def test_io_and_clocks_are_found(code):
    assert [1] == mentions(IO_OR_CLOCK, code)


@pytest.mark.parametrize(
    "text",
    [
        "// reads no Instant",
        "text.parse::<std::net::Ipv6Addr>()",
        "/* std::fs\n */",
        'let text = "std::net::";',
        'r#"a "std::net" b"#',
        "fn instant<'a>(x: &'a str) -> char { '\"' } // std::fs",
    ],
)
def test_comments_and_literals_are_not_code(text):
    assert [] == mentions(IO_OR_CLOCK, text)


def test_a_comment_does_not_hide_what_follows():
    assert [2] == mentions(READS_CLOCK, "/* a\n*/ let now = Instant::now(); // why")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("unsafe { f() }", [1]),
        ("// SAFETY: f is fine\nunsafe { f() }", []),
        ("let x = unsafe { f() }; // SAFETY: f is fine", []),
        ("// SAFETY: f\nlet a = 1;\nlet b = unsafe { f() };", [3]),
        ("// SAFETY: f\nlet b =\n    unsafe { f() };", []),
        ("unsafe impl Send for X {}", [1]),
        ("/// # Safety\npub unsafe fn f() {}", []),
    ],
)
def test_unexplained_unsafe_is_found(text, lines):
    assert lines == unexplained_unsafe(text)


@pytest.mark.parametrize(
    ("path", "named"),
    [("src/raw.rs", True), ("src/ffi/task.rs", True), ("src/task_unsafe.rs", True), ("src/draw.rs", False)],
)
def test_files_named_for_unsafe(path, named):
    assert named is named_for_unsafe(Path(path))


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("import tarmac._native", "tarmac._native"),
        ("from tarmac import _native as n", "tarmac._native"),
        ("def f():\n    from tarmac._native import Reactor", "tarmac._native.Reactor"),
        ("from . import _native", "tarmac.http._native"),
        ("from .. import _native", "tarmac._native"),
    ],
)
def test_imports_are_found_wherever_they_stand(code, name):
    assert name in imported(code, "tarmac.http.app")


def test_the_dependency_tree_is_deep():
    """The tree holds what dependencies depend on, or a hidden pyo3 would pass."""
    assert "pyo3-ffi" in dependency_tree()["native"]
