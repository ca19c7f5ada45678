"""Encoders that start from a language model: what they take over, and what does not fit or has no effect."""

import shutil
from pathlib import Path

import pytest
from torch.testing import assert_close

import anaphora
from anaphora.cli.app import main
from anaphora.errors import ConfigError
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.run import Run
from anaphora.tasks.base import ExperimentBase as Experiment
from anaphora.text.words import spellings
from tests.resuming import assert_goes_on_without, weights

from .runs import changed, texts

ONCE = ["training.epochs=1", "training.optimizer.learning_rate=1e-30"]
"""One epoch that moves no weight but from 0, and that by no more than this rate."""
CLOSE = {"rtol": 0, "atol": 1e-20}

WORDS = """
text = {tokenizer = "word", segmentation = "whitespace"}
embedding.size = 8
training.batch_tokens = 60
"""
LANGUAGE_MODEL = f'task = "language-model"\nreads = "sentences"\nrecurrence = {{cell = "lstm", size = 6}}\n{WORDS}'
CLASSIFIER = f'task = "classify"\nencoder = {{cell = "lstm", size = 6}}\n{WORDS}'
TAGGER = """
task = "tag"
data.valid = "none"
text.min_count = 1
embedding.size = 8
characters = {filters = 4, max_kernel = 2}
encoder = {cell = "lstm", size = 6}
training.batch_tokens = 60
"""
FORWARD = "encoder.layers.{}.left_to_right.weights.{}"


def tokens(run: Path, side: str = "text") -> list[str]:
    return list(spellings(Run.open(run).tokenizers()[side]))


def encoder(run: Path) -> str:
    return f'start.encoder="{run}"'


@pytest.fixture
def letters(language_model: Experiment, toy_pairs: Path, tmp_path: Path) -> Path:
    """A language model of some of the source, so that it lacks units of it, and has one more."""
    lines = (toy_pairs / "train.en").read_text().splitlines()
    (tmp_path / "letters.txt").write_text("".join(f"{line}x\n" for line in lines if "h" not in line) * 3)
    settings = ["recurrence.cell=gru", "recurrence.layers=2", f'data.files=["{tmp_path}/letters.txt"]']
    train(changed(language_model, *ONCE, *settings), tmp_path / "letters")
    return tmp_path / "letters"


@pytest.fixture
def like_it(translator: Experiment) -> Experiment:
    """A translator whose encoder is like that language model."""
    return changed(translator, *ONCE, "encoder.bidirectional=false", "encoder.layers=2")


def test_layers_and_common_vectors_are_kept_and_others_drawn(
    letters: Path, like_it: Experiment, tmp_path: Path
) -> None:
    train(like_it, tmp_path / "anew")
    said = texts(changed(like_it, encoder(letters)), tmp_path / "started")
    anew, started, known = weights(tmp_path / "anew"), weights(tmp_path / "started"), weights(letters)
    for layer in range(2):
        for name in ("input0.weight", "input0.bias", "layer0.h"):
            theirs = f"recurrence.weights.{name.replace('0', str(layer))}"
            assert_close(started.pop(FORWARD.format(layer, name)), known[theirs], **CLOSE)
    own, theirs = tokens(tmp_path / "started", "source"), tokens(letters)
    assert "h" in own and "h" not in theirs and "x" in theirs
    table, drawn = started.pop("source_embedding.weight"), anew["source_embedding.weight"]
    for place, unit in enumerate(own):
        expected = known["embedding.weight"][theirs.index(unit)] if unit in theirs else drawn[place]
        assert_close(table[place], expected, **CLOSE)
    assert_close(started, {name: anew[name] for name in started}, **CLOSE)
    vectors = f"the vectors of {len(own) - 1} of {len(own)} source tokens"
    assert any(text.endswith(f"of {letters}: its layers from left to right (2), and {vectors}.") for text in said)


def test_an_unlike_encoder_is_refused_and_nothing_made(letters: Path, like_it: Experiment, tmp_path: Path) -> None:
    (other := tmp_path / "other").mkdir()
    for name, text in ("train", "42\n17\n"), ("val", "3\n"):
        for side in ("en", "fr"):
            (other / f"{name}.{side}").write_text(text)
    for settings, sentence in (
        (["encoder.bidirectional=true", "encoder.layers=1"], r"encoder\.layers is 1 here and 2 there"),
        (["encoder.size=9"], r"encoder\.size is 9 here and 8 there: change"),
        (["embedding.size=9", "embedding.scaled=true"], r"size is 9 here and 8 there; embedding\.scaled is true here"),
        ([f'data.files=["{other}"]'], "has no token in common"),
    ):
        with pytest.raises(ConfigError, match=sentence):
            train(changed(like_it, encoder(letters), *settings), tmp_path / "started")
    assert not (tmp_path / "started").exists()


@pytest.fixture
def english(tmp_path: Path) -> Path:
    """The run of a language model that lacks some words of the films, and has others."""
    lines = [f"the film {n % 5} was a {('fine', 'slow')[n % 2]} one" for n in range(60)]
    (tmp_path / "english.txt").write_text("\n".join(lines) + "\n")
    train(read_experiment(LANGUAGE_MODEL, "lm", ONCE[:1], data=[tmp_path / "english.txt"]), tmp_path / "english")
    return tmp_path / "english"


def test_a_tagger_takes_over_what_reads_words_and_draws_what_reads_characters(english: Path, tmp_path: Path) -> None:
    sentences = (f"the D\nfilm N\n{n % 5} M\nwas V\n{('fine', 'dull')[n % 2]} A\n\n" for n in range(40))
    (tmp_path / "train.txt").write_text("".join(sentences))
    for name, settings in ("anew", ONCE), ("started", [*ONCE, encoder(english)]):
        train(read_experiment(TAGGER, "tagger", settings, data=[tmp_path / "train.txt"]), tmp_path / name)
    anew, started, known = weights(tmp_path / "anew"), weights(tmp_path / "started"), weights(english)
    both = FORWARD.format(0, "input0.weight")
    assert started[both].shape[1] > 8
    assert_close(started[both][:, :8], known["recurrence.weights.input0.weight"], **CLOSE)
    assert_close(started[both][:, 8:], anew[both][:, 8:], **CLOSE)
    assert_close(started[FORWARD.format(0, "layer0.h")], known["recurrence.weights.layer0.h"], **CLOSE)
    backward = "encoder.layers.0.right_to_left.weights.layer0.h"
    assert_close(started[backward], anew[backward], **CLOSE)
    own, theirs = (tokens(run).index("film") for run in (tmp_path / "started", english))
    assert_close(started["embedding.weight"][own], known["embedding.weight"][theirs], **CLOSE)


def test_classifiers_resume_without_the_model(
    english: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{n % 2}\tthe film {n % 7} was {('fine', 'dull')[n % 2]} {'indeed ' * (n % 3)}" for n in range(40)]
    (films := tmp_path / "films.tsv").write_text("label\ttext\n" + "\n".join(rows) + "\n")
    (tmp_path / "classifier.toml").write_text(CLASSIFIER)
    command = ["check", str(tmp_path / "classifier.toml"), "--data", str(films), "--trial", "0.1"]
    assert main([*command, "--set", encoder(english)]) == 0
    assert "The encoder starts from step-" in capsys.readouterr().err
    settings = ["training.epochs=1", encoder(english)]
    classifier = read_experiment(CLASSIFIER, "classifier.toml", settings, data=[films])
    assert_goes_on_without(classifier, tmp_path, lambda: shutil.rmtree(english))
    assert anaphora.load(tmp_path / "parts").predict(["the film was fine"])[0].label in "01"


@pytest.mark.parametrize(
    ("experiment", "sentence"),
    [
        ('task = "classify"\nencoder = "none"', r'encoder\.kind = "none": it gives layers of recurrence'),
        ('task = "classify"\nencoder.kind = "cnn"', r'encoder\.kind = "cnn": it gives layers of recurrence'),
        ('task = "classify"\nencoder.layers = 2', r"encoder\.layers = 2: it fits the bottom layer alone"),
        ('task = "classify"\nembedding.vectors = "a"', r"start\.encoder gives vectors of tokens, and so does a file"),
        ('task = "classify"\nembedding = "character-cnn"', r'embedding\.kind = "character-cnn": it gives a table of'),
        ('task = "translate"\nencoder = {bidirectional = false, reversed = true}', "it gives a forward encoder"),
        ('task = "translate"\nattention = "none"\nencoder = "gated-convolution"', r'"gated-convolution": .* leave it'),
        ('task = "translate"\nstart.run = "runs/parent"', r"start\.encoder has no effect, since start\.run"),
        *(
            (f'task = "{task}"\nmodel = "{model}"', r"start\.encoder is for models with an encoder")
            for task, model in (("classify", "vectors"), ("tag", "vectors"), ("language-model", "recurrent"))
        ),
    ],
)
def test_what_a_language_model_cannot_start_is_refused(experiment: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        read_experiment(experiment, "here", ["start.encoder=runs/english"])
