"""Training on pairs of sentences, for any task."""

from collections.abc import Mapping

from anaphora.data.corpora import PairCorpus, Splits
from anaphora.data.sources import translation_splits
from anaphora.events import Report
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.data_table import PairData
from anaphora.tasks.training_job import TrainingJob
from anaphora.text import tokenization
from anaphora.text.tokenizer import Tokenizer


class PairJob(TrainingJob):
    """An experiment whose pairs have been found: see ``training_job``."""

    splits: Splits[PairCorpus]

    def __init__(self, experiment: ExperimentBase, report: Report) -> None:
        """Find and check the data; errors as for ``found``."""
        self._experiment, self.splits = experiment, self.found(experiment, report)

    @staticmethod
    def found(experiment: ExperimentBase, report: Report) -> Splits[PairCorpus]:
        """Return the splits of its data; errors as for ``data.sources.translation_splits``."""
        return pair_splits(experiment, report)

    @property
    def learnt_from(self) -> PairCorpus:
        """Training split as a model and its vocabulary learn from it."""
        return self.splits.train

    def learn_vocabulary(self, report: Report) -> dict[str, Tokenizer]:
        train, experiment = self.learnt_from, self._experiment
        sides, languages = {"source": train.sources, "target": train.targets}, experiment.data.languages
        dictionary = self._dictionary(report)
        return tokenization.fit(experiment.text, sides, report, languages=languages, dictionary=dictionary)

    def _dictionary(self, report: Report) -> Mapping[str, str] | None:
        """Return the translations that a vocabulary puts in for words that it lacks, if it does."""
        return None


def pair_splits(experiment: ExperimentBase, report: Report) -> Splits[PairCorpus]:
    """Return the splits of an experiment over pairs; errors as for ``data.sources.translation_splits``."""
    data, seed = experiment.data, experiment.training.seed
    assert isinstance(data, PairData)
    return translation_splits(
        data.paths(), data.source, data.target, data.names, filters=data.filters, seed=seed, report=report
    )
