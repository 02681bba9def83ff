"""What can go wrong in the lab.

LabError                 anything the lab can say in one sentence
├── UsageError           a wrong name or option (exit status 2)
└── CannotRunHere        an entrant, store or tool is missing on this machine: skip, visibly
"""

from __future__ import annotations


class LabError(Exception):
    """A problem that the lab explains in one sentence instead of a traceback."""


class UsageError(LabError):
    """The person asked for something that does not exist."""


class CannotRunHere(LabError):
    """Something needed is not on this machine; the race goes on without it and says so."""
