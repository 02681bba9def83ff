#!/usr/bin/env bash
# Installs the Debian packages that the live tests, the browser tests, the races and the measurements use; goes on without them when it cannot.
set -u
cd "$(dirname "$0")/.."
. scripts/common.sh

# slowhttptest: benchmarks/slow_clients.py. nginx: what files and ranges are compared with, and the proxy of a page.
declare -A package_of=(
  [tarantool]=tarantool [wrk]=wrk [chromium]=chromium [nginx]=nginx-light [slowhttptest]=slowhttptest
)
tried=var/apt-tried

missing=()
for command in "${!package_of[@]}"; do
  command -v "$command" >/dev/null || missing+=("${package_of[$command]}")
done
[ ${#missing[@]} -eq 0 ] && exit 0

by_hand="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
give_up() {
  mkdir -p var && touch "$tried"
  say "without ${missing[*]}: $1; what needs them is skipped by name. To install: $by_hand"
  exit 0
}

command -v apt-get >/dev/null || give_up "this is not a Debian machine"
[ "$(id -u)" -eq 0 ] || give_up "not root"
[ -n "$(find "$tried" -mmin -60 2>/dev/null)" ] && give_up "apt-get failed less than an hour ago"

say "apt-get install ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
quick=(-qq -o Acquire::http::Timeout=20 -o Acquire::Retries=1)
log=$(mktemp)
if timeout 600 apt-get "${quick[@]}" update >"$log" 2>&1 </dev/null &&
  timeout 900 apt-get "${quick[@]}" install -y --no-install-recommends "${missing[@]}" >>"$log" 2>&1 </dev/null; then
  rm -f "$log" "$tried"
else
  tail -n 3 "$log" >&2
  rm -f "$log"
  give_up "apt-get failed"
fi
