"""The ways in which a language model reads its text, from training to what is made of the run."""

from pathlib import Path

import pytest

import anaphora
from anaphora.errors import ConfigError
from anaphora.events import Event, Skipped, Update
from anaphora.experiment.run_training import train
from anaphora.tasks.base import ExperimentBase as Experiment
from anaphora.tasks.registry import parse

from .runs import assert_resumes, changed


@pytest.fixture
def of_sentences(language_model: Experiment, toy_book: Path) -> Experiment:
    return changed(language_model, "reads=sentences", data={"files": [str(toy_book)]})


def test_random_windows_resume_amid_an_epoch_to_the_same_bits(language_model: Experiment, tmp_path: Path) -> None:
    assert_resumes(changed(language_model, "data.windows=random"), tmp_path, 2)


def test_models_of_sentences_resume_and_sum_lines(of_sentences: Experiment, toy_book: Path, tmp_path: Path) -> None:
    model = anaphora.load(assert_resumes(of_sentences, tmp_path, 2))
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


def test_long_sentences_are_reported_and_left_out_of_training(of_sentences: Experiment, tmp_path: Path) -> None:
    events: list[Event] = []
    train(changed(of_sentences, "data.max_length=25"), tmp_path / "run", events.append, stop=lambda: True)
    assert [event.reason for event in events if isinstance(event, Skipped)] == [
        "lines with more than 25 tokens were left out of train"
    ]
    assert not [event for event in events if isinstance(event, Update)]


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"reads": "sentences", "data": {"steps": 7}}, 'reads = "sentences": it says where running text'),
        ({"reads": "sentences", "data": {"windows": "random"}}, 'reads = "sentences": it says where running text'),
        ({"reads": "stream", "data": {"max_length": 9}}, r"data\.max_length leaves out sentences"),
        ({"model": "feed-forward", "data": {"max_length": 9}}, r"data\.max_length leaves out sentences"),
    ],
)
def test_sentences_are_not_cut_and_running_text_has_no_longest_line(table: dict[str, object], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        parse({"task": "language-model"} | table, "x")
