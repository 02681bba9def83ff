#!/usr/bin/env bash
# Runs the Autobahn fuzzing client against an echo server of ours; fails when a case is not right.
# usage: scripts/autobahn.sh [CASES...]   such as 1.* 9.1.1; without any: sections 1 to 7, 9, 10, 12 and 13
# Its suite is written in Python 2.7: PYTHON2 names one, else pyenv and the PATH are searched.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh
set -f # a star in a case means cases

folder=$PWD/var/autobahn
virtualenv=20.15.1 # the last one that makes environments of Python 2.7
suite=25.10.1

main() {
  [ $# -gt 0 ] || set -- '1.*' '2.*' '3.*' '4.*' '5.*' '6.*' '7.*' '9.*' '10.*' '12.*' '13.*'
  ensure_suite
  mkdir -p "$folder/reports"
  rm -f "$folder/port" # of an earlier run
  .venv/bin/python scripts/autobahn_server.py >"$folder/port" &
  server=$!
  trap 'kill $server 2>/dev/null || true' EXIT
  until [ -s "$folder/port" ]; do
    kill -0 $server 2>/dev/null || fail "the echo server did not start"
    sleep 0.1
  done
  .venv/bin/python scripts/autobahn_report.py specify "$folder" "$(cat "$folder/port")" "$@"
  (cd "$folder" && venv/bin/wstest --mode fuzzingclient --spec specification.json >wstest.log 2>&1) ||
    fail "the fuzzing client ended with an error: see $folder/wstest.log"
  .venv/bin/python scripts/autobahn_report.py judge "$folder"
}

ensure_suite() {
  [ "$(cat "$folder/made" 2>/dev/null)" = "$suite" ] && return
  local python
  python=$(python2) || fail "the Autobahn suite needs Python 2.7, which was not found: PYTHON2=/path/to/python2.7 $0"
  say "the Autobahn suite $suite for Python 2.7 into $folder"
  rm -rf "$folder"
  mkdir -p "$folder"
  "$python" -m pip install --quiet --target "$folder/tools" "virtualenv==$virtualenv" 2>"$folder/pip.log" ||
    fail "virtualenv was not installed: see $folder/pip.log"
  PYTHONPATH=$folder/tools "$python" -m virtualenv --quiet --no-download "$folder/venv"
  "$folder/venv/bin/python" -m pip install --quiet "autobahntestsuite==$suite" 2>"$folder/pip.log" ||
    fail "the suite was not installed: see $folder/pip.log"
  echo "$suite" >"$folder/made"
}

python2() {
  local candidate
  for candidate in "${PYTHON2:-}" $(set +f; compgen -G "${PYENV_ROOT:-$HOME/.pyenv}/versions/2.7.*/bin/python2.7") python2.7; do
    [ -n "$candidate" ] && "$candidate" -c 'import sys; sys.exit(sys.version_info[:2] != (2, 7))' 2>/dev/null || continue
    echo "$candidate"
    return
  done
  return 1
}

main "$@"
