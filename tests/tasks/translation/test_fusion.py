"""A translator that is fused with the language model of another run: what it takes over, what it trains, and what is
refused."""

import shutil
from pathlib import Path

import pytest
import torch

import anaphora
from anaphora.errors import ConfigError, RunError
from anaphora.events import Event, Note
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.run import Run
from anaphora.tasks.base import ExperimentBase, StartConfig
from anaphora.tasks.runs import experiment_of
from tests.resuming import assert_goes_on_without, weights

from ...conftest import TINY_LANGUAGE_MODEL, Trained

EPOCHS = "training.epochs=1"


def begun(text: str, data: Path, parent: Path | None, vocabulary: str, *settings: str) -> ExperimentBase:
    start = StartConfig.parse({"run": str(parent or "none"), "vocabulary": vocabulary}, "test")
    return read_experiment(text, "test.toml", [EPOCHS, *settings], data=[data], start=start)


def of_translator(parent: Path, data: Path, *settings: str, vocabulary: str = "keep") -> ExperimentBase:
    return begun((parent / "experiment.toml").read_text(), data, parent, vocabulary, *settings)


def fused(parent: Path, data: Path, language_model: Path, *settings: str) -> ExperimentBase:
    return of_translator(parent, data, "fusion.kind=deep", f"fusion.run={language_model}", *settings)


@pytest.fixture
def parent(trained_copy: Trained) -> Path:
    """A translator of the toy corpus."""
    return trained_copy("translator")


@pytest.fixture(scope="module")
def trained_language_model(trained: Trained, toy_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("fusion") / "language-model"
    settings = ("recurrence.size=6", "recurrence.dropout=0.2")
    train(begun(TINY_LANGUAGE_MODEL, toy_data / "pairs" / "train.fr", trained("translator"), "only", *settings), run)
    return run


@pytest.fixture
def language_model(trained_language_model: Path, tmp_path: Path) -> Path:
    """A language model of what it writes, with its vocabulary."""
    return shutil.copytree(trained_language_model, tmp_path / "language-model")


def test_a_fused_run_holds_both_needs_neither_and_trains_its_readout_alone(
    parent: Path, language_model: Path, toy_pairs: Path, tmp_path: Path
) -> None:
    said: list[Event] = []
    train(fused(parent, toy_pairs, language_model), tmp_path / "fused", said.append)
    before, after, known = weights(parent), weights(tmp_path / "fused"), weights(language_model)
    for name, tensor in after.items():
        if name.startswith("language_model."):
            assert torch.equal(tensor, known[name.removeprefix("language_model.")])
        elif name in before:
            learns = name.startswith(("decoder.weights.combine_", "output."))
            assert torch.equal(tensor, before[name]) != learns, name
    notes = [event.text for event in said if isinstance(event, Note)]
    assert any("combine_language.weight, language_model.*. source vocabulary" in note for note in notes)
    assert any(note.startswith("Only decoder.weights.combine_context.weight, ") for note in notes)
    best = Run.open(language_model).best()
    assert any(note == f"Its language model is step-{best} of {language_model}." for note in notes)
    shutil.rmtree(parent)
    shutil.rmtree(language_model)
    (found,) = anaphora.load(tmp_path / "fused").translate(["ad"], beam=2)  # type: ignore[union-attr]
    assert found.score < 0


def test_a_fused_run_goes_on_to_the_same_bits_without_the_runs_it_came_from(
    parent: Path, language_model: Path, toy_pairs: Path, tmp_path: Path
) -> None:
    experiment = fused(parent, toy_pairs, language_model)
    assert_goes_on_without(experiment, tmp_path, lambda: (shutil.rmtree(parent), shutil.rmtree(language_model)))


def test_what_starts_from_a_fused_run_takes_its_language_model_from_there(
    parent: Path, language_model: Path, toy_pairs: Path, tmp_path: Path
) -> None:
    train(fused(parent, toy_pairs, language_model), tmp_path / "fused")
    shutil.rmtree(language_model)
    train(of_translator(tmp_path / "fused", toy_pairs), tmp_path / "further")
    known, kept = weights(tmp_path / "fused"), weights(tmp_path / "further")
    held = [name for name in known if name.startswith("language_model.")]
    assert held
    assert all(torch.equal(known[name], kept[name]) for name in held)
    assert experiment_of(tmp_path / "further").fusion.model.recurrence.size == 6  # type: ignore[union-attr]


def test_a_translator_that_has_not_learnt_is_not_fused(parent: Path, toy_pairs: Path) -> None:
    text = (parent / "experiment.toml").read_text()
    for start, vocabulary in ((None, "keep"), (parent, "only")):
        with pytest.raises(ConfigError, match=r"one that has learnt, with its weights \(train --from RUN"):
            begun(text, toy_pairs, start, vocabulary, "fusion.kind=deep", "fusion.run=runs/lm")


def test_runs_that_cannot_be_read_beside_it_are_refused_and_nothing_is_made(
    parent: Path, trained: Trained, toy_pairs: Path, tmp_path: Path
) -> None:
    characters = ("text.tokenizer=word", "embedding={kind='character-cnn', max_kernel=2, filters=2}", EPOCHS)
    spelt, counted = trained("language-model", *characters), trained("counts")
    for run, sentence in (
        (trained("language-model"), r"needs a language model of the same target vocabulary .* --vocabulary only"),
        (counted, r"Deep fusion needs a recurrent language model, but .* has model = 'ngram': name another"),
        (parent, r"has task = 'translate'"),
        (spelt, r"are composed from characters: name another run"),
    ):
        with pytest.raises(ConfigError, match=sentence):
            train(fused(parent, toy_pairs, run), tmp_path / "fused")
    with pytest.raises(RunError, match="nothing is there"):
        train(fused(parent, toy_pairs, tmp_path / "missing"), tmp_path / "fused")
    assert not (tmp_path / "fused").exists()
