"""What `import tarmac` offers and what it costs."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
import tarmac
from tarmac import errors, http, tarantool


@pytest.mark.parametrize("module", [tarmac, http, tarantool, errors])
def test_every_public_name_exists(module):
    assert [] == [name for name in module.__all__ if getattr(module, name, None) is None]
    assert sorted(set(module.__all__), key=module.__all__.index) == module.__all__


def test_dir_tells_names_that_are_not_loaded_yet():
    assert set(tarmac.__all__) <= set(dir(tarmac))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nonsense"):
        _ = tarmac.nonsense  # type: ignore[attr-defined]


def test_everything_that_tarmac_raises_has_one_root():
    everything = [getattr(errors, name) for name in errors.__all__]
    everything += [kind for name in tarantool.__all__ if isinstance(kind := getattr(tarantool, name), type)]
    exceptions = [kind for kind in everything if issubclass(kind, BaseException)]
    assert len(exceptions) > 30
    assert [] == [kind for kind in exceptions if not issubclass(kind, tarmac.TarmacError)]


def test_import_is_quick_and_loads_no_event_loop():
    code = "import sys, tarmac; sys.exit('asyncio' in sys.modules or 'inspect' in sys.modules)"
    times = []
    for _ in range(5):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-X", "frozen_modules", "-c", code], check=True)
        times.append(time.perf_counter() - started)
    bare = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    bare = time.perf_counter() - bare
    assert min(times) - bare < 0.06
