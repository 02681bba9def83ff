"""User-mode instruction counts of other processes, by perf_event_open (Linux). None where there are no counters."""

import ctypes
import os
import struct
from collections.abc import Iterable

_SYSCALL = {"x86_64": 298, "aarch64": 241}
_ATTRIBUTE_SIZE = 112
_INSTRUCTIONS = 1
_FLAGS = (1 << 1) | (1 << 5) | (1 << 6)  # inherit, exclude_kernel, exclude_hv


class InstructionCounter:
    """Counts instructions of the given threads and of every thread or child they start later."""

    def __init__(self, threads: Iterable[int]) -> None:
        self._descriptors = [_open(thread) for thread in threads]

    def read(self) -> int:
        return sum(struct.unpack("Q", os.read(descriptor, 8))[0] for descriptor in self._descriptors)

    def close(self) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors = []


def why_not() -> str | None:
    """Why this machine counts no instructions, or None if it does."""
    try:
        counter = InstructionCounter([0])
    except OSError as error:
        return f"no instruction counter ({error.strerror}); see kernel.perf_event_paranoid"
    first = counter.read()
    moved = counter.read() > first
    counter.close()
    return None if moved else "the instruction counter stands still (a virtual machine without counters)"


def _open(thread: int) -> int:
    number = _SYSCALL.get(os.uname().machine)
    if number is None:
        raise OSError(0, "unknown machine type")
    attribute = struct.pack("IIQQQQQ", 0, _ATTRIBUTE_SIZE, _INSTRUCTIONS, 0, 0, 0, _FLAGS).ljust(_ATTRIBUTE_SIZE, b"\0")
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = int(libc.syscall(number, attribute, thread, -1, -1, 0))
    if descriptor < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return descriptor
