"""Outputs over large vocabularies in whole experiments: what they count, and that they resume and load as others do."""

from pathlib import Path
from typing import Any

import pytest
import torch

import anaphora
from anaphora.errors import ConfigError
from anaphora.experiment.run_training import train
from anaphora.models.language_model import LanguageModel
from anaphora.nn.outputs.class_factored import ClassFactoredOutput
from anaphora.run import Run
from anaphora.tasks.base import ExperimentBase, StartConfig
from anaphora.tasks.registry import parse

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


def with_output(experiment: ExperimentBase, output: Any, **training: Any) -> ExperimentBase:
    tables = experiment.tables()
    changed = {"output": output, "training": tables["training"] | training}
    return parse(tables | changed, "changed.toml")


def weights(run: Path) -> dict[str, torch.Tensor]:
    return dict(Run.open(run).load("latest").model)


@pytest.mark.matrix
@pytest.mark.parametrize(("kind", "output"), OUTPUTS, ids=str)
def test_a_run_that_goes_on_ends_where_one_left_alone_ends(
    kind: str, output: Any, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    experiment = with_output(request.getfixturevalue(kind), output)
    train(experiment, tmp_path / "whole")
    stops = iter([False] * 3 + [True])  # in the middle of an epoch
    train(experiment, tmp_path / "parts", stop=lambda: next(stops))
    train(experiment, tmp_path / "parts", resume=True)
    whole, parts = weights(tmp_path / "whole"), weights(tmp_path / "parts")
    assert whole.keys() == parts.keys()
    assert all(torch.equal(whole[name], parts[name]) for name in whole)
    model = anaphora.load(tmp_path / "whole")
    if isinstance(model, anaphora.TranslationPredictor):
        assert len(model.translate(["adf", ""], beam=2)) == 2
    else:
        assert model.generate("line", length=5).text.startswith("line")


def test_a_language_model_counts_every_unit_that_it_predicts_whatever_it_starts_from(
    language_model: ExperimentBase, tmp_path: Path
) -> None:
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "train.txt").write_text("abba\n" * 9 + "cab\n" * 5)
    (tmp_path / "text" / "valid.txt").write_text("cabba\n" * 5)
    tables = with_output(language_model, "full", epochs=1).tables()
    tables["data"] |= {"files": (str(tmp_path / "text"),)}
    train(parse(tables, "parent.toml"), tmp_path / "parent")
    start = StartConfig(run=str(tmp_path / "parent")).model_dump()
    train(parse(tables | {"output": "class-factored", "start": start}, "child.toml"), tmp_path / "child")
    tokenizer = Run.open(tmp_path / "child").tokenizers()["text"]
    counted = weights(tmp_path / "child")["output.counts.observed"]
    expected = {
        tokenizer.encode("a")[0]: 23,
        tokenizer.encode("b")[0]: 23,
        tokenizer.encode("c")[0]: 5,
        tokenizer.symbols.eos: 14,
    }
    assert {unit: count for unit, count in enumerate(counted.tolist()) if count} == expected


def test_a_translator_counts_the_units_of_its_targets(
    translator: ExperimentBase, toy_pairs: Path, tmp_path: Path
) -> None:
    train(with_output(translator, "nce", epochs=1), tmp_path / "run")
    tokenizer = Run.open(tmp_path / "run").tokenizers()["target"]
    lines = (toy_pairs / "train.fr").read_text().splitlines()
    ids = [unit for line in lines for unit in (*tokenizer.encode(line), tokenizer.symbols.eos)]
    counted = weights(tmp_path / "run")["output.counts.observed"]
    assert counted.tolist() == torch.bincount(torch.tensor(ids), minlength=tokenizer.symbols.size).tolist()


def extending(experiment: ExperimentBase, parent: Path, text: Path) -> ExperimentBase:
    """The same from the weights of a parent, whose vocabulary becomes larger by that of a text."""
    text.write_text("zebra xylophone quiz\n" * 60)
    tables = experiment.tables()
    start = StartConfig(run=str(parent), vocabulary="extend").model_dump()
    return parse(tables | {"start": start, "data": tables["data"] | {"files": (str(text),)}}, "child.toml")


def test_a_run_that_starts_from_another_keeps_what_its_weights_mean(
    language_model: ExperimentBase, tmp_path: Path
) -> None:
    classes = with_output(language_model, {"kind": "class-factored", "classes": 3}, epochs=1)
    train(classes, tmp_path / "parent")
    train(extending(classes, tmp_path / "parent", tmp_path / "other.txt"), tmp_path / "child")
    before, after = (weights(tmp_path / run)["output.counts.observed"] for run in ("parent", "child"))
    assert torch.equal(after[: len(before)], before) and len(after) > len(before)
    old, new = (of_words(tmp_path / run) for run in ("parent", "child"))
    assert torch.equal(new[: len(old)], old) and old.unique().tolist() == [0, 1, 2]
    assert new[len(old) :].unique().tolist() == [2]


def of_words(run: Path) -> torch.Tensor:
    """The class of every unit."""
    model = anaphora.load(run)
    assert isinstance(model, anaphora.LanguageModelPredictor) and isinstance(model._model, LanguageModel)
    assert isinstance(model._model.output, ClassFactoredOutput)
    return model._model.output.classes.class_V


@pytest.mark.parametrize("output", ["class-factored", "hierarchical", "adaptive"])
def test_a_vocabulary_that_lays_the_network_out_is_not_extended(
    output: str, language_model: ExperimentBase, tmp_path: Path
) -> None:
    laid_out = with_output(language_model, output, epochs=1)
    train(laid_out, tmp_path / "parent")
    with pytest.raises(
        ConfigError, match=r"cannot be extended, since the network is laid out by it: output\.\S+ is \d"
    ):
        train(extending(laid_out, tmp_path / "parent", tmp_path / "other.txt"), tmp_path / "child")
    assert not (tmp_path / "child").exists()
