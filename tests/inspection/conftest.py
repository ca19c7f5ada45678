"""Toy runs that inspection looks into, trained once."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.inspection.subject import Subject
from tests.conftest import TINY_LANGUAGE_MODEL, TINY_TRANSLATOR


def trained_translator(run: Path, data: Path, *settings: str, cell: str = "gru") -> Subject:
    small = [f"encoder.cell={cell}", f"decoder.cell={cell}", "encoder.size=5", "decoder.size=5", "embedding.size=6"]
    small += ["decoder.dropout=0", *settings]
    train(read_experiment(TINY_TRANSLATOR, "toy.toml", small, data=[data], source="en", target="fr"), run)
    return Subject.open(run)


def write_pairs(folder: Path, **splits: Sequence[tuple[str, str]]) -> None:
    """Write the pairs of each split in English and French."""
    for split, pairs in splits.items():
        for side, lines in zip(("en", "fr"), zip(*pairs, strict=True), strict=True):
            (folder / f"{split}.{side}").write_text("".join(f"{line}\n" for line in lines))


@pytest.fixture(scope="session")
def make_translator(toy_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Train a translator of the given cell and further settings."""

    @cache
    def make(cell: str = "lstm", *settings: str) -> Subject:
        return trained_translator(tmp_path_factory.mktemp("run"), toy_data / "pairs", *settings, cell=cell)

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


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if shutil.which("chromium") is None:
        pytest.skip("needs Chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])


@pytest.fixture(scope="session")
def violations() -> Callable[[Any], list[str]]:
    """Function from a page in a browser to the reports of what axe finds in it."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    return lambda page: [result.generate_report()] if (result := axe.run(page)).violations_count else []


@pytest.fixture(scope="session")
def translator(make_translator: Any) -> Subject:
    return make_translator()


@pytest.fixture(scope="session")
def language_model(make_language_model: Any) -> Subject:
    return make_language_model("lstm", 2)
