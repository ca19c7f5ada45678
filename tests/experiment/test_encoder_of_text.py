"""Classifiers and taggers whose encoder starts from a language model, and models that cannot."""

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
from anaphora.tasks.base import ExperimentBase
from anaphora.text.words import written
from tests.resuming import assert_goes_on_without, weights

ONCE = ["training.epochs=1", "training.optimizer.learning_rate=1e-30"]
"""One epoch that moves no weight but from 0, and that by no more than this rate."""
CLOSE = {"rtol": 0, "atol": 1e-20}

LANGUAGE_MODEL = """
task = "language-model"
reads = "sentences"
[text]
tokenizer = "word"
segmentation = "whitespace"
[embedding]
size = 8
[recurrence]
cell = "lstm"
size = 6
"""
CLASSIFIER = """
task = "classify"
[text]
tokenizer = "word"
segmentation = "whitespace"
[embedding]
size = 8
[encoder]
cell = "lstm"
size = 6
[training]
batch_tokens = 60
"""
TAGGER = """
task = "tag"
[data]
valid = "none"
[text]
min_count = 1
[embedding]
size = 8
[characters]
filters = 4
max_kernel = 2
[encoder]
cell = "lstm"
size = 6
[training]
batch_tokens = 60
"""
FORWARD = "encoder.layers.0.left_to_right.weights.{}"


@pytest.fixture
def films(tmp_path: Path) -> Path:
    """Labelled sentences."""
    words = ("fine", "dull")
    rows = [f"{n % 2}\tthe film {n % 7} was {words[n % 2]} {'indeed ' * (n % 3)}" for n in range(40)]
    (tmp_path / "films.tsv").write_text("label\ttext\n" + "\n".join(rows) + "\n")
    return tmp_path / "films.tsv"


@pytest.fixture
def english(tmp_path: Path) -> Path:
    """The run of a language model that lacks some words of the films, and has others."""
    lines = [f"the film {n % 5} was a {('fine', 'slow')[n % 2]} one" for n in range(60)]
    (tmp_path / "english.txt").write_text("\n".join(lines) + "\n")
    settings = ["training.epochs=1", "training.batch_tokens=60"]
    train(read_experiment(LANGUAGE_MODEL, "lm", settings, data=[tmp_path / "english.txt"]), tmp_path / "english")
    return tmp_path / "english"


def tokens(run: Path) -> list[str]:
    return list(written(Run.open(run).tokenizers()["text"]))


def classifier(data: Path, *settings: str) -> ExperimentBase:
    return read_experiment(CLASSIFIER, "classifier.toml", [*ONCE, *settings], data=[data])


def test_a_tagger_takes_over_what_reads_words_and_draws_what_reads_characters(english: Path, tmp_path: Path) -> None:
    sentences = (f"the D\nfilm N\n{n % 5} M\nwas V\n{('fine', 'dull')[n % 2]} A\n\n" for n in range(40))
    (tmp_path / "train.txt").write_text("".join(sentences))
    data = [tmp_path / "train.txt"]
    train(read_experiment(TAGGER, "tagger.toml", ONCE, data=data), tmp_path / "anew")
    settings = [*ONCE, f"start.encoder={english}"]
    train(read_experiment(TAGGER, "tagger.toml", settings, data=data), tmp_path / "started")
    anew, started, known = weights(tmp_path / "anew"), weights(tmp_path / "started"), weights(english)
    words_and_characters = started[FORWARD.format("input0.weight")]
    assert words_and_characters.shape[1] > 8
    assert_close(words_and_characters[:, :8], known["recurrence.weights.input0.weight"], **CLOSE)
    assert_close(words_and_characters[:, 8:], anew[FORWARD.format("input0.weight")][:, 8:], **CLOSE)
    assert_close(started[FORWARD.format("layer0.h")], known["recurrence.weights.layer0.h"], **CLOSE)
    own, theirs = tokens(tmp_path / "started"), tokens(english)
    assert_close(
        started["embedding.weight"][own.index("film")], known["embedding.weight"][theirs.index("film")], **CLOSE
    )


def test_training_goes_on_to_the_same_bits_and_answers_without_the_language_model(
    english: Path, films: Path, tmp_path: Path
) -> None:
    settings = [f"start.encoder={english}", "training.optimizer.learning_rate=0.01"]
    assert_goes_on_without(classifier(films, *settings), tmp_path, lambda: shutil.rmtree(english))
    assert anaphora.load(tmp_path / "parts").predict(["the film was fine"])[0].label in "01"


def test_a_check_shows_what_the_encoder_starts_from(
    english: Path, films: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "classifier.toml").write_text(CLASSIFIER)
    command = ["check", str(tmp_path / "classifier.toml"), "--data", str(films), "--trial", "0.1"]
    assert main([*command, "--set", f"start.encoder={english}"]) == 0
    assert "The encoder starts from step-" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (['encoder="none"'], r'encoder\.kind = "none": it gives layers of recurrence'),
        (['encoder={kind="cnn",size=6}'], r'encoder\.kind = "cnn": it gives layers of recurrence'),
        (["encoder.layers=2"], r"encoder\.layers = 2: it fits the bottom layer alone"),
        (["embedding.vectors=words.vec"], r"start\.encoder gives vectors of tokens, and so does a file"),
        (['embedding="character-cnn"'], r'embedding\.kind = "character-cnn": it gives a table of word vectors'),
    ],
)
def test_what_a_language_model_cannot_start_is_refused(settings: list[str], sentence: str, films: Path) -> None:
    with pytest.raises(ConfigError, match=sentence):
        classifier(films, "start.encoder=runs/english", *settings)


@pytest.mark.parametrize("task", ["classify", "tag"])
def test_models_of_vectors_start_from_no_language_model(task: str, films: Path) -> None:
    with pytest.raises(ConfigError, match=r"start\.encoder is for models with an encoder of text"):
        read_experiment(f'task = "{task}"\nmodel = "vectors"\n', "", ["start.encoder=runs/english"], data=[films])
