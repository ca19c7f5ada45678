"""Toy runs that inspection looks into, trained once."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.inspection.subject import Subject
from tests.conftest import TINY_LANGUAGE_MODEL

TRANSLATOR = """
task = "translate"
[text]
tokenizer = "character"
[embedding]
size = 6
[encoder]
cell = "{cell}"
size = 5
[decoder]
cell = "{cell}"
size = 5
[training]
batch_tokens = 60
epochs = 2
"""


@pytest.fixture(scope="session")
def make_translator(toy_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Train a translator of the given cell and further settings."""

    @cache
    def make(cell: str = "lstm", *settings: str) -> Subject:
        run, text = tmp_path_factory.mktemp("translator") / "run", TRANSLATOR.format(cell=cell)
        data = [toy_data / "pairs"]
        train(read_experiment(text, "toy.toml", list(settings), data=data, source="en", target="fr"), run)
        return Subject.open(run)

    return make


@pytest.fixture(scope="session")
def make_language_model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Train a character language model of the given cell and further settings."""

    @cache
    def make(cell: str = "lstm", layers: int = 1, *settings: str) -> Subject:
        folder = tmp_path_factory.mktemp("language-model")
        book = folder / "book.txt"
        book.write_text("".join(f'line {number} of "the (little) book"\n' for number in range(40)))
        small = ["data.steps=20", "embedding.size=6", "recurrence.size=5", "training.batch_tokens=80"]
        small += ["training.epochs=1", f"recurrence.cell={cell}", f"recurrence.layers={layers}", *settings]
        train(read_experiment(TINY_LANGUAGE_MODEL, "toy.toml", small, data=[book]), folder / "run")
        return Subject.open(folder / "run")

    return make


@pytest.fixture(scope="session")
def translator(make_translator: Any) -> Subject:
    return make_translator()


@pytest.fixture(scope="session")
def language_model(make_language_model: Any) -> Subject:
    return make_language_model("lstm", 2)
