"""Every Python program that README.md and docs/ show is run by a test; this looks for the call that runs it."""

from __future__ import annotations

import ast
import re

from support import pages
from support.sources import ROOT, python_files

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# What runs the nth block of a page: two fixtures, and `pages.program` for tests that write files of their own.
RUNNERS = {"serve", "run_block", "program"}
# Python in any dress that Markdown and MyST know.
ANY_PYTHON = re.compile(
    r"^[ \t>]*(?:`{3,}|~{3,}|:{3,})[ \t]*(?:\{[\w:-]+\}[ \t]*)?py(?:thon|con)?3?\b", re.MULTILINE | re.IGNORECASE
)


def test_every_program_is_run():
    called = set().union(*(run_in(path.read_text()) for path in python_files("tests/live", "tests/unit")))
    shown = {(path.relative_to(ROOT).as_posix(), number) for path in PAGES for number in range(programs(path))}
    assert shown
    assert [] == sorted(shown - called)


def test_every_program_has_the_fence_that_tests_read():
    """A block in another dress would never be run."""
    assert [] == [path.name for path in PAGES if programs(path) != len(ANY_PYTHON.findall(path.read_text()))]


def test_python_is_known_in_every_dress():
    fences = [
        "```python",
        "```py",
        "  ```python",
        "~~~python3",
        "```{code-block} python",
        ":::{code} python",
        "```pycon",
    ]
    assert [1] * len(fences) == [len(ANY_PYTHON.findall(fence + "\nx = 1\n")) for fence in fences]
    assert [] == ANY_PYTHON.findall("```text\npython\n```\n```{eval-rst}\n```\n")


def test_calls_are_found_by_page_and_number():
    source = """
PAGE = "docs/a.md"
def test(serve, run_block):
    serve(PAGE)
    serve("docs/b.md", 1, old="new")
    run_block(PAGE, 2, {})
    pages.program(PAGE, 3)
    serve(app, port=0)
    other("docs/c.md", 0)
    run_block(unknown(), 0)
"""
    assert {("docs/a.md", 0), ("docs/b.md", 1), ("docs/a.md", 2), ("docs/a.md", 3)} == run_in(source)


def programs(path) -> int:
    return len(pages.BLOCK.findall(path.read_text()))


def run_in(source: str) -> set[tuple[str, int]]:
    """The (page, number) of all programs that a test's source runs; a page is a literal or a constant of the module."""
    tree = ast.parse(source)
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args)
    found = set()
    for call in calls:
        page, number = (literal(argument, constants) for argument in [*call.args, ast.Constant(0)][:2])
        if name_of(call) in RUNNERS and isinstance(page, str) and isinstance(number, int):
            found.add((page, number))
    return found


def literal(node: ast.expr, constants: dict[str, ast.expr]) -> object:
    """The value of a literal, or of a name that the module gives one."""
    known = constants.get(node.id, node) if isinstance(node, ast.Name) else node
    return known.value if isinstance(known, ast.Constant) else None


def name_of(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
