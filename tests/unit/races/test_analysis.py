"""From heats to places: twins take none, flagged cells take none, one odd heat is forgiven."""

import pytest
from races.analysis import CPU, RATE, analyse
from races.flags import Flag
from unit.races.made import FIELD, heat, race, result


def test_the_faster_entrant_is_first_and_the_ratio_is_right() -> None:
    table = analyse(race())["good"]
    assert {"fast": 1, "slow": 2, "fast (twin)": None} == {
        name: cell.rank.get("rate") for name, cell in table.cells.items()
    }
    assert pytest.approx(0.4) == table.cells["slow"].ratio["rate"].ratio
    assert pytest.approx(2.5) == table.cells["slow"].ratio["cpu"].ratio


def test_the_twin_sets_the_noise_floor() -> None:
    table = analyse(race())["good"]
    twin = table.cells["fast (twin)"].ratio["rate"]
    assert table.floor["rate"] == max(abs(twin.low), abs(twin.high))
    assert 0 < table.floor["rate"] < 0.03


def test_a_difference_within_the_noise_shares_the_place() -> None:
    table = analyse(race(fast=1000, slow=999))["good"]
    assert (1, 1) == (table.cells["fast"].rank["rate"], table.cells["slow"].rank["rate"])


@pytest.mark.parametrize("flag", [Flag.ERRORS, Flag.WRONG_ANSWERS, Flag.WORK_MISMATCH])
def test_a_wrong_cell_is_never_ranked(flag: Flag) -> None:
    """One heat of six is enough, for both figures."""
    made = race()
    next(found for found in made.heats if found["entrant"] == "slow")["findings"] = [{"flag": flag.value, "why": "x"}]
    cell = analyse(made)["good"].cells["slow"]
    assert {} == cell.rank
    assert {"rate", "cpu"} == cell.voided
    assert 1 == analyse(made)["good"].cells["fast"].rank["rate"]


@pytest.mark.parametrize(
    ("flag", "count", "voided"),
    [
        (Flag.GEN_SATURATED, 2, set()),
        (Flag.GEN_SATURATED, 3, {"rate"}),  # over a third of six
        (Flag.HOST_NOISY, 3, set()),  # three quiet rounds are left
        (Flag.HOST_NOISY, 4, {"rate"}),
    ],
)
def test_the_surroundings_can_void_the_rate(flag: Flag, count: int, voided: set[str]) -> None:
    """CPU per request stays comparable on a busy machine; by the rate then nobody has a place."""
    made = race()
    for found in [each for each in made.heats if each["entrant"] == "slow"][:count]:
        found["findings"] = [{"flag": flag.value, "why": "x"}]
    cells = analyse(made)["good"].cells
    assert voided == cells["slow"].voided == cells["slow"].doubtful
    assert 2 == cells["slow"].rank["cpu"]
    assert (None if voided else 1) == cells["fast"].rank.get("rate")
    assert f"{count} of 6 heats, lately: x" == cells["slow"].flags[flag]


def test_disturbed_heats_are_not_used_while_enough_quiet_ones_remain() -> None:
    """The neighbour halved the rate of three rounds: the ratio comes from the other three."""
    made = race()
    for found in [each for each in made.heats if each["entrant"] == "slow"][:3]:
        found["rate"] /= 2
        found["findings"] = [{"flag": "HOST_NOISY", "why": "x"}]
    cell = analyse(made)["good"].cells["slow"]
    assert {4, 5, 6} == set(cell.rounds(RATE))
    assert pytest.approx(0.4) == cell.ratio["rate"].ratio


def test_a_disturbed_round_is_dropped_for_everybody_or_for_nobody() -> None:
    """Pairs stay whole. Two quiet rounds are too few: then all count, and a third of noise is borne."""
    made = race()
    for name, number in (("slow", 1), ("slow", 2), ("fast", 3)):
        next(heat for heat in made.heats if (heat["entrant"], heat["round"]) == (name, number))["findings"] = [
            {"flag": "HOST_NOISY", "why": "x"}
        ]
    assert all({4, 5, 6} == set(cell.rounds(RATE)) for cell in analyse(made)["good"].cells.values())
    next(heat for heat in made.heats if (heat["entrant"], heat["round"]) == ("fast", 4))["findings"] = [
        {"flag": "HOST_NOISY", "why": "x"}
    ]
    cells = analyse(made)["good"].cells
    assert all({1, 2, 3, 4, 5, 6} == set(cell.rounds(CPU)) for cell in cells.values())
    assert set() == cells["slow"].voided
    assert 2 == cells["slow"].rank["rate"]


def test_a_heat_without_good_answers_is_no_zero() -> None:
    """A rate of nothing has no logarithm: the round is left out of the pairs."""
    made = result([*race().heats, heat("slow", 7, 0.0, 0.0), heat("fast", 7, 1000.0, 1000.0)], FIELD)
    cell = analyse(made)["good"].cells["slow"]
    assert 6 == cell.ratio["rate"].pairs
    assert 7 not in cell.rounds(RATE)
    assert 7 not in cell.rounds(CPU)


def test_a_race_without_heats_has_no_tables() -> None:
    assert {} == analyse(result([], FIELD))
