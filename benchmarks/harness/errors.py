"""Why a measurement cannot be had: always with a reason that a person can act on."""


class Unavailable(Exception):
    """Something is not there on this machine; the contender or row is skipped by name with this reason."""


class Broken(Exception):
    """Something is there and gave a wrong answer, or died: never a figure, always shown."""
