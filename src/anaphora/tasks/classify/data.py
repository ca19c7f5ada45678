"""The data and the validation of a classifier."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch

from anaphora.data.columns import Integers
from anaphora.data.finding import Names
from anaphora.data.labelled import LabelledCorpus, LabelledSplits, check_labels, labelled_splits
from anaphora.data.labelled_batches import LabelledBatches
from anaphora.data.ragged import token_counts
from anaphora.data.store import TextStore, text_store
from anaphora.errors import DataError
from anaphora.evaluation.classification import classification_scores
from anaphora.events import Report, silent
from anaphora.models.classifier import Classifier
from anaphora.run import Run
from anaphora.tasks.classify.config import ClassifierExperiment
from anaphora.tasks.work import UpdatingWork
from anaphora.text import tokenization
from anaphora.text.tokenizer import Tokenizer
from anaphora.training.config import TrainingConfig
from anaphora.training.loop import Validate

Floats = np.ndarray[Any, np.dtype[np.float64]]


def splits_of(experiment: ClassifierExperiment, report: Report = silent) -> LabelledSplits:
    """The splits of an experiment; errors as for ``data.labelled.labelled_splits``."""
    data = experiment.data
    names = Names(data.train, data.valid, data.test)
    return labelled_splits(data.paths(), names, encoding=data.encoding, report=report)


def with_classes(experiment: ClassifierExperiment, parent: Any) -> ClassifierExperiment:
    """The experiment with the classes of its training split, unless it names them."""
    if experiment.classes.names:
        return experiment
    labels = splits_of(experiment).labels
    return experiment.model_copy(update={"classes": experiment.classes.model_copy(update={"names": labels})})


class ClassifierWork(UpdatingWork):
    """Labelled texts, and how well they are classified."""

    def __init__(self, experiment: ClassifierExperiment, report: Report) -> None:
        """Find and check the data; DataError where it has no classes or others than the experiment names."""
        self._experiment = with_classes(experiment, None)
        found = splits_of(experiment, report)
        names = self._experiment.classes.names
        if sorted(names) != list(found.labels):
            raise DataError(
                f"classes.names are {', '.join(names)}, but the training split has {', '.join(found.labels)}: name the "
                f"same classes, or leave classes.names out."
            )
        self.labelled = found
        self.splits = found

    @property
    def longest(self) -> int:
        return self._experiment.data.max_length

    def learn_vocabulary(self, report: Report) -> dict[str, Tokenizer]:
        texts = {"text": self.labelled.train.lines}
        return tokenization.fit(self._experiment.text, texts, report, languages=self._experiment.data.languages)

    def counts(self, tokenizers: Mapping[str, Tokenizer], folder: Path, report: Report) -> Integers:
        train = text_store(self.splits.train, tokenizers["text"], folder, report=report)
        return token_counts(train.ids, tokenizers["text"].symbols.size)

    def batches(
        self, tokenizers: Mapping[str, Tokenizer], folder: Path, batch_tokens: int, report: Report
    ) -> LabelledBatches:
        weights = None
        classes = self._classes(self.labelled.train)
        if self._experiment.classes.balanced:
            counts = np.bincount(classes, minlength=len(self._experiment.classes.names))
            weights = len(classes) / (len(counts) * np.maximum(counts, 1))
        store = text_store(self.labelled.train, tokenizers["text"], folder, report=report)
        return self._batches(store, classes, tokenizers, batch_tokens, self._experiment.training.seed, weights)

    def validation(
        self, tokenizers: Mapping[str, Tokenizer], run: Run, training: TrainingConfig, report: Report
    ) -> Validate:
        """Loss, accuracy and macro-F1 of the validation split."""
        valid, names = self.labelled.valid, self._experiment.classes.names
        classes = self._classes(valid)
        store = text_store(valid, tokenizers["text"], run.path / "encoded" / "valid", report=report)
        batches = self._batches(store, classes, tokenizers, training.batch_tokens)

        def validate(model: torch.nn.Module) -> Mapping[str, float]:
            found = np.zeros((len(classes), len(names)))
            for batch in batches.epoch(1):
                found[batch.example_ids_B.numpy()] = cast(Classifier, model).predict(batch).classes.cpu().numpy()
            scores = classification_scores(names, classes, found)
            return {"loss": scores.loss, "accuracy": scores.accuracy, "macro_f1": scores.macro_f1}

        return validate

    def _batches(
        self,
        store: TextStore,
        classes: Integers,
        tokenizers: Mapping[str, Tokenizer],
        batch_tokens: int,
        seed: int = 0,
        weights: Floats | None = None,
    ) -> LabelledBatches:
        symbols, longest = tokenizers["text"].symbols, self.longest
        return LabelledBatches(
            store, classes, symbols, batch_tokens=batch_tokens, seed=seed, longest=longest, class_weights=weights
        )

    def _classes(self, corpus: LabelledCorpus) -> Integers:
        numbers = {name: number for number, name in enumerate(self._experiment.classes.names)}
        examples = check_labels(corpus.examples(), list(numbers))
        return np.fromiter((numbers[example.label] for example in examples), np.int64)
