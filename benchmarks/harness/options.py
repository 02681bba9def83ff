"""What the command line asked for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """Rows to measure (empty: all), rounds of slots, and seconds of a connector slot."""

    only: frozenset[str] = frozenset()
    rounds: int = 8
    slot_seconds: float = 0.6

    def wants(self, row: str) -> bool:
        return not self.only or row in self.only
