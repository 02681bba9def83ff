"""The C floor, compiled on demand."""

import subprocess
from pathlib import Path

from harness.errors import Broken, Unavailable
from harness.paths import BENCHMARKS, VAR


def compiled() -> Path:
    """The floor server, compiled when its source is newer."""
    source, binary = BENCHMARKS / "floor" / "floor.c", VAR / "floor"
    if not binary.exists() or binary.stat().st_mtime < source.stat().st_mtime:
        binary.parent.mkdir(parents=True, exist_ok=True)
        try:
            done = subprocess.run(
                ["cc", "-O2", "-o", str(binary), str(source)], capture_output=True, text=True, check=False
            )
        except FileNotFoundError as error:
            raise Unavailable("the floor needs a C compiler (Debian: apt-get install gcc libc6-dev)") from error
        if done.returncode:
            raise Broken(f"the floor does not compile: {done.stderr.strip()}")
    return binary
