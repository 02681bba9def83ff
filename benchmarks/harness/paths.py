"""Where things are, relative to the checkout; nothing here knows a machine."""

import os
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent.parent
PROJECT = BENCHMARKS.parent
VAR = PROJECT / "var" / "bench"
RESULTS = PROJECT / "results" / "bench"
DOCUMENT = PROJECT / "docs" / "benchmarks.md"


def project_python() -> Path:
    """The Python of the project's own environment, where tarmac is installed."""
    environment = os.environ.get("UV_PROJECT_ENVIRONMENT", ".venv")
    return PROJECT / environment / "bin" / "python"
