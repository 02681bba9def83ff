"""Names every hand-written source file of the repository that is over 400 lines long."""

import subprocess
import sys
from pathlib import Path

LIMIT = 400
HAND_WRITTEN = ("*.rs", "*.py", "*.pyi", "*.sh", "*.lua", "*.js", "*.css", "*.html", "*.go", "*.php")


def too_long(root: Path) -> list[tuple[int, str]]:
    """Return (lines, path) of each tracked or new file over the limit, the longest first."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *HAND_WRITTEN],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    lengths = [(len((root / path).read_bytes().splitlines()), path) for path in listed if (root / path).is_file()]
    return sorted((pair for pair in lengths if pair[0] > LIMIT), reverse=True)


def main() -> int:
    found = too_long(Path(__file__).resolve().parent.parent)
    for lines, path in found:
        print(f"{path}: {lines} lines, the limit is {LIMIT}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
