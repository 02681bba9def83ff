"""Reads the project's own sources for rules that no compiler knows: Rust without comments, Python imports."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_NOT_CODE = re.compile(
    r"""
      //[^\n]*                          # line comments, documentation too
    | /\*.*?\*/                         # block comments
    | \bb?r(?P<hashes>\#*)".*?"(?P=hashes)  # raw strings
    | b?"(?:\\.|[^"\\])*"               # strings
    | b?'(?:\\[^u]|\\u\{\w+\}|[^\\'])'  # characters, which are not lifetimes
    """,
    re.DOTALL | re.VERBOSE,
)


def rust_code(text: str) -> str:
    """Return Rust source with comments and literals blanked; line numbers stay."""
    return _NOT_CODE.sub(lambda found: "\n" * found[0].count("\n") or " ", text)


def rust_files(crate: str) -> list[Path]:
    """List the sources of one crate."""
    found = sorted((ROOT / "crates" / crate / "src").rglob("*.rs"))
    assert found, f"no sources in crates/{crate}/src"
    return found


def mentions(word: str, text: str) -> list[int]:
    """Return the numbers of the lines whose code matches the regular expression."""
    return [number for number, line in enumerate(rust_code(text).splitlines(), 1) if re.search(word, line)]


def unexplained_unsafe(text: str) -> list[int]:
    """Return the lines with an `unsafe` block or impl that has no `SAFETY:` in the comment above it or on its line.

    `unsafe fn` and `unsafe extern` declare a duty and are explained by their documentation instead.
    """
    lines = text.splitlines()
    return [number for number in mentions(r"\bunsafe\s*(\{|impl\b)", text) if not _explained(lines, number - 1)]


def _explained(lines: list[str], index: int) -> bool:
    if "SAFETY:" in lines[index]:
        return True
    for line in reversed(lines[:index]):
        stripped = line.strip()
        if "SAFETY:" in stripped:
            return True
        # Comments, attributes and the head of the same statement may stand between.
        if not stripped or stripped.endswith((";", "}")):
            return False
    return False


def imported(text: str, module: str = "") -> set[str]:
    """Return the absolute names of all modules and members that Python source imports, `module` being its own name."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _base(node, module)
            names.add(base)
            names.update(f"{base}.{alias.name}" for alias in node.names)
    return names


def _base(node: ast.ImportFrom, module: str) -> str:
    if not node.level:
        return node.module or ""
    package = module.split(".")[: -node.level]
    return ".".join([*package, *([node.module] if node.module else [])])


def python_files(*folders: str) -> list[Path]:
    """List the tracked and new Python files under some folders of the project."""
    patterns = [f"{folder}/**/*.py" for folder in folders] + [f"{folder}/*.py" for folder in folders]
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    return [ROOT / path for path in sorted(set(listed)) if (ROOT / path).is_file()]
