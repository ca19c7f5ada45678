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
from anaphora.events import Report, silent
from anaphora.models.classifier import PooledClassifier
from anaphora.protocols import Batches
from anaphora.run import Run
from anaphora.tasks.classify.config import ClassifierExperiment
from anaphora.tasks.classify.targets import Targets, balanced_weights, scores_of, targets_of
from anaphora.tasks.work import UpdatingWork
from anaphora.text import tokenization
from anaphora.text.tokenizer import Tokenizer
from anaphora.training.config import TrainingConfig
from anaphora.training.loop import Validate


def splits_of(experiment: ClassifierExperiment, report: Report = silent) -> LabelledSplits:
    """The splits of an experiment; errors as for ``data.labelled.labelled_splits``."""
    data = experiment.data
    names = Names(data.train, data.valid, data.test)
    return labelled_splits(
        data.paths(), names, encoding=data.encoding, separator=separator_of(experiment), report=report
    )


def separator_of(experiment: ClassifierExperiment) -> str | None:
    """What stands between several labels; None where a text has one."""
    return experiment.data.label_separator if experiment.classes.several else None


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
        train, seed = self.labelled.train, self._experiment.training.seed
        store = text_store(train, tokenizers["text"], folder, report=report)
        return self._batches(store, self._targets(train), tokenizers, batch_tokens, seed)

    def validation(
        self, tokenizers: Mapping[str, Tokenizer], run: Run, training: TrainingConfig, report: Report
    ) -> Validate:
        """Loss, accuracy and macro-F1 of the validation split."""
        valid = self.labelled.valid
        targets, folder = self._targets(valid), run.path / "encoded" / "valid"
        store = text_store(valid, tokenizers["text"], folder, report=report)
        return validation_of(self._batches(store, targets, tokenizers, training.batch_tokens), targets)

    def _batches(
        self,
        store: TextStore,
        targets: Targets,
        tokenizers: Mapping[str, Tokenizer],
        batch_tokens: int,
        seed: int = 0,
    ) -> LabelledBatches:
        return LabelledBatches(
            store,
            targets,
            tokenizers["text"].symbols,
            batch_tokens=batch_tokens,
            seed=seed,
            longest=self.longest,
            weights=balanced_weights(self._experiment.classes, targets),
        )

    def _targets(self, corpus: LabelledCorpus) -> Targets:
        classes = self._experiment.classes
        return targets_of(classes, (one.labels for one in check_labels(corpus.examples(), classes.names)))


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
