"""The invariants of ARCHITECTURE.md, one test each, in its order."""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
from support.sources import ROOT, imported, mentions, python_files, rust_files, unexplained_unsafe

LEAVES = ("http1", "iproto", "websocket", "reactor")
SANS_IO = ("http1", "iproto", "websocket")
CRATES = ("http1", "iproto", "websocket", "reactor", "tls", "peers", "native", "load")
# An IP address is a value: parsing one is no I/O.
IO_OR_CLOCK = r"\b(std::(net(?!::Ip)|fs|io|os|process|thread)|rustix|libc|Instant|SystemTime)\b"
READS_CLOCK = r"\b(Instant::now|SystemTime::now|clock_gettime|UNIX_EPOCH)\b"
# The turn reads both clocks: the steady one in the reactor, the wall's for `Date` where Python enters the turn.
TURN = {"crates/reactor/src/turn.rs", "crates/native/src/turn/reactor_class.rs"}
# The load generator is a program of its own, with clocks at its edges.
CLOCKS = TURN | {f"crates/load/src/{name}.rs" for name in ("main", "null_server", "usage")}
NAMED_FOR_UNSAFE = r"(^|_)(unsafe|raw|ffi)(_|$)"


@cache
def dependency_tree() -> dict[str, set[str]]:
    """Map each crate of the workspace to the names of all packages below it, development apart."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features"]
    answer = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    metadata = json.loads(answer)
    names = {package["id"]: package["name"] for package in metadata["packages"]}
    below = {
        node["id"]: [
            dependency["pkg"]
            for dependency in node["deps"]
            if any(kind["kind"] != "dev" for kind in dependency["dep_kinds"])
        ]
        for node in metadata["resolve"]["nodes"]
    }

    def closure(start: str) -> set[str]:
        seen: set[str] = set()
        ahead = list(below[start])
        while ahead:
            package = ahead.pop()
            if package not in seen:
                seen.add(package)
                ahead.extend(below[package])
        return {names[package] for package in seen}

    return {names[member]: closure(member) for member in metadata["workspace_members"]}


def found_in(crates: tuple[str, ...], word: str, *, exempt: frozenset[str] | set[str] = frozenset()) -> list[str]:
    """Return `file:line` wherever the code of some crates matches."""
    places = []
    for crate in crates:
        for path in rust_files(crate):
            name = path.relative_to(ROOT).as_posix()
            if name not in exempt:
                places += [f"{name}:{line}" for line in mentions(word, path.read_text())]
    return places


@pytest.mark.parametrize("crate", SANS_IO)
def test_1_protocol_crates_do_no_io_and_read_no_clock(crate):
    """`http1`, `iproto` and `websocket` turn bytes into meaning and back, and do nothing else."""
    assert [] == found_in((crate,), IO_OR_CLOCK)
    assert "#![forbid(unsafe_code)]" in (ROOT / "crates" / crate / "src/lib.rs").read_text()
    assert not {name for name in dependency_tree()[crate] if name.startswith("pyo3")}


@pytest.mark.parametrize("leaf", LEAVES)
def test_1_leaves_know_no_other_crate_of_ours(leaf):
    assert not set(CRATES) & dependency_tree()[leaf]


def test_2_the_reactor_knows_no_protocol():
    """The reactor moves bytes for anything that implements `Peer`."""
    assert [] == found_in(("reactor",), r"(?i)(http|iproto|tarantool|msgpack|websocket)")


def test_3_only_native_mentions_pyo3():
    others = tuple(crate for crate in CRATES if crate != "native")
    assert [] == found_in(others, r"\b(pyo3|Python)\b")
    for crate in others:
        assert "pyo3" not in (ROOT / "crates" / crate / "Cargo.toml").read_text()
        assert not {name for name in dependency_tree()[crate] if name.startswith("pyo3")}


def test_3_unsafe_stands_only_in_files_named_for_it():
    """A reviewer finds all unsafe code by its file names."""
    places = found_in(CRATES, r"\bunsafe\b(?!_)")
    assert [] == [place for place in places if not named_for_unsafe(Path(place.split(":")[0]))]


def test_3_every_unsafe_block_says_why_it_is_sound():
    places = []
    for crate in CRATES:
        for path in rust_files(crate):
            places += [f"{path.relative_to(ROOT)}:{line}" for line in unexplained_unsafe(path.read_text())]
    assert [] == places


def named_for_unsafe(path: Path) -> bool:
    """Tell whether a file, or the folder of its module, is named for unsafe code."""
    return any(re.search(NAMED_FOR_UNSAFE, part) for part in (path.stem, path.parent.name))


def test_4_time_is_an_argument_everywhere_except_in_the_turn():
    assert [] == found_in(CRATES, READS_CLOCK, exempt=CLOCKS)


def test_5_the_native_door_is_used_only_inside_the_package():
    outside = python_files("stickers", "races", "examples", "benchmarks", "scripts", "docs")
    assert [] == importers(outside, "tarmac._native")


def test_5_the_lab_imports_nothing_that_it_measures():
    assert [] == importers(python_files("races/src"), "tarmac", "stickers")


def importers(paths: list[Path], *modules: str) -> list[str]:
    """Return which files import one of the modules or something inside them."""
    inside = tuple(f"{module}." for module in modules)
    return [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in paths
        for name in sorted(imported(path.read_text()))
        if f"{name}.".startswith(inside)
    ]


def test_6_no_hand_written_file_is_over_400_lines():
    command = [sys.executable, ROOT / "scripts/file_lengths.py"]
    answer = subprocess.run(command, check=False, capture_output=True, text=True)
    assert "" == answer.stdout + answer.stderr


def test_7_tarmac_needs_no_python_package_at_run_time():
    """Neither the source says so nor the metadata that was really installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert [] == project["dependencies"]
    requires = importlib.metadata.requires("tarmac") or []
    assert [] == [line for line in requires if "extra ==" not in line]


def test_7_importing_tarmac_imports_nothing_foreign():
    """Optional packages are imported only by the module that needs them."""
    script = (
        "import sys; before = set(sys.modules); import tarmac, tarmac.tarantool;"
        "tops = {name.partition('.')[0] for name in set(sys.modules) - before};"
        "print(*sorted(tops - sys.stdlib_module_names - {'tarmac'}))"
    )
    answer = subprocess.run([sys.executable, "-I", "-c", script], check=True, capture_output=True, text=True)
    assert "" == answer.stdout.strip()


def test_8_a_panic_becomes_a_python_exception():
    """Unwinding stays on: the host process sees an exception and lives."""
    script = (
        "from tarmac import _native\n"
        "try:\n    _native._panic()\n"
        "except BaseException as error:\n    print('caught', type(error).__name__)\n"
        "print('alive')\n"
    )
    answer = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert (0, "caught PanicException\nalive\n") == (answer.returncode, answer.stdout), answer.stderr


def test_8_no_profile_turns_unwinding_off():
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())
    for profile in cargo["profile"].values():
        assert "unwind" == profile.get("panic", "unwind")


def test_the_native_core_was_built_for_release():
    """Numbers of a debug build would be worth nothing."""
    from tarmac import _native

    assert _native.debug_build is False
