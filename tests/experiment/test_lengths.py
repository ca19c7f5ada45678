"""The lengths of translations in whole experiments: counted once, kept with the weights, the same in every batch."""

from pathlib import Path

import pytest
import torch

import anaphora
from anaphora.experiment.run_training import train
from anaphora.run import Run
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.registry import parse


@pytest.fixture
def unfolding(translator: ExperimentBase) -> ExperimentBase:
    """The toy translator, its source unfolded to the length of the target."""
    changed = {
        "attention": "none",
        "encoder": {"kind": "ngram-convolution", "folds": 1, "max_kernel": 3},
        "decoder": {
            "cell": "elman",
            "size": 8,
            "initial_state": "zero",
            "sentence_encoding": "every-step",
            "input_feeding": False,
        },
    }
    return parse(translator.tables() | changed, "unfolding.toml")


def weights(run: Path) -> dict[str, torch.Tensor]:
    return dict(Run.open(run).load("latest").model)


def test_a_run_knows_how_long_its_training_pairs_are_and_goes_on_as_if_left_alone(
    unfolding: ExperimentBase, toy_pairs: Path, tmp_path: Path
) -> None:
    sources, targets = ["ad", "ad", "c"] * 6, ["dag", "d", "cadf"] * 6
    for language, lines in ("en", sources), ("fr", targets):
        (toy_pairs / f"train.{language}").write_text("".join(f"{line}\n" for line in lines))
    train(unfolding, tmp_path / "whole")
    stops = iter([False] * 2 + [True])
    train(unfolding, tmp_path / "parts", stop=lambda: next(stops))
    train(unfolding, tmp_path / "parts", resume=True)
    whole, parts = weights(tmp_path / "whole"), weights(tmp_path / "parts")
    assert all(torch.equal(whole[name], parts[name]) for name in whole)
    observed = whole["encoder.lengths.observed"]
    assert observed[:, 2:4].tolist() == [[6, 12], [6 * 5, 6 * (4 + 2)]]
    assert observed.sum(1).tolist() == [18, 66]


def test_a_translation_is_the_same_alone_and_in_any_batch(unfolding: ExperimentBase, tmp_path: Path) -> None:
    train(unfolding, tmp_path / "run")
    translator = anaphora.load(tmp_path / "run")
    assert isinstance(translator, anaphora.TranslationPredictor)
    lines = ["adf", "", "a", "cehadf", "bdg"]
    together = translator.translate(lines, beam=3)
    for line, expected in zip(lines, together, strict=True):
        assert translator.translate([line], beam=3) == [expected]
