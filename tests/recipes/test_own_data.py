"""Every recipe of a language model trains on a person's own text: what belongs to its own corpus gives way to it."""

from itertools import count
from pathlib import Path

import pytest

from anaphora import recipes
from anaphora.events import Event, Update
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.language_model.config import NgramExperiment


def experiment_of(name: str, *data: Path) -> ExperimentBase:
    return read_experiment(recipes.read(name), name, ["training.threads=1"], data=data)


TEXTUAL = [name for name in recipes.names() if experiment_of(name).task == "language-model"]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder with the three parts of a text."""
    folder = tmp_path / "own"
    folder.mkdir()
    words = ["the", "old", "man", "saw", "a", "cat", "in", "the", "garden"]
    for part, lines in (("train", 24), ("valid", 4), ("test", 4)):
        text = (" ".join([*words[place % 3 :], str(place)]) for place in range(lines))
        (folder / f"{part}.txt").write_text("".join(f"{line}\n" for line in text))
    return folder


@pytest.mark.matrix
@pytest.mark.parametrize("name", TEXTUAL)
def test_every_recipe_of_a_language_model_trains_on_ones_own_text(name: str, own: Path, tmp_path: Path) -> None:
    experiment = experiment_of(name, own)
    heard: list[Event] = []
    asked = count()
    train(experiment, tmp_path / "run", heard.append, stop=lambda: next(asked) > 0)
    updates = sum(isinstance(event, Update) for event in heard)
    assert updates == (0 if isinstance(experiment, NgramExperiment) else 1)
