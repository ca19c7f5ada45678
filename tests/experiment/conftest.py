"""Experiments on toy data, whole."""

from pathlib import Path

import pytest

from anaphora.experiment.schema import Experiment, read_experiment


@pytest.fixture
def translator(tiny_translator: Path, toy_pairs: Path) -> Experiment:
    """A translator of the toy corpus."""
    return read_experiment(tiny_translator.read_text(), "tiny.toml", data=[toy_pairs], source="en", target="fr")


@pytest.fixture
def language_model(tiny_language_model: Path, toy_book: Path) -> Experiment:
    """A language model of the short text."""
    return read_experiment(tiny_language_model.read_text(), "tiny.toml", data=[toy_book])
