"""Work on running text, whatever is learnt from it."""

import math
from collections.abc import Mapping

from anaphora.data.corpora import Parts, TextCorpus
from anaphora.data.sources import text_parts
from anaphora.data.store import TextStore
from anaphora.evaluation.perplexity import perplexity
from anaphora.events import Report
from anaphora.experiment.schema import LanguageModelExperiment
from anaphora.experiment.tasks.work import Work, data_paths
from anaphora.text import units
from anaphora.text.coder import TextCoder


class TextWork(Work):
    """An experiment whose text has been found: see ``work.Work``."""

    def __init__(self, experiment: LanguageModelExperiment, report: Report) -> None:
        """Find and check the data; errors as for ``data.sources.text_parts``."""
        self._experiment = experiment
        self._parts = language_model_parts(experiment, report)

    @property
    def fingerprints(self) -> Mapping[str, str]:
        """SHA-256 of the data by part."""
        return {"train": self._parts.train.fingerprint, "valid": self._parts.valid.fingerprint}

    @property
    def train(self) -> TextCorpus:
        """The training part."""
        return self._parts.train

    def learn_vocabulary(self, report: Report) -> dict[str, TextCoder]:
        """The coder of the text."""
        experiment = self._experiment
        languages = {"text": experiment.data.language}
        return units.fit(experiment.text, {"text": self._parts.train.lines}, report, languages=languages)


def language_model_parts(experiment: LanguageModelExperiment, report: Report) -> Parts[TextCorpus]:
    """The training, validation and test parts that an experiment names."""
    data = experiment.data
    return text_parts(data_paths(data), train=data.train, valid=data.valid, test=data.test, report=report)


def figures_of(loss: float, store: TextStore) -> Mapping[str, float]:
    """What a mean loss in nats a prediction says of an encoded text."""
    bits = loss * (len(store.ids) - 1) / math.log(2)
    return {"loss": loss, "perplexity": perplexity(loss, 1), "bits_per_character": bits / store.characters}
