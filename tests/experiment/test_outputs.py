"""Outputs over large vocabularies in whole experiments: what they count, and that they resume and load as others do."""

from pathlib import Path
from typing import Any

import pytest
import torch

from anaphora.errors import ConfigError
from anaphora.experiment.run_training import train
from anaphora.models.language_model import LanguageModel
from anaphora.nn.outputs.class_factored import ClassFactoredOutput
from anaphora.run import Run
from anaphora.tasks.base import ExperimentBase as Experiment
from anaphora.tasks.runs import load_trained

from .runs import assert_resumes, assert_used, changed, last_weights

ONCE = "training.epochs=1"
PARTITION = {"kind": "sampled", "proposal": {"kind": "partition", "words": 12}}
OUTPUTS: list[tuple[str, Any]] = [
    ("language_model", "class-factored"),
    ("translator", "hierarchical"),
    ("language_model", "adaptive"),
    ("language_model", {"kind": "sampled", "proposal": {"kind": "unigram", "words": 5}}),
    ("language_model", PARTITION),
    ("translator", PARTITION),
    ("translator", {"kind": "nce", "noise_samples": 5}),
]


def with_output(experiment: Experiment, output: Any, *settings: str) -> Experiment:
    return changed(experiment, *settings, output=output)


@pytest.mark.matrix
@pytest.mark.parametrize(("kind", "output"), OUTPUTS, ids=str)
def test_a_resumed_run_ends_as_a_whole(kind: str, output: Any, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    assert_used(assert_resumes(with_output(request.getfixturevalue(kind), output), tmp_path))  # stopped amid an epoch


def test_a_language_model_counts_all_that_it_predicts(language_model: Experiment, tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "train.txt").write_text("abba\n" * 9 + "cab\n" * 5)
    (tmp_path / "text" / "valid.txt").write_text("cabba\n" * 5)
    parent = with_output(language_model, "full", ONCE, f'data.files=["{tmp_path}/text"]')
    train(parent, tmp_path / "parent")
    train(with_output(parent, "class-factored", f'start.run="{tmp_path}/parent"'), tmp_path / "child")
    tokenizer = Run.open(tmp_path / "child").tokenizers()["text"]
    counted = last_weights(tmp_path / "child")["output.counts.observed"]
    expected = {tokenizer.encode(letter)[0]: number for letter, number in (("a", 23), ("b", 23), ("c", 5))}
    expected[tokenizer.symbols.eos] = 14
    assert {unit: count for unit, count in enumerate(counted.tolist()) if count} == expected


def test_a_translator_counts_tokens_of_its_targets(translator: Experiment, toy_pairs: Path, tmp_path: Path) -> None:
    train(with_output(translator, "nce", ONCE), tmp_path / "run")
    tokenizer = Run.open(tmp_path / "run").tokenizers()["target"]
    lines = (toy_pairs / "train.fr").read_text().splitlines()
    ids = [unit for line in lines for unit in (*tokenizer.encode(line), tokenizer.symbols.eos)]
    counted = last_weights(tmp_path / "run")["output.counts.observed"]
    assert counted.tolist() == torch.bincount(torch.tensor(ids), minlength=tokenizer.symbols.size).tolist()


def extending(experiment: Experiment, parent: Path, text: Path) -> Experiment:
    """The same from the weights of a parent, whose vocabulary becomes larger by that of a text."""
    text.write_text("zebra xylophone quiz\n" * 60)
    start = {"run": str(parent), "vocabulary": "extend"}
    return changed(experiment, f'data.files=["{text}"]', start=start)


def test_a_run_started_from_another_keeps_what_its_weights_mean(language_model: Experiment, tmp_path: Path) -> None:
    classes = with_output(language_model, {"kind": "class-factored", "classes": 3}, ONCE)
    train(classes, tmp_path / "parent")
    train(extending(classes, tmp_path / "parent", tmp_path / "other.txt"), tmp_path / "child")
    before, after = (last_weights(tmp_path / run)["output.counts.observed"] for run in ("parent", "child"))
    assert torch.equal(after[: len(before)], before) and len(after) > len(before)
    old, new = (of_words(tmp_path / run) for run in ("parent", "child"))
    assert torch.equal(new[: len(old)], old) and old.unique().tolist() == [0, 1, 2]
    assert new[len(old) :].unique().tolist() == [2]


def of_words(run: Path) -> torch.Tensor:
    """The class of every unit."""
    model = load_trained(run).model
    assert isinstance(model, LanguageModel) and isinstance(model.output, ClassFactoredOutput)
    return model.output.classes.class_V


@pytest.mark.parametrize("output", ["class-factored", "hierarchical", "adaptive"])
def test_no_laid_out_vocabulary_is_extended(output: str, language_model: Experiment, tmp_path: Path) -> None:
    laid_out = with_output(language_model, output, ONCE)
    train(laid_out, tmp_path / "parent")
    with pytest.raises(ConfigError, match=r"cannot be extended, since .* laid out by it: output\.\S+ is \d"):
        train(extending(laid_out, tmp_path / "parent", tmp_path / "other.txt"), tmp_path / "child")
    assert not (tmp_path / "child").exists()
