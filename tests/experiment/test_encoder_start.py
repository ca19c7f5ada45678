"""An encoder that starts from a language model: what it takes over, and what does not fit."""

import shutil
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from anaphora.errors import ConfigError
from anaphora.events import Event, Note
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.run import Run
from anaphora.tasks.base import ExperimentBase
from anaphora.text.tokenizer import Tokenizer
from tests.resuming import weights

ONCE = ["training.epochs=1", "training.optimizer.learning_rate=1e-30"]
"""One epoch that moves no weight but from 0, and that by no more than this rate."""
CLOSE = {"rtol": 0, "atol": 1e-20}
LAYERS = ["recurrence.cell=gru", "recurrence.layers=2"]


@pytest.fixture
def english(tiny_language_model: Path, toy_pairs: Path, tmp_path: Path) -> Path:
    """A language model of some of the source, so that it lacks units of it, and has one more."""
    lines = (toy_pairs / "train.en").read_text().splitlines()
    (tmp_path / "english.txt").write_text("".join(f"{line}x\n" for line in lines if "h" not in line) * 3)
    text = tiny_language_model.read_text()
    train(read_experiment(text, "lm", [*ONCE, *LAYERS], data=[tmp_path / "english.txt"]), tmp_path / "english")
    return tmp_path / "english"


@pytest.fixture
def text(tiny_translator: Path) -> str:
    """A translator whose encoder is like that language model."""
    return tiny_translator.read_text().replace("[encoder]", "[encoder]\nbidirectional = false\nlayers = 2")


def of(text: str, data: Path, *settings: str) -> ExperimentBase:
    return read_experiment(text, "tiny.toml", [*ONCE, *settings], data=[data], source="en", target="fr")


def units(tokenizer: Tokenizer) -> list[str]:
    return tokenizer.pieces(range(tokenizer.symbols.size))


def test_layers_and_the_vectors_of_common_units_are_taken_over_and_the_rest_is_drawn(
    english: Path, text: str, toy_pairs: Path, tmp_path: Path
) -> None:
    said: list[Event] = []
    train(of(text, toy_pairs), tmp_path / "anew")
    train(of(text, toy_pairs, f"start.encoder={english}"), tmp_path / "started", said.append)
    anew, started, known = weights(tmp_path / "anew"), weights(tmp_path / "started"), weights(english)
    for layer in range(2):
        for name in ("input0.weight", "input0.bias", "layer0.h"):
            own = f"encoder.layers.{layer}.left_to_right.weights.{name}"
            theirs = f"recurrence.weights.{name.replace('0', str(layer))}"
            assert_close(started.pop(own), known[theirs], **CLOSE)
    own, theirs = (
        units(Run.open(tmp_path / "started").tokenizers()["source"]),
        units(Run.open(english).tokenizers()["text"]),
    )
    assert "h" in own and "h" not in theirs and "x" in theirs
    table, drawn = started.pop("source_embedding.weight"), anew["source_embedding.weight"]
    for place, unit in enumerate(own):
        expected = known["embedding.weight"][theirs.index(unit)] if unit in theirs else drawn[place]
        assert_close(table[place], expected, **CLOSE)
    assert_close(started, {name: anew[name] for name in started}, **CLOSE)
    vectors = f"the vectors of {len(own) - 1} of {len(own)} source tokens"
    told = f"of {english}: its layers from left to right (2), and {vectors}."
    assert any(isinstance(event, Note) and event.text.endswith(told) for event in said)


def test_of_two_directions_the_one_that_reads_as_it_does_starts_from_it(
    english: Path, text: str, toy_pairs: Path, tmp_path: Path
) -> None:
    both = ("encoder.bidirectional=true", f"start.encoder={english}", "encoder.layers=1")
    with pytest.raises(ConfigError, match=r"encoder\.layers is 1 here and 2 there"):
        train(of(text, toy_pairs, *both), tmp_path / "started")
    with pytest.raises(ConfigError, match=r"layers = 2: it fits the bottom layer alone, .* encoder\.layers = 1"):
        train(of(text, toy_pairs, *both[:2]), tmp_path / "started")
    shutil.rmtree(english)
    tiny = read_experiment(
        (tmp_path / "tiny-language-model.toml").read_text(), "lm", [*ONCE, LAYERS[0]], data=[toy_pairs / "train.en"]
    )
    train(tiny, english)
    train(of(text, toy_pairs, *both), tmp_path / "started")
    started, known = weights(tmp_path / "started"), weights(english)
    own = "encoder.layers.0.{}.weights.layer0.h"
    assert torch.equal(started[own.format("left_to_right")], known["recurrence.weights.layer0.h"])
    assert not torch.equal(started[own.format("right_to_left")], known["recurrence.weights.layer0.h"])


def test_an_encoder_unlike_the_language_model_is_refused_and_nothing_is_made(
    english: Path, text: str, toy_pairs: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    for part in ("train", "val"):
        for side in ("en", "fr"):
            (tmp_path / "other" / f"{part}.{side}").write_text("42\n17\n" if part == "train" else "3\n")
    for settings, sentence in (
        (
            ["encoder.bidirectional=false", "encoder.reversed=true"],
            r"encoder\.reversed = true: it gives a forward encoder",
        ),
        (["encoder.size=9"], r"encoder\.size is 9 here and 8 there: change"),
        (["embedding.size=9", "embedding.scaled=true"], r"size is 9 here and 8 there; embedding\.scaled is true here"),
        (
            ["encoder={kind='gated-convolution'}", "attention=none"],
            r'encoder\.kind = "gated-convolution": .* leave it out',
        ),
    ):
        with pytest.raises(ConfigError, match=sentence):
            train(of(text, toy_pairs, f"start.encoder={english}", *settings), tmp_path / "started")
    with pytest.raises(ConfigError, match="has no token in common"):
        train(of(text, tmp_path / "other", f"start.encoder={english}"), tmp_path / "started")
    assert not (tmp_path / "started").exists()


def test_where_it_has_no_effect_it_is_refused(tiny_language_model: Path, text: str, toy_pairs: Path) -> None:
    with pytest.raises(ConfigError, match=r"start\.encoder has no effect, since start\.run"):
        of(text, toy_pairs, "start.encoder=runs/english", "start.run=runs/parent")
    with pytest.raises(ConfigError, match=r"start\.encoder is for models with an encoder"):
        read_experiment(tiny_language_model.read_text(), "lm.toml", ["start.encoder=runs/english"], data=[toy_pairs])
