"""`races compare`: one exit status for each thing a person may have to do next."""

import json
from pathlib import Path

import pytest
from races.cli import main
from races.compare import Verdict
from races.result import Result
from unit.races.made import race


def saved(made: Result, path: Path) -> str:
    path.write_text(json.dumps(made.as_json()))
    return str(path)


def status(tmp_path: Path, old: Result, new: Result, *options: str) -> int:
    return main(["compare", saved(old, tmp_path / "old.json"), saved(new, tmp_path / "new.json"), *options])


@pytest.mark.parametrize("metric", ["rate", "cpu"])
@pytest.mark.parametrize(
    ("fast", "expected"),
    [(1000, Verdict.SAME), (1200, Verdict.SAME), (995, Verdict.SAME), (850, Verdict.SLOWER)],
)
def test_a_loss_beyond_the_noise_is_slower(tmp_path: Path, metric: str, fast: float, expected: Verdict) -> None:
    assert expected == status(tmp_path, race(), race(fast=fast), "--metric", metric)


def test_wrong_answers_beat_every_speed(tmp_path: Path) -> None:
    new = race(fast=9000, flags={"fast": ["WRONG_ANSWERS"]})
    assert Verdict.WRONG_ANSWERS == status(tmp_path, race(), new)


def test_a_noisy_race_decides_nothing_by_rate_but_does_by_cpu(tmp_path: Path) -> None:
    noisy = race(fast=500, flags={name: ["HOST_NOISY"] for name in ("fast", "slow", "fast (twin)")})
    assert Verdict.INCONCLUSIVE == status(tmp_path, race(), noisy)
    assert Verdict.SLOWER == status(tmp_path, race(), noisy, "--metric", "cpu")


def test_too_few_heats_decide_nothing(tmp_path: Path) -> None:
    short = race()
    short.heats = [heat for heat in short.heats if heat["round"] <= 3]
    assert Verdict.INCONCLUSIVE == status(tmp_path, race(), short)


def test_nothing_in_common_decides_nothing(tmp_path: Path) -> None:
    other = race()
    for heat in other.heats:
        heat["entrant"] += "!"
    other.head["entrants"] = {f"{name}!": about for name, about in other.entrants.items()}
    other.head["reference"] = "fast!"
    assert Verdict.INCONCLUSIVE == status(tmp_path, race(), other)


@pytest.mark.parametrize("text", ["", "{}", '{"schema": 99}', "no json"])
def test_a_file_that_is_no_result_is_a_usage_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "broken.json").write_text(text)
    assert Verdict.USAGE == main(["compare", str(tmp_path / "broken.json"), saved(race(), tmp_path / "new.json")])
    assert Verdict.USAGE == main(["compare", str(tmp_path / "absent.json"), str(tmp_path / "new.json")])
