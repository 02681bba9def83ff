#!/usr/bin/env bash
# Prints the path of the newest released CPython >= 3.11 on this machine; `newest-python.sh pip` wants one that has
# pip, and `newest-python.sh sys all` prints the newest of each minor version, one a line.
set -u
module=${1:-sys}
which=${2:-newest}

candidates() {
  local minor
  for minor in $(seq 30 -1 11); do type -ap "python3.$minor"; done
  type -ap python3
  ls -d "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3 "${UV_PYTHON_INSTALL_DIR:-$HOME/.local/share/uv/python}"/*/bin/python3 2>/dev/null
}

# A shim may stand for a Python that is not active: only what runs counts. Free-threaded builds and prereleases are left out.
probe='
import platform, sys, sysconfig, importlib.util
wanted = sys.version_info >= (3, 11) and sys.version_info.releaselevel == "final" and platform.python_implementation() == "CPython"
if wanted and not sysconfig.get_config_var("Py_GIL_DISABLED") and importlib.util.find_spec(sys.argv[1]):
    print("%d.%d.%d" % sys.version_info[:3], sys.executable)
'
found=$(candidates | sort -u | while read -r python; do "$python" -c "$probe" "$module" 2>/dev/null; done | sort -V)
[ -n "$found" ] || exit 1
if [ "$which" = all ]; then
  # Of 3.12.1 and 3.12.4 the last one counts.
  awk '{ split($1, version, "."); newest[version[1] "." version[2]] = $2 } END { for (one in newest) print newest[one] }' <<<"$found" | sort -V
else
  tail -n 1 <<<"${found}" | cut -d' ' -f2-
fi
