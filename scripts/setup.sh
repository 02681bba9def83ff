#!/usr/bin/env bash
# Makes everything a command of the Makefile needs: uv, .venv with the release core, tarmac-load, Debian packages.
# A second run with nothing changed does nothing and takes about a second.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

uv_version=0.13.9
tools=.venv-tools
# The machine's own certificates, where it has them: a company's proxy stands in no bundled list.
[ -e /etc/ssl/certs/ca-certificates.crt ] && export UV_SYSTEM_CERTS=1

main() {
  command -v cargo >/dev/null || fail "cargo is missing: install Rust from https://rustup.rs and run this again"
  command -v cc >/dev/null || fail "a C compiler is missing: apt-get install -y gcc"
  scripts/debian-packages.sh
  ensure_uv
  ensure_venv
  say_when_stale
  "$tools/bin/uv" sync --quiet --all-packages --all-extras --python .venv/bin/python
  cargo build --quiet --release -p load
  install -C -m 755 "${CARGO_TARGET_DIR:-target}/release/tarmac-load" .venv/bin/tarmac-load
}

# uv comes from PyPI into a folder of its own: `--target` works where pip refuses to touch the system's Python.
ensure_uv() {
  [ -x "$tools/bin/uv" ] && [ "$("$tools/bin/uv" --version | cut -d' ' -f2)" = "$uv_version" ] && return
  local python
  python=$(scripts/newest-python.sh pip) || fail "no Python >= 3.11 with pip was found: apt-get install -y python3 python3-pip"
  say "uv $uv_version into $tools"
  rm -rf "$tools"
  "$python" -m pip install --quiet --disable-pip-version-check --no-warn-conflicts --root-user-action=ignore --target "$tools" "uv==$uv_version"
}

ensure_venv() {
  .venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && return
  local python=${PYTHON:-}
  [ -n "$python" ] || python=$(scripts/newest-python.sh) || fail "no Python >= 3.11 was found: apt-get install -y python3"
  say ".venv on $("$python" --version)"
  "$tools/bin/uv" venv --quiet --clear --python "$python" .venv
}

# A build takes a minute or two: say so instead of standing still.
say_when_stale() {
  local built
  built=$(compgen -G 'python/tarmac/_native.*.so' | head -n 1) || true
  [ -n "$built" ] && [ -z "$(find crates -path crates/load -prune -o -name '*.rs' -newer "$built" -print -quit)" ] && return
  say "the native core, release mode (a minute or two the first time)"
}

main
