"""The data and the validation of a transducer: those of a translator, over strings with several right answers."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

import torch

from anaphora.data.columns import Integers
from anaphora.data.corpora import Pair, PairCorpus, Splits, StringFile
from anaphora.data.example_store import ExampleStore
from anaphora.data.hallucination import hallucinated
from anaphora.data.sources import string_splits
from anaphora.events import Report, silent
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.data_table import chosen_columns
from anaphora.tasks.transduce.config import TransductionExperiment
from anaphora.tasks.transduce.scores import scores_of
from anaphora.tasks.translation import TranslatorJob
from anaphora.text.symbols import SymbolTokenizer
from anaphora.text.tokenizer import Tokenizer


def splits_of(experiment: TransductionExperiment, report: Report = silent) -> Splits[PairCorpus]:
    """Return the splits of an experiment; errors as for ``data.sources.string_splits``."""
    data, seed = experiment.data, experiment.training.seed
    return string_splits(data.paths(), data.names, columns=data.table_columns, seed=seed, report=report)


def with_data_statistics(experiment: TransductionExperiment) -> TransductionExperiment:
    """Return the experiment with the columns that its training split has, where it is a table."""
    if experiment.data.header:
        return experiment
    found = cast(StringFile, splits_of(experiment).train.files[0]).found
    return experiment.with_options(chosen_columns(found.chosen, found.header)) if found.header else experiment


def answers_of(pairs: Iterable[Pair]) -> dict[str, list[str]]:
    """Return all answers of each input, in the order of the inputs."""
    found: dict[str, list[str]] = {}
    for source, target in pairs:
        found.setdefault(source, []).append(target)
    return found


class TransducerJob(TranslatorJob):
    """Pairs of strings, and how well inputs become answers."""

    def __init__(self, experiment: TransductionExperiment, report: Report) -> None:
        """Find and check the data; DataError where data.hallucinate finds nothing to replace."""
        super().__init__(experiment, report)
        count, seed = experiment.data.hallucinate, experiment.training.seed
        self._more = hallucinated(self.splits.train, count, seed) if count else self.splits.train

    @staticmethod
    def found(experiment: ExperimentBase, report: Report) -> Splits[PairCorpus]:
        """Return the splits of its data; errors as for ``splits_of``."""
        return splits_of(cast(TransductionExperiment, experiment), report)

    def scores(
        self, model: torch.nn.Module, tokenizers: Mapping[str, Tokenizer], numbers: Integers
    ) -> Mapping[str, float]:
        """Return accuracy and symbol error rate of the validation inputs of these numbers."""
        pairs = list(self.splits.valid)
        answers = answers_of(pairs[number] for number in numbers.tolist())
        outputs = self.searched(model, tokenizers, list(answers))
        scores = scores_of(outputs, answers.values(), cast(SymbolTokenizer, tokenizers["target"]))
        return {"accuracy": scores.accuracy, "symbol_error_rate": scores.symbol_error_rate}

    def _encoded(
        self, part: PairCorpus, tokenizers: Mapping[str, Tokenizer], folder: Path, report: Report
    ) -> ExampleStore:
        """Return a part as ids, the training split with what is hallucinated."""
        corpus = self._more if part is self.splits.train else part
        return super()._encoded(corpus, tokenizers, folder, report)
