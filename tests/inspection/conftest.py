"""Toy runs that inspection looks into, trained once."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.inspection.subject import Subject

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
LANGUAGE_MODEL = """
task = "language-model"
[data]
steps = 20
[text]
tokenizer = "character"
[embedding]
size = 6
[recurrence]
cell = "{cell}"
size = 5
layers = {layers}
[training]
batch_tokens = 80
epochs = 1
"""


def _pairs(folder: Path) -> Path:
    folder.mkdir()
    words = [a + b + c for a in "abc" for b in "de" for c in "fgh"]
    for part, chosen in (("train", words[:12]), ("val", words[12:15]), ("test", words[15:])):
        (folder / f"{part}.en").write_text("".join(f"{word}\n" for word in chosen))
        (folder / f"{part}.fr").write_text("".join(f"{word[::-1]}\n" for word in chosen))
    return folder


@pytest.fixture(scope="session")
def make_translator(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Train a translator of the given cell and further settings."""

    @cache
    def make(cell: str = "lstm", *settings: str) -> Subject:
        folder = tmp_path_factory.mktemp("translator")
        experiment = read_experiment(
            TRANSLATOR.format(cell=cell),
            "toy.toml",
            list(settings),
            data=[_pairs(folder / "pairs")],
            source="en",
            target="fr",
        )
        train(experiment, folder / "run")
        return Subject.open(folder / "run")

    return make


@pytest.fixture(scope="session")
def make_language_model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Train a character language model of the given cell and further settings."""

    @cache
    def make(cell: str = "lstm", layers: int = 1, *settings: str) -> Subject:
        folder = tmp_path_factory.mktemp("language-model")
        book = folder / "book.txt"
        book.write_text("".join(f'line {number} of "the (little) book"\n' for number in range(40)))
        text = LANGUAGE_MODEL.format(cell=cell, layers=layers)
        train(read_experiment(text, "toy.toml", list(settings), data=[book]), folder / "run")
        return Subject.open(folder / "run")

    return make


@pytest.fixture(scope="session")
def translator(make_translator: Any) -> Subject:
    return make_translator()


@pytest.fixture(scope="session")
def language_model(make_language_model: Any) -> Subject:
    return make_language_model("lstm", 2)
