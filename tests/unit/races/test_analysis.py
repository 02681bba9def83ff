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


@pytest.mark.parametrize("flag", [Flag.HOST_NOISY, Flag.GEN_SATURATED])
@pytest.mark.parametrize(("count", "voided"), [(2, set()), (3, {"rate"})])
def test_noise_voids_the_rate_when_over_a_third_of_the_heats_have_it(flag: Flag, count: int, voided: set[str]) -> None:
    """CPU per request stays comparable on a busy machine."""
    made = race()
    for found in [each for each in made.heats if each["entrant"] == "slow"][:count]:
        found["findings"] = [{"flag": flag.value, "why": "x"}]
    cell = analyse(made)["good"].cells["slow"]
    assert voided == cell.voided
    assert 2 == cell.rank["cpu"]
    assert f"{count} of 6 heats, lately: x" == cell.flags[flag]


def test_a_heat_without_good_answers_is_no_zero() -> None:
    """A rate of nothing has no logarithm: the round is left out of the pairs."""
    made = result([*race().heats, heat("slow", 7, 0.0, 0.0), heat("fast", 7, 1000.0, 1000.0)], FIELD)
    cell = analyse(made)["good"].cells["slow"]
    assert 6 == cell.ratio["rate"].pairs
    assert 7 not in cell.rounds(RATE)
    assert 7 not in cell.rounds(CPU)


def test_a_race_without_heats_has_no_tables() -> None:
    assert {} == analyse(result([], FIELD))
