"""Work on running text, whatever is learnt from it."""

import math
from collections.abc import Mapping

from anaphora.data.corpora import Splits, TextCorpus
from anaphora.data.sources import text_splits
from anaphora.data.store import TextStore
from anaphora.evaluation.perplexity import perplexity
from anaphora.events import Report
from anaphora.tasks.language_model.config import LanguageModelExperiment
from anaphora.tasks.work import Work


class TextWork(Work):
    """An experiment whose text has been found: see ``work.Work``."""

    _experiment: LanguageModelExperiment
    splits: Splits[TextCorpus]

    def __init__(self, experiment: LanguageModelExperiment, report: Report) -> None:
        """Find and check the data; errors as for ``data.sources.text_splits``."""
        self._experiment = experiment
        self.splits = language_model_splits(experiment, report)


def language_model_splits(experiment: LanguageModelExperiment, report: Report) -> Splits[TextCorpus]:
    data = experiment.data
    return text_splits(data.paths(), data.names, report=report)


def figures_of(loss: float, store: TextStore) -> Mapping[str, float]:
    """What a mean loss in nats a prediction says of an encoded text."""
    bits = loss * (len(store.ids) - 1) / math.log(2)
    return {"loss": loss, "perplexity": perplexity(loss, 1), "bits_per_character": bits / store.characters}
