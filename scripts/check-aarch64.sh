#!/usr/bin/env bash
# Does every crate compile for 64-bit ARM? The target's standard library comes by rustup, its C compiler from Debian.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

target=aarch64-unknown-linux-gnu
rustup target list --installed | grep -q "$target" || rustup target add "$target"
command -v aarch64-linux-gnu-gcc >/dev/null || fail "a C compiler for ARM is missing: apt-get install -y gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
export PYO3_CROSS=1 PYO3_CROSS_PYTHON_VERSION=3.13
cargo check --quiet --workspace --target "$target"
say "every crate compiles for $target"
