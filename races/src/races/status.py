"""Exit statuses of the command."""

from enum import IntEnum


class Status(IntEnum):
    """What a script can rely on; `races compare` has its own, `compare.Verdict`."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    CANNOT_RUN_HERE = 3
    WRONG_ANSWERS = 4
    INTERRUPTED = 130
