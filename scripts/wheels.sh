#!/usr/bin/env bash
# A wheel in dist/ for every CPython >= 3.11 on this machine, each tried in an environment of its own.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

rm -rf dist
mkdir dist
trial=$(mktemp -d)
trap 'rm -rf "$trial"' EXIT
while read -r python; do
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  say "a wheel for Python $version"
  .venv/bin/maturin build --quiet --release --strip --compatibility linux --interpreter "$python" --out dist
  .venv-tools/bin/uv venv --quiet --python "$python" "$trial/$version"
  .venv-tools/bin/uv pip install --quiet --python "$trial/$version/bin/python" dist/tarmac-*-cp"${version/./}"-*.whl
  (cd "$trial" && "$version/bin/python" "$OLDPWD/scripts/try_wheel.py")
done < <(scripts/newest-python.sh sys all)
ls -l dist/*.whl
