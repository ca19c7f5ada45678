"""Training of translators: the order of pairs is kept, and alignments of a few validation pairs are recorded."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anaphora
from anaphora.errors import RunError
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.formats.lines import write_lines
from anaphora.run import Run
from anaphora.search.ranking import LengthModel
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.runs import experiment_of, export_bundle
from anaphora.tasks.translation.training import short_pairs
from anaphora.text.bytes import ByteTokenizer
from tests.experiment.runs import changed, texts

from ...conftest import TINY_TRANSLATOR

WINDOW = 16


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run is begun with few pairs as if they were many."""
    monkeypatch.setattr("anaphora.tasks.translation.training.LARGE", 50)
    monkeypatch.setattr("anaphora.tasks.translation.training.WINDOW", WINDOW)


@pytest.fixture
def experiment(tmp_path: Path) -> ExperimentBase:
    """A translator of 60 pairs of numbers."""
    for split, count in (("train", 60), ("val", 5)):
        for side, letters in (("en", "0123456789"), ("fr", "abcdefghij")):
            lines = (str(number).translate(str.maketrans("0123456789", letters)) for number in range(count))
            write_lines(tmp_path / f"{split}.{side}", lines)
    return read_experiment(TINY_TRANSLATOR, "test.toml", ["training.epochs=1"], data=[tmp_path], target="fr")


def losses(run: Path) -> list[Any]:
    return [line["loss"] for line in Run.open(run).metrics.lines() if "loss" in line]


def test_a_run_over_many_pairs_shuffles_them_in_windows_and_keeps_the_order_that_it_was_begun_with(
    experiment: ExperimentBase, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    def stopped_early(name: str) -> Callable[[], bool]:
        return lambda: len(losses(tmp_path / name)) > 2

    train(experiment, tmp_path / "small")
    train(experiment, tmp_path / "grown", stop=stopped_early("grown"))
    request.getfixturevalue("few")
    train(experiment, tmp_path / "grown", resume=True)
    assert losses(tmp_path / "grown") == losses(tmp_path / "small")
    said = f"{WINDOW} of 60 pairs are shuffled at a time (data.shuffle_window)."
    assert said in texts(experiment, tmp_path / "large")
    windowed = changed(experiment, f"data.shuffle_window={WINDOW}")
    assert experiment_of(tmp_path / "large") == windowed
    train(experiment, tmp_path / "stopped", stop=stopped_early("stopped"))
    train(experiment, tmp_path / "stopped", resume=True)
    train(windowed, tmp_path / "asked")
    assert losses(tmp_path / "asked") == losses(tmp_path / "stopped") == losses(tmp_path / "large")
    assert losses(tmp_path / "large") != losses(tmp_path / "small")
    with pytest.raises(RunError, match=r"begun otherwise: data\.shuffle_window was 16 and is 30"):
        train(changed(experiment, "data.shuffle_window=30"), tmp_path / "large", resume=True)


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


def test_recording_is_the_same_after_resuming_changes_nothing_else_and_can_be_left_out(pairs: Path) -> None:
    def split(run: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        lines = [{k: v for k, v in line.items() if k != "seconds"} for line in lines_of(run)]
        recorded = [line for line in lines if "alignments" in line]
        return recorded, [line for line in lines if "alignments" not in line]

    whole, without = trained(pairs, "whole"), trained(pairs, "without", "evaluation.recorded_alignments=0")
    count = iter(range(100))
    trained(pairs, "parts", stop=lambda: next(count) == 4)
    trained(pairs, "parts", resume=True)
    assert split(pairs / "parts")[0] == split(whole)[0]
    assert split(without) == ([], split(whole)[1])


def test_no_more_validations_are_recorded_than_there_is_room_for(pairs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anaphora.tasks.translation.training.MOST_RECORDS", 2)
    assert sum("alignments" in line for line in lines_of(trained(pairs, "run"))) == 2


def test_a_length_model_is_counted_when_training_begins_and_ranks_unless_a_penalty_is_asked_for(pairs: Path) -> None:
    (pairs / "train.fr").write_text("fdafda\ngea\nhdb\ngeb\nfdc\nhec\n")
    counts, asked = iter(range(100)), ("evaluation.length_model=true", "evaluation.length_penalty=0.6")
    trained(pairs, "run", *asked, stop=lambda: next(counts) == 2)
    translator = anaphora.load(trained(pairs, "run", *asked, resume=True), kind=anaphora.TranslationPredictor)
    ratio, spread = 27 / 24, np.mean([(7 - 27 / 6) ** 2, *5 * [(4 - 27 / 6) ** 2]]) / 4
    assert list(translator.length_models) == [LengthModel(pytest.approx(ratio), pytest.approx(spread))]  # type: ignore[arg-type]
    export_bundle(pairs / "run", pairs / "run.anaphora")
    bundle = anaphora.load(pairs / "run.anaphora", kind=anaphora.TranslationPredictor)
    for one in (translator, bundle):
        [best] = one.translate(["adg"], beam=4, alternatives=3)
        ranked = [best, *best.alternatives]
        expected = [
            (found.score - (found.tokens - 4 * ratio) ** 2 / (2 * spread * 4)) / ((5 + found.tokens) / 6) ** 0.6
            for found in ranked
        ]
        assert [found.rank for found in ranked] == pytest.approx(expected)
        [plain] = one.translate(["adg"], beam=4, length_penalty=0.6)
        assert plain.rank == pytest.approx(plain.score / ((5 + plain.tokens) / 6) ** 0.6)


def test_pairs_that_are_too_short_or_too_long_are_passed_over() -> None:
    sides: Any = dict.fromkeys(("source", "target"), ByteTokenizer(lowercase=False))
    pairs = [("ab", "abc"), ("abc", "a" * 17), ("abc", "abcd"), ("x" * 16, "abc"), ("abc", "abc")]
    assert short_pairs(pairs, sides, 2) == [("abc", "abcd"), ("x" * 16, "abc")]
    assert short_pairs(pairs, sides, 0) == []
