#!/usr/bin/env bash
# Every check that reads code without running it. All of them run, then the status says whether one complained.
set -u
cd "$(dirname "$0")/.."
. scripts/common.sh
export PYO3_PYTHON=$PWD/.venv/bin/python
status=0

check() {
  local name=$1
  shift
  say "$name"
  "$@" || { status=1; printf 'FAILED: %s\n' "$name" >&2; }
}

check "cargo fmt" cargo fmt --all --check
check "clippy" cargo clippy --quiet --workspace --all-targets -- -D warnings
check "ruff check" .venv/bin/ruff check --quiet .
check "ruff format" .venv/bin/ruff format --quiet --check .
check "mypy" .venv/bin/mypy --no-error-summary -p tarmac -p stickers -p races
check "stubtest" .venv/bin/python -m mypy.stubtest --concise --mypy-config-file pyproject.toml tarmac._native
check "file lengths" .venv/bin/python scripts/file_lengths.py
check "lock file" .venv-tools/bin/uv lock --check --quiet
exit $status
