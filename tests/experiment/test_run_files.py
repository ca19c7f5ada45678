"""What a run folder says of itself: options that have an effect, and nobody's folders."""

import tomllib
from pathlib import Path

import pytest

from anaphora.events import Event, Note
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.tasks.runs import experiment_of
from tests.conftest import Trained

from .runs import QUICK


def test_a_count_model_lists_no_options_of_updates_and_resumes(
    count_model: str, toy_book: Path, tmp_path: Path
) -> None:
    experiment = read_experiment(count_model, "counts.toml", data=[toy_book])
    train(experiment, tmp_path / "run")
    table = tomllib.loads((tmp_path / "run" / "experiment.toml").read_text())
    assert table["training"].keys() == {"seed", "threads"}
    assert "steps" not in table["data"]
    assert experiment_of(tmp_path / "run") == experiment
    assert train(experiment, tmp_path / "run", resume=True).reason == "fitted"


def test_a_card_names_files_without_their_folders(trained: Trained, toy_data: Path) -> None:
    card = (trained("language-model", QUICK) / "card.md").read_text()
    assert "book.txt" in card and str(toy_data) not in card


@pytest.mark.parametrize("unknown", [True, False])
def test_the_share_of_unknown_words_is_reported_before_the_first_validation(unknown: bool, tmp_path: Path) -> None:
    for name, text in ("train", "the cat\nthe dog\n"), ("val", "the bird.\n" if unknown else "the cat\n"):
        (tmp_path / f"{name}.txt").write_text(text * 20)
    words = """
    task = "language-model"
    data.steps = 5
    text = {tokenizer = "word", segmentation = "whitespace"}
    embedding.size = 4
    recurrence.size = 4
    training = {epochs = 1, batch_tokens = 20}
    """
    events: list[Event] = []
    experiment = read_experiment(words, "words.toml", data=[tmp_path])
    train(experiment, tmp_path / "run", events.append)
    notes = [event.text for event in events if isinstance(event, Note) and "are unknown" in event.text]
    assert len(notes) == unknown
    assert not unknown or notes[0].startswith("32.79% of the tokens of the validation split are unknown (20 of 61)")
