# Words that the scripts share: one line per step, and one way to stop.
say() { printf '\033[2m==>\033[0m %s\n' "$*" >&2; }
fail() { printf 'stopped: %s\n' "$*" >&2; exit 1; }
