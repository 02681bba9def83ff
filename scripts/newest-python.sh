#!/usr/bin/env bash
# Prints the path of the newest released CPython >= 3.11 on this machine; `newest-python.sh pip` wants one that has pip.
set -u
module=${1:-sys}

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
best=$(candidates | sort -u | while read -r python; do "$python" -c "$probe" "$module" 2>/dev/null; done | sort -V | tail -n 1)
[ -n "$best" ] && echo "${best#* }"
