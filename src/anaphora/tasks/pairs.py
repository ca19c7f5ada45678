"""Work on pairs of sentences, whatever is learnt from them."""

from collections.abc import Mapping

from anaphora.data.corpora import PairCorpus, Parts
from anaphora.data.sources import translation_parts
from anaphora.events import Report
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.data_table import PairData, PairsData
from anaphora.tasks.work import Work
from anaphora.text import tokenization
from anaphora.text.tokenizer import Tokenizer


class PairWork(Work):
    """An experiment whose pairs have been found: see ``work.Work``."""

    parts: Parts[PairCorpus]

    def __init__(self, experiment: ExperimentBase, report: Report) -> None:
        """Find and check the data; errors as for ``found``."""
        self.parts, self._text = self.found(experiment, report), experiment.text
        assert isinstance(experiment.data, PairsData)
        self._data = experiment.data

    @staticmethod
    def found(experiment: ExperimentBase, report: Report) -> Parts[PairCorpus]:
        """The parts of its data; errors as for ``data.sources.translation_parts``."""
        return pair_parts(experiment, report)

    @property
    def longest(self) -> int:
        """Units of the longest side of a training pair."""
        return self._data.max_length

    def learn_vocabulary(self, report: Report) -> dict[str, Tokenizer]:
        """The tokenizers of both sides."""
        train = self.parts.train
        sides = {"source": train.sources, "target": train.targets}
        return tokenization.fit(
            self._text, sides, report, languages=self._data.languages, dictionary=self._dictionary(report)
        )

    def _dictionary(self, report: Report) -> Mapping[str, str] | None:
        """What a vocabulary puts in for words that it lacks, where it does."""
        return None


def pairs_of(experiment: ExperimentBase) -> PairData:
    """The ``[data]`` table of an experiment over pairs."""
    assert isinstance(experiment.data, PairData)
    return experiment.data


def pair_parts(experiment: ExperimentBase, report: Report) -> Parts[PairCorpus]:
    """The training, validation and test parts that an experiment names."""
    data = pairs_of(experiment)
    return translation_parts(
        data.paths(),
        data.source,
        data.target,
        train=data.train,
        valid=data.valid,
        test=data.test,
        layout=data.layout,
        seed=experiment.training.seed,
        report=report,
    )
