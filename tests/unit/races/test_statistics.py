"""The statistics against values worked out by hand or known from tables."""

import math
import random

import pytest
from races.statistics import (
    average_ranks,
    bootstrap_interval,
    hodges_lehmann,
    noise_floor,
    paired_estimate,
    quantile,
    shift_estimate,
    tie_groups,
    wilcoxon,
)


def test_hodges_lehmann_is_the_median_of_pairwise_means() -> None:
    """1, 2, 6: means 1, 1.5, 3.5, 2, 4, 6; their median is 2.75."""
    assert pytest.approx(2.75) == hodges_lehmann([1, 2, 6])


def test_hodges_lehmann_shrugs_at_one_wild_value() -> None:
    """The mean would say 202."""
    assert hodges_lehmann([1, 2, 3, 4, 1000]) == 3.0


def test_hodges_lehmann_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no values"):
        hodges_lehmann([])


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([1, 2, 3, 4, 5], 0.0625),  # all on one side: 2 / 2**5
        ([1, 2, 3, 4, 5, 6, 7, 8], 0.0078125),  # 2 / 2**8
        ([-1, 2, 3, 4, 5, 6], 0.0625),  # W = 1: 2 * 2 / 2**6
        ([1, -1], 1.0),  # a tie, one on each side
        ([0, 0, 0], 1.0),  # nothing differs
        # Hollander and Wolfe's depression scores, whose exact p is printed as 0.0391.
        ([0.952, -0.147, 1.022, 0.430, 0.620, 0.590, 0.490, -0.080, 0.010], 0.0390625),
    ],
)
def test_wilcoxon_agrees_with_the_exact_tables(differences: list[float], expected: float) -> None:
    assert pytest.approx(expected) == wilcoxon(differences)


def test_wilcoxon_of_many_pairs_uses_the_normal_curve() -> None:
    """At 60 pairs with W in its middle the p-value is 1; all on one side it is next to nothing."""
    balanced = [value * (-1) ** (value // 2) for value in range(1, 61)]
    assert wilcoxon(balanced) > 0.8
    assert wilcoxon([float(value) for value in range(1, 61)]) < 1e-9


def test_equal_values_share_the_mean_of_their_ranks() -> None:
    assert [1.0, 2.5, 2.5, 4.0] == average_ranks([3, 5, 5, 9])


def test_quantile_interpolates() -> None:
    assert pytest.approx(2.5) == quantile([1, 2, 3, 4], 0.5)
    assert quantile([1, 2, 3, 4], 0) == 1
    assert quantile([1, 2, 3, 4], 1) == 4


def test_the_bootstrap_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    """Of 200 samples of 12 from a known distribution over 85 % of the intervals hold its centre."""
    chooser = random.Random(7)
    covered = 0
    for seed in range(200):
        values = [chooser.gauss(0.3, 0.1) for _ in range(12)]
        low, high = bootstrap_interval(values, samples=200, seed=seed)
        covered += low <= 0.3 <= high
    assert 170 <= covered <= 200


def test_the_same_heats_give_the_same_interval() -> None:
    values = [0.1, 0.2, 0.15, 0.3, 0.12]
    assert bootstrap_interval(values) == bootstrap_interval(values)


def test_pairs_cancel_what_whole_rounds_have_in_common() -> None:
    """Rounds differ by a factor of ten, the entrants always by two: the ratio is exact."""
    reference = {1: 100.0, 2: 1000.0, 3: 500.0, 4: 200.0, 5: 900.0}
    estimate = paired_estimate({number: 2 * value for number, value in reference.items()}, reference)
    assert estimate is not None
    assert pytest.approx((2.0, 2.0, 2.0)) == (estimate.ratio, estimate.ratio_low, estimate.ratio_high)
    assert (5, 0.0625) == (estimate.pairs, estimate.p_value)


def test_only_common_rounds_are_paired() -> None:
    estimate = paired_estimate({1: 2.0, 3: 8.0}, {2: 1.0, 3: 4.0})
    assert estimate is not None
    assert estimate.pairs == 1
    assert paired_estimate({1: 2.0}, {2: 1.0}) is None


def test_the_noise_floor_is_the_far_end_of_the_twins_interval() -> None:
    twin = paired_estimate({1: 101.0, 2: 98.0, 3: 104.0}, {1: 100.0, 2: 100.0, 3: 100.0})
    assert twin is not None
    assert max(abs(twin.low), abs(twin.high)) == noise_floor(twin)
    assert noise_floor(None) == 0.0


def test_a_difference_inside_the_noise_is_not_resolved() -> None:
    """Two per cent, every round: sure by itself, but the same program differs by three."""
    estimate = paired_estimate(dict.fromkeys(range(6), 102.0), dict.fromkeys(range(6), 100.0))
    assert estimate is not None
    assert estimate.is_resolved(0.0)
    assert not estimate.is_resolved(0.03)


def test_two_pairs_resolve_nothing() -> None:
    """However far apart: an interval from two values is no interval."""
    for pairs, expected in ((2, False), (3, True)):
        estimate = paired_estimate(dict.fromkeys(range(pairs), 500.0), dict.fromkeys(range(pairs), 100.0))
        assert estimate is not None
        assert expected == estimate.is_resolved(0.01)


def test_entrants_that_cannot_be_told_apart_share_a_group() -> None:
    cells = {
        "fast": {1: 300.0, 2: 310.0, 3: 290.0, 4: 305.0, 5: 299.0},
        "same": {1: 301.0, 2: 308.0, 3: 292.0, 4: 304.0, 5: 300.0},
        "slow": {1: 100.0, 2: 104.0, 3: 98.0, 4: 101.0, 5: 99.0},
    }
    groups = tie_groups(cells, 0.02, higher_is_better=True)
    assert [{"fast", "same"}, {"slow"}] == [set(group) for group in groups]
    cheapest_first = tie_groups(cells, 0.02, higher_is_better=False)
    assert [{"slow"}, {"fast", "same"}] == [set(group) for group in cheapest_first]


def test_a_shift_between_two_races_is_found() -> None:
    old = [math.log(value) for value in (100, 102, 98, 101, 99, 100)]
    estimate = shift_estimate(old, [value + math.log(0.8) for value in old])
    assert pytest.approx(0.8) == estimate.ratio
    assert estimate.high < 0
