"""Tasks whose examples are an input field and a target field: one data path, one training job for all of them."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from anaphora.batch import Batch
from anaphora.data.columns import Integers
from anaphora.data.corpora import Splits
from anaphora.data.example_batches import ExampleBatches
from anaphora.data.example_store import ExampleStore, example_store
from anaphora.data.fields.field import Field
from anaphora.data.fields.tokens import Tokens
from anaphora.events import Report
from anaphora.prediction.predictor import FieldPredictor
from anaphora.prediction.runtime import runtime_for_validation
from anaphora.tasks.scores import ScoredTask
from anaphora.tasks.task import Tokenizers, TrainedModel, WeightSource
from anaphora.tasks.training_job import TrainingContext, UpdatingJob, mean_loss
from anaphora.text import tokenization
from anaphora.text.tokenizer import Tokenizer
from anaphora.training.loop import Validate


class Fields(NamedTuple):
    """The fields of an example."""

    inputs: Any
    targets: Any


class ValidationSplit(NamedTuple):
    """The validation split of a training, encoded and in batches."""

    experiment: Any
    corpus: Any
    fields: Fields
    store: ExampleStore
    batches: Sequence[Batch]
    tokenizers: Tokenizers


class FieldTask(ScoredTask):
    """A task with one input and one target an example; see ``Task``."""

    example_noun: ClassVar[str] = "text"
    """Noun of an example, for what is left out."""
    predictions: ClassVar[str] = "tokens"
    """Noun of what it predicts, in the plural."""
    predictor_class: ClassVar[type[FieldPredictor[Any]]]
    """Class of its predictor, which says what the fields of prediction are."""

    def with_data_statistics(self, experiment: Any, splits: Splits[Any]) -> Any:
        """Return an experiment with the options that its training split decides."""
        return experiment

    def check_data(self, experiment: Any, splits: Splits[Any], report: Report) -> None:
        """Raise DataError for splits that do not go with the experiment or with each other."""

    def learn_vocabulary(self, experiment: Any, splits: Splits[Any], report: Report) -> dict[str, Tokenizer]:
        """Return the tokenizers of every side, by default that of the training texts."""
        text = {"text": splits.train.lines}
        return tokenization.fit(experiment.text, text, report, languages=experiment.data.languages)

    def fields(self, experiment: Any, tokenizers: Tokenizers, splits: Any = None) -> Fields:
        """Return the fields of an example; without the ``splits`` of training, those of prediction."""
        return Fields(*self.predictor_class.fields(experiment, tokenizers))

    def sized_by(self, fields: Fields) -> Sequence[Field[Any]]:
        """Return the fields whose longest rows make the size of a batch; it is ordered by the first of them."""
        return [fields.inputs]

    def longest(self, experiment: Any, training: bool) -> int:
        """Return the positions at most of a training or validation example; longer ones are left out, 0 keeps all.

        They are counted in the first of the fields ``sized_by``.
        """
        return 0

    def longest_row(self, experiment: Any) -> int:
        """Return the positions of the longest row there may be in a batch; 0 when nothing bounds them."""
        return int(experiment.data.max_length)

    def fingerprints(self, splits: Splits[Any]) -> Mapping[str, str]:
        """Return a SHA-256 of the data by part."""
        return {"train": splits.train.fingerprint, "valid": splits.valid.fingerprint}

    def weights(self, experiment: Any, fields: Fields, store: ExampleStore) -> Any:
        """Return factors of the loss of each training example; None for 1."""
        return None

    def validate(self, valid: ValidationSplit, model: Any) -> Mapping[str, float]:
        """Measure a network on the validation split, by default its loss; gradients are off."""
        return {"loss": mean_loss(model, valid.batches)}

    def predictor_of(self, model: Any, valid: ValidationSplit) -> Any:
        """Return the predictor of a network that is being trained."""
        runtime = runtime_for_validation(model)
        return self.predictor(TrainedModel(Path(), valid.experiment, model, valid.tokenizers, runtime))

    def with_runs(self, experiment: Any, parent: Any) -> tuple[Any, Sequence[WeightSource]]:
        if not experiment.is_resolved:
            experiment = self.with_data_statistics(experiment, self.splits(experiment))
        return experiment, ()

    def job(self, experiment: Any, report: Report) -> "FieldJob":
        return FieldJob(self, experiment, report)


class FieldJob(UpdatingJob):
    """Training of a task of fields: splits are encoded into stores, and batches made of them."""

    def __init__(self, task: FieldTask, experiment: Any, report: Report) -> None:
        """Find and check the data; errors as for ``FieldTask.splits`` and ``check_data``."""
        self._task, self.unit, self.splits = task, task.predictions, task.splits(experiment, report)
        self._experiment = task.with_data_statistics(experiment, self.splits)
        task.check_data(self._experiment, self.splits, report)
        self._fingerprints = task.fingerprints(self.splits)

    @property
    def fingerprints(self) -> Mapping[str, str]:
        return self._fingerprints

    @property
    def longest(self) -> int:
        return self._task.longest_row(self._experiment)

    def learn_vocabulary(self, report: Report) -> dict[str, Tokenizer]:
        return self._task.learn_vocabulary(self._experiment, self.splits, report)

    def counts(self, context: TrainingContext, report: Report) -> Integers:
        """Return how often each token is a target."""
        fields, store = self._encode("train", context, report)
        if not isinstance(fields.targets, Tokens):
            return super().counts(context, report)
        return fields.targets.counts(store.rows(fields.targets))

    def batches(self, context: TrainingContext, report: Report) -> ExampleBatches:
        return self._batches(*self._encode("train", context, report), context, context.training.seed)

    def validation(self, context: TrainingContext, report: Report) -> Validate:
        fields, store = self._encode("valid", context, report)
        batches = self._batches(fields, store, context, seed=0).epoch(1)
        valid = ValidationSplit(self._experiment, self.splits.valid, fields, store, batches, context.tokenizers)
        return partial(self._task.validate, valid)

    def _encode(self, split: str, context: TrainingContext, report: Report) -> tuple[Fields, ExampleStore]:
        fields = self._task.fields(self._experiment, context.tokenizers, self.splits)
        store = example_store(
            getattr(self.splits, split),
            fields,
            context.encoded / split,
            noun=self._task.example_noun,
            longest=self._task.longest(self._experiment, split == "train"),
            bounded=self._task.sized_by(fields)[:1],
            threads=context.training.threads,
            report=report,
        )
        return fields, store

    def _batches(self, fields: Fields, store: ExampleStore, context: TrainingContext, seed: int) -> ExampleBatches:
        return ExampleBatches(
            store,
            *fields,
            batch_tokens=context.training.batch_tokens,
            seed=seed,
            sized_by=self._task.sized_by(fields),
            weights=self._task.weights(self._experiment, fields, store),
        )
