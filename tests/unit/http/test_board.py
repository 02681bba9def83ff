"""The board that workers share: who is alive, and what all have counted."""

from __future__ import annotations

import os

import pytest
from tarmac.http.board import Board


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_what_a_child_writes_its_parent_reads():
    board = Board(rows=3)
    row = board.free()
    child = os.fork()
    if child == 0:
        row.take(os.getpid())
        row.write([1, 2, 2**63])
        os._exit(0)
    os.waitpid(child, 0)
    assert (child, [1, 2, 2**63]) == (row.process, row.read(3))
    assert row not in (board.free(), board.gone)


def test_there_is_an_end_to_the_rows():
    board = Board(rows=3)
    for process in (1, 2):
        board.free().take(process)
    assert board.free() is None
    assert [1, 2] == [row.process for row in board.taken()]


def test_what_the_dead_have_counted_stays_and_what_they_held_goes():
    board = Board(rows=2)
    for counted in (3, 4):
        row = board.free()
        row.take(1)
        row.write([counted, 9])
        board.bury(row, totals=(0,))
    assert [7, 0] == board.gone.read(2)
    assert 0 == row.process


def test_silence_counts_from_the_first_beat():
    row = Board(rows=2).free()
    assert 0.0 == row.silence()
    row.beat()
    assert 0.0 <= row.silence() < 60
