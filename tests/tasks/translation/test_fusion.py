"""A translator that is fused with the language model of another run: what it takes over, what it trains, and what is
refused."""

import shutil
from pathlib import Path

import pytest
import torch

import anaphora
from anaphora.errors import ConfigError, RunError
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.run import Run
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.runs import experiment_of
from tests.experiment.runs import changed, texts
from tests.resuming import assert_goes_on_without, weights

from ...conftest import TINY_LANGUAGE_MODEL, Trained

EPOCHS = "training.epochs=1"


def started(parent: Path, *settings: str) -> ExperimentBase:
    """A translator that starts from another on the same pairs."""
    return changed(experiment_of(parent), EPOCHS, f'start.run="{parent}"', *settings)


def fused(parent: Path, language_model: Path) -> ExperimentBase:
    return started(parent, "fusion.kind=deep", f'fusion.run="{language_model}"')


@pytest.fixture
def parent(trained_copy: Trained) -> Path:
    """A translator of the toy corpus."""
    return trained_copy("translator")


@pytest.fixture(scope="module")
def trained_language_model(trained: Trained, toy_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("fusion") / "language-model"
    start = (f'start.run="{trained("translator")}"', "start.vocabulary=only")
    settings = (EPOCHS, *start, "recurrence.size=6", "recurrence.dropout=0.2")
    train(read_experiment(TINY_LANGUAGE_MODEL, "test.toml", settings, data=[toy_data / "pairs" / "train.fr"]), run)
    return run


@pytest.fixture
def language_model(trained_language_model: Path, tmp_path: Path) -> Path:
    """A language model of what it writes, with its vocabulary."""
    return shutil.copytree(trained_language_model, tmp_path / "language-model")


def test_a_fused_run_has_both_and_trains_its_readout_alone(parent: Path, language_model: Path, tmp_path: Path) -> None:
    notes = texts(fused(parent, language_model), tmp_path / "fused")
    before, after, known = weights(parent), weights(tmp_path / "fused"), weights(language_model)
    for name, tensor in after.items():
        if name.startswith("language_model."):
            assert torch.equal(tensor, known[name.removeprefix("language_model.")])
        elif name in before:
            learns = name.startswith(("decoder.weights.combine_", "output."))
            assert torch.equal(tensor, before[name]) != learns, name
    assert any("combine_language.weight, language_model.*. source vocabulary" in note for note in notes)
    assert any(note.startswith("Only decoder.weights.combine_context.weight, ") for note in notes)
    best = Run.open(language_model).best()
    assert any(note == f"Its language model is step-{best} of {language_model}." for note in notes)
    shutil.rmtree(parent)
    shutil.rmtree(language_model)
    (found,) = anaphora.load(tmp_path / "fused").translate(["ad"], beam=2)  # type: ignore[union-attr]
    assert found.score < 0


def test_a_fused_run_goes_on_to_the_same_bits_without_both(parent: Path, language_model: Path, tmp_path: Path) -> None:
    experiment = fused(parent, language_model)
    assert_goes_on_without(experiment, tmp_path, lambda: (shutil.rmtree(parent), shutil.rmtree(language_model)))


def test_a_run_from_a_fused_one_has_its_language_model(parent: Path, language_model: Path, tmp_path: Path) -> None:
    train(fused(parent, language_model), tmp_path / "fused")
    shutil.rmtree(language_model)
    train(started(tmp_path / "fused"), tmp_path / "further")
    known, kept = weights(tmp_path / "fused"), weights(tmp_path / "further")
    held = [name for name in known if name.startswith("language_model.")]
    assert held
    assert all(torch.equal(known[name], kept[name]) for name in held)
    assert experiment_of(tmp_path / "further").fusion.model.recurrence.size == 6  # type: ignore[union-attr]


def test_a_translator_that_has_not_learnt_is_not_fused(parent: Path) -> None:
    for start in ("start.run=none",), (f'start.run="{parent}"', "start.vocabulary=only"):
        with pytest.raises(ConfigError, match=r"one that has learnt, with its weights \(train --from RUN"):
            changed(experiment_of(parent), *start, "fusion.kind=deep", "fusion.run=runs/lm")


def test_other_language_models_are_refused_and_nothing_is_made(parent: Path, trained: Trained, tmp_path: Path) -> None:
    characters = ("text.tokenizer=word", "embedding={kind='character-cnn', max_kernel=2, filters=2}", EPOCHS)
    spelt, counted = trained("language-model", *characters), trained("counts")
    for run, sentence in (
        (trained("language-model"), r"needs a language model of the same target vocabulary .* --vocabulary only"),
        (counted, r"Deep fusion needs a recurrent language model, but .* has model = 'ngram': name another"),
        (parent, r"has task = 'translate'"),
        (spelt, r"are composed from characters: name another run"),
    ):
        with pytest.raises(ConfigError, match=sentence):
            train(fused(parent, run), tmp_path / "fused")
    with pytest.raises(RunError, match="nothing is there"):
        train(fused(parent, tmp_path / "missing"), tmp_path / "fused")
    assert not (tmp_path / "fused").exists()
