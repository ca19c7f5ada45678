"""The ways in which a language model reads its text, from training to what is made of the run."""

from itertools import count
from pathlib import Path

import pytest

import anaphora
from anaphora.errors import ConfigError
from anaphora.events import Event, Skipped, Update
from anaphora.experiment.run_training import train
from anaphora.run import Run
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.registry import parse

WAYS = {
    "windows of random lengths": {"data": {"windows": "random", "steps": 10}},
    "sentences": {"reads": "sentences", "data": {}},
}


@pytest.fixture(params=WAYS)
def reading(request: pytest.FixtureRequest, language_model: ExperimentBase, toy_book: Path) -> ExperimentBase:
    tables = language_model.tables()
    changes = WAYS[request.param]
    data = {"files": [str(toy_book)], **changes["data"]}
    training = tables["training"] | {"batch_tokens": 150}
    return parse(tables | changes | {"data": data, "training": training}, "changed.toml")


def last_weights(path: Path) -> bytes:
    run = Run.open(path)
    return (run.load("latest").path / "model.safetensors").read_bytes()


def test_a_training_stopped_amid_an_epoch_goes_on_to_the_same_bits(reading: ExperimentBase, tmp_path: Path) -> None:
    train(reading, tmp_path / "whole")
    asked = count(1)
    assert train(reading, tmp_path / "parts", stop=lambda: next(asked) > 2).reason == "stopped"
    assert train(reading, tmp_path / "parts", resume=True).reason == "epochs"
    assert last_weights(tmp_path / "whole") == last_weights(tmp_path / "parts")


@pytest.fixture
def of_sentences(language_model: ExperimentBase, toy_book: Path) -> ExperimentBase:
    data = {"files": [str(toy_book)]}
    return parse(language_model.tables() | {"reads": "sentences", "data": data}, "changed.toml")


def test_a_model_of_sentences_measures_a_text_by_the_scores_of_its_lines(
    of_sentences: ExperimentBase, toy_book: Path, tmp_path: Path
) -> None:
    train(of_sentences, tmp_path / "run")
    model = anaphora.load(tmp_path / "run")
    assert isinstance(model, anaphora.LanguageModelPredictor)
    lines = toy_book.read_text().splitlines()
    measured = model.evaluate(lines)
    scores = model.score_lines(lines)
    assert measured.nats == pytest.approx(-sum(score.nats for score in scores), rel=1e-5)
    assert measured.tokens == sum(score.tokens for score in scores)
    assert model.evaluate(lines[::-1]).nats == pytest.approx(measured.nats, rel=1e-6)
    assert model.score(lines[0]) == pytest.approx(scores[0].log10, abs=1e-5)
    assert model.generate("line 1", length=5).text.startswith("line 1")
    assert model.generate("line 1", lines=3, seed=1).text.count("\n") == 2
    with pytest.raises(ConfigError, match="reads each line by itself"):
        model.generate("line 1\nline")


def test_long_sentences_are_left_out_of_training_and_that_is_said(
    of_sentences: ExperimentBase, toy_book: Path, tmp_path: Path
) -> None:
    data = {"files": [str(toy_book)], "max_length": 25}
    said: list[Event] = []
    train(parse(of_sentences.tables() | {"data": data}, "x"), tmp_path / "run", said.append, stop=lambda: True)
    assert [event.reason for event in said if isinstance(event, Skipped)] == [
        "lines with more than 25 tokens were left out of train"
    ]
    assert not [event for event in said if isinstance(event, Update)]


@pytest.mark.parametrize("options", [{"steps": 7}, {"windows": "random"}])
def test_what_cuts_running_text_is_refused_for_sentences(
    options: dict[str, object], of_sentences: ExperimentBase
) -> None:
    with pytest.raises(ConfigError, match='reads = "sentences": it says where running text is cut'):
        parse(of_sentences.tables() | {"data": options}, "x")


@pytest.mark.parametrize("changes", [{"reads": "stream"}, {"model": "feed-forward"}])
def test_running_text_has_no_longest_line(changes: dict[str, object], language_model: ExperimentBase) -> None:
    tables = {key: value for key, value in language_model.tables().items() if key in ("task", "text")}
    with pytest.raises(ConfigError, match=r"data\.max_length leaves out sentences"):
        parse(tables | changes | {"data": {"max_length": 9}}, "x")
