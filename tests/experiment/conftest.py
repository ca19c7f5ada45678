"""A language model of few updates."""

import pytest

from anaphora.tasks.base import ExperimentBase as Experiment

from .runs import QUICK, changed


@pytest.fixture
def language_model(language_model: Experiment) -> Experiment:
    """A language model of the short text, with six updates an epoch."""
    return changed(language_model, QUICK)
