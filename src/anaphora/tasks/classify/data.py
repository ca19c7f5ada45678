"""The data and the validation of a classifier."""

from collections.abc import Mapping
from functools import partial
from typing import TypeVar, cast

import numpy as np
import torch

from anaphora.data.columns import Integers
from anaphora.data.labelled import LabelledCorpus, LabelledFormat, LabelledSplits, check_labels, labelled_splits
from anaphora.data.labelled_batches import LabelledBatches, labels_of
from anaphora.data.ragged import token_counts
from anaphora.data.store import TextStore, text_store
from anaphora.data.trace_store import moments
from anaphora.data.vector_batches import VectorBatches, checked
from anaphora.errors import DataError
from anaphora.events import Report, silent
from anaphora.models.classifier import PooledClassifier
from anaphora.protocols import Batches
from anaphora.tasks.classify.config import (
    ClassifierExperiment,
    ClassifyExperiment,
    LabelledData,
    VectorClassifierExperiment,
)
from anaphora.tasks.classify.targets import Targets, balanced_weights, scores_of, targets_of
from anaphora.tasks.data_table import chosen_columns
from anaphora.tasks.work import Begun, UpdatingWork
from anaphora.text.tokenizer import Tokenizer
from anaphora.training.loop import Validate

AnyClassifier = TypeVar("AnyClassifier", bound=ClassifyExperiment)


def splits_of(experiment: ClassifyExperiment, report: Report = silent) -> LabelledSplits:
    """The splits of an experiment; errors as for ``data.labelled.labelled_splits``."""
    return labelled_splits(experiment.data.paths(), experiment.data.names, format_of(experiment), report)


def format_of(experiment: ClassifyExperiment) -> LabelledFormat:
    """How the files of an experiment are read."""
    data = experiment.data
    separator = data.label_separator if experiment.classes.several else None
    if not isinstance(data, LabelledData):
        return LabelledFormat(separator=separator, vectors=True)
    return LabelledFormat(data.encoding, separator, columns=data.table_columns)


def settled(experiment: AnyClassifier, found: LabelledSplits) -> AnyClassifier:
    """The experiment with the classes, and the widths and scales of vectors, that its training split has.

    Raises DataError for vectors of several widths.
    """
    if not experiment.classes.names:
        experiment = experiment.with_options({"classes.names": found.labels})
    if isinstance(experiment, ClassifierExperiment):
        _, columns, header = found.train.format.columns
        experiment = experiment.with_options(chosen_columns(columns, header))
    if isinstance(experiment, VectorClassifierExperiment) and not experiment.vectors.settled:
        scale = moments(found.train.examples(), lambda one: one.vectors.astype(np.float64))
        experiment = experiment.with_options({"vectors": experiment.vectors.measured(*scale)})
    return experiment


class ClassifyWork(UpdatingWork):
    """Labelled examples."""

    splits: LabelledSplits

    def __init__(self, experiment: ClassifyExperiment, report: Report) -> None:
        """Find and check the data; DataError where it has no classes or others than the experiment names."""
        self.splits = splits_of(experiment, report)
        self._experiment = settled(experiment, self.splits)
        names, labels = self._experiment.classes.names, self.splits.labels
        if sorted(names) != list(labels):
            raise DataError(
                f"classes.names are {', '.join(names)}, but the training split has {', '.join(labels)}: name the "
                f"same classes, or leave classes.names out."
            )

    def _targets(self, corpus: LabelledCorpus) -> Targets:
        classes = self._experiment.classes
        return targets_of(classes, (one.labels for one in check_labels(corpus, classes.names)))


class VectorWork(ClassifyWork):
    """Labelled sequences of vectors, all in memory, and how well they are classified."""

    _experiment: VectorClassifierExperiment

    def learn_vocabulary(self, report: Report) -> dict[str, Tokenizer]:
        """None: there is no text."""
        return {}

    def batches(self, begun: Begun, report: Report) -> VectorBatches:
        return self._batches(self.splits.train, begun.training.batch_tokens, begun.training.seed)[0]

    def validation(self, begun: Begun, report: Report) -> Validate:
        """Loss and accuracy of the validation split, and F1."""
        return validation_of(*self._batches(self.splits.valid, begun.training.batch_tokens, 0))

    def _batches(self, corpus: LabelledCorpus, batch_tokens: int, seed: int) -> tuple[VectorBatches, Targets]:
        targets = self._targets(corpus)
        width = self._experiment.vectors.size
        sequences = [checked(one.place, one.vectors, width)[: self.longest] for one in corpus.examples()]
        weights = balanced_weights(self._experiment.classes, targets)
        of_rows = partial(labels_of, targets)
        return VectorBatches(sequences, of_rows, batch_tokens=batch_tokens, seed=seed, weights=weights), targets


class ClassifierWork(ClassifyWork):
    """Labelled texts, and how well they are classified."""

    _experiment: ClassifierExperiment

    def counts(self, begun: Begun, report: Report) -> Integers:
        tokenizer = begun.tokenizers["text"]
        train = text_store(self.splits.train, tokenizer, begun.encoded / "train", report=report)
        return token_counts(train.ids, tokenizer.symbols.size)

    def batches(self, begun: Begun, report: Report) -> LabelledBatches:
        store = text_store(self.splits.train, begun.tokenizers["text"], begun.encoded / "train", report=report)
        return self._batches(store, self._targets(self.splits.train), begun, begun.training.seed)

    def validation(self, begun: Begun, report: Report) -> Validate:
        """Loss, accuracy and macro-F1 of the validation split."""
        valid = self.splits.valid
        targets = self._targets(valid)
        store = text_store(valid, begun.tokenizers["text"], begun.encoded / "valid", report=report)
        return validation_of(self._batches(store, targets, begun, seed=0), targets)

    def _batches(self, store: TextStore, targets: Targets, begun: Begun, seed: int) -> LabelledBatches:
        return LabelledBatches(
            store,
            targets,
            begun.tokenizers["text"].symbols,
            batch_tokens=begun.training.batch_tokens,
            seed=seed,
            longest=self.longest,
            weights=balanced_weights(self._experiment.classes, targets),
        )


def validation_of(batches: Batches, targets: Targets) -> Validate:
    """What measures a classifier on the one epoch of ``batches``, and tunes its thresholds to it where it has any."""

    def validate(model: torch.nn.Module) -> Mapping[str, float]:
        classifier = cast(PooledClassifier, model)
        found_NC = np.zeros((len(targets), len(classifier.config.classes.names)))
        for batch in batches.epoch(1):
            found_NC[batch.example_ids_B.numpy()] = classifier.predict(batch).classes.cpu().numpy()
        scores = scores_of(classifier, targets, found_NC, tune=True)
        return {name: getattr(scores, name) for name in ("loss", "accuracy", "macro_f1", "micro_f1")}

    return validate
