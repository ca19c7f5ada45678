"""Alignments of a few validation pairs at each validation: optional, small, and the same after a resumed training."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anaphora
from anaphora.errors import ConfigError
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.tasks.translation.training import MOST_RECORDS, SHORT, short_pairs
from tests.conftest import TINY_TRANSLATOR


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    for part, words in (("train", "adf aeg bdh beg cdf ceh"), ("val", "a adg behcdf bdg cdg"), ("test", "aeh")):
        (tmp_path / f"{part}.en").write_text("\n".join(words.split()) + "\n")
        (tmp_path / f"{part}.fr").write_text("\n".join(word[::-1] for word in words.split()) + "\n")
    return tmp_path


def trained(pairs: Path, name: str, *settings: str, **more: Any) -> Path:
    changes = ["training.epochs=3", "evaluation.recorded_alignments=2", *settings]
    experiment = read_experiment(TINY_TRANSLATOR, "t.toml", changes, data=[pairs], source="en", target="fr")
    train(experiment, pairs / name, **more)
    return pairs / name


def lines_of(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def test_each_validation_records_the_first_short_pairs(pairs: Path) -> None:
    run = trained(pairs, "run")
    records = [line for line in lines_of(run) if "alignments" in line]
    validated = [line["update"] for line in lines_of(run) if "validation" in line]
    assert [line["update"] for line in records] == validated and len(validated) == 3
    for line in records:
        assert [(one["source"], one["target"]) for one in line["alignments"]] == [
            (["a", "d", "g", "</s>"], ["g", "d", "a", "</s>"]),
            ([*"behcdf", "</s>"], [*"fdcheb", "</s>"]),
        ]
    best = anaphora.load(run, validated[-1])
    [expected] = best.score_pairs(["adg"], ["gda"], attention=True)
    np.testing.assert_allclose(records[-1]["alignments"][0]["weights"], expected.weights, atol=6e-4)


def test_a_resumed_training_has_the_same_records(pairs: Path) -> None:
    whole = trained(pairs, "whole")
    count = iter(range(100))
    trained(pairs, "parts", stop=lambda: next(count) == 4)
    trained(pairs, "parts", resume=True)
    assert [line for line in lines_of(pairs / "parts") if "alignments" in line] == [
        line for line in lines_of(whole) if "alignments" in line
    ]


def test_recording_changes_nothing_else_and_can_be_left_out(pairs: Path) -> None:
    def without_seconds(run: Path) -> list[dict[str, Any]]:
        return [{k: v for k, v in line.items() if k != "seconds"} for line in lines_of(run) if "alignments" not in line]

    with_records, without = trained(pairs, "with"), trained(pairs, "without", "evaluation.recorded_alignments=0")
    assert without_seconds(with_records) == without_seconds(without)
    assert not any("alignments" in line for line in lines_of(without))


def test_no_more_validations_are_recorded_than_there_is_room_for(pairs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anaphora.tasks.translation.training.MOST_RECORDS", 2)
    assert sum("alignments" in line for line in lines_of(trained(pairs, "run"))) == 2
    assert MOST_RECORDS == 100 and max(SHORT) <= 20  # a record has at most 10 times 17 times 17 numbers


def test_pairs_that_are_too_short_or_too_long_are_passed_over() -> None:
    class Letters:
        def encode(self, text: str) -> list[int]:
            return list(map(ord, text))

    sides: Any = {"source": Letters(), "target": Letters()}
    pairs = [("ab", "abc"), ("abc", "a" * 17), ("abc", "abcd"), ("x" * 16, "abc"), ("abc", "abc")]
    assert short_pairs(pairs, sides, 2) == [("abc", "abcd"), ("x" * 16, "abc")]
    assert short_pairs(pairs, sides, 0) == []


def test_what_has_no_alignments_to_record_is_refused(pairs: Path) -> None:
    with pytest.raises(ConfigError, match="only attention over positions has alignments"):
        trained(pairs, "run", "attention=none", "decoder.initial_state=project")
