"""What a language model is to do with the text that it has read, fitted to the data of its own run."""

from pathlib import Path

from anaphora.errors import ConfigError, DataError
from anaphora.evaluation.adaptation import Adaptation, Static, is_fitted
from anaphora.events import Note, Report
from anaphora.experiment.conduct import experiment_of
from anaphora.experiment.schema import LanguageModelExperiment
from anaphora.experiment.tasks.running_text import language_model_parts
from anaphora.pipeline import LanguageModel


def adapted_to_data(model: LanguageModel, path: Path, adaptation: Adaptation, report: Report) -> Adaptation:
    """The adaptation of the model in ``path``, what it leaves open fitted to the run's validation and training parts.

    Raises ConfigError for a model that cannot adapt so, and errors as for ``data.sources.text_parts``.
    """
    model.check(adaptation)
    if is_fitted(adaptation):
        return adaptation
    experiment = experiment_of(path)
    assert isinstance(experiment, LanguageModelExperiment)  # an ARPA file adapts to nothing
    report(Note("Fitting to the run's own data ..."))
    try:
        parts = language_model_parts(experiment, report)
    except DataError as error:
        raise DataError(
            f"What is left open is fitted to the data that {path} was trained on, which is not at hand ({error}): give "
            f"every number, as in --dynamic rate=0.001 or --neural-cache units=2000,theta=0.3,weight=0.1."
        ) from None
    return model.adapted(adaptation, parts.valid.lines(), parts.train.lines())


def refuse_adaptation(path: Path, adaptation: Adaptation) -> None:
    """ConfigError where the translator in ``path`` is to adapt."""
    if not isinstance(adaptation, Static):
        raise ConfigError(f"{path} is a translator: a neural cache and dynamic evaluation are for language models.")
