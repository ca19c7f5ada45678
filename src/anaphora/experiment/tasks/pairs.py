"""Work on pairs of sentences, whatever is learnt from them."""

from collections.abc import Mapping

from anaphora.data.corpora import PairCorpus, Parts
from anaphora.data.sources import translation_parts
from anaphora.events import Report
from anaphora.experiment.schema import PairExperiment
from anaphora.experiment.tasks.work import Work, data_paths
from anaphora.text import units
from anaphora.text.coder import TextCoder


class PairWork(Work):
    """An experiment whose pairs have been found: see ``work.Work``."""

    def __init__(self, experiment: PairExperiment, report: Report) -> None:
        """Find and check the data; errors as for ``data.sources.translation_parts``."""
        self._parts, self._text, self._data = pair_parts(experiment, report), experiment.text, experiment.data

    @property
    def fingerprints(self) -> Mapping[str, str]:
        """SHA-256 of the data by part."""
        return {"train": self._parts.train.fingerprint, "valid": self._parts.valid.fingerprint}

    @property
    def train(self) -> PairCorpus:
        """The training part."""
        return self._parts.train

    @property
    def longest(self) -> int:
        """Units of the longest side of a training pair."""
        return self._data.longest

    def learn_vocabulary(self, report: Report) -> dict[str, TextCoder]:
        """The coders of both sides."""
        train = self._parts.train
        languages = {"source": self._data.source, "target": self._data.target}
        sides = {"source": train.sources, "target": train.targets}
        return units.fit(self._text, sides, report, languages=languages, dictionary=self._dictionary(report))

    def _dictionary(self, report: Report) -> Mapping[str, str] | None:
        """What a vocabulary puts in for words that it lacks, where it does."""
        return None


def pair_parts(experiment: PairExperiment, report: Report) -> Parts[PairCorpus]:
    """The training, validation and test parts that an experiment names."""
    data = experiment.data
    return translation_parts(
        data_paths(data),
        data.source,
        data.target,
        train=data.train,
        valid=data.valid,
        test=data.test,
        seed=experiment.training.seed,
        report=report,
    )
