"""How long a supervisor waits before it replaces a worker."""

from __future__ import annotations

from tarmac.http.slots import Backoff


def test_the_first_death_is_answered_at_once_and_quick_ones_ever_later():
    backoff = Backoff()
    assert [0.0, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0] == [backoff.after(0.1) for _ in range(9)]


def test_a_worker_that_lived_long_is_replaced_at_once():
    backoff = Backoff()
    for _ in range(5):
        backoff.after(0.1)
    assert [0.0, 0.0, 0.1] == [backoff.after(lived) for lived in (60.0, 0.1, 0.1)]
