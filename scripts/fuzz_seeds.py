"""Write the request vectors as seeds of the differential fuzzer: each alone, and each before another request."""

from __future__ import annotations

import hashlib
import pathlib
import tomllib

ROOT = pathlib.Path(__file__).parent.parent
NEXT = b"GET /next HTTP/1.1\r\nHost: next\r\n\r\n"
# Longer ones test limits, and mutate slowly.
LONGEST = 4096


def main() -> None:
    """Fill the corpus; a seed is named for its content, so nothing is written twice."""
    corpus = ROOT / "fuzz/corpus/http1_differential"
    corpus.mkdir(parents=True, exist_ok=True)
    vectors = ROOT / "tests/vectors/http1"
    for file in [*vectors.glob("accept/*.toml"), *vectors.glob("refuse/*.toml")]:
        for vector in tomllib.loads(file.read_text())["vector"]:
            alone = vector["input"].encode("latin-1")
            for seed in (alone, alone + NEXT):
                if len(seed) <= LONGEST:
                    (corpus / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)


if __name__ == "__main__":
    main()
