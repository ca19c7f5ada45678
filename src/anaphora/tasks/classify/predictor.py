"""What a person calls: texts or vectors in, classes with their probabilities out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import torch

from anaphora.batch import Batch, Labels
from anaphora.config import unknown
from anaphora.data import vector_batches
from anaphora.data.labelled_batches import prediction_batches
from anaphora.errors import ConfigError, demand_number
from anaphora.formats.arrays import Floats
from anaphora.kernels.runtime import Runtime
from anaphora.models.classifier import Classifier, PooledClassifier, VectorClassifier
from anaphora.nn.device import device_of
from anaphora.prediction.arguments import given_text, one_text
from anaphora.prediction.examples import Example
from anaphora.prediction.limits import Streaming, Watch
from anaphora.prediction.running import ON_CPU
from anaphora.prediction.stream import answers, by_row
from anaphora.prediction.vectors import VectorPredictor
from anaphora.tasks.classify.config import ClassifierExperiment, VectorClassifierExperiment
from anaphora.tasks.classify.targets import targets_of
from anaphora.text.tokenizer import Tokenizer

_BUDGET = 8000
"""Tokens of a batch."""


@dataclass(frozen=True)
class Classification:
    """The class of a text."""

    label: str
    """The most probable class."""
    probabilities: dict[str, float]
    """Of every class; they sum to 1."""

    @property
    def probability(self) -> float:
        """Of the most probable class."""
        return self.probabilities[self.label]

    def json(self) -> dict[str, Any]:
        return {"label": self.label, "probability": self.probability, "probabilities": self.probabilities}

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True)
class Labelling:
    """The labels of a text, of which there may be several or none."""

    labels: tuple[str, ...]
    """Those whose probability reaches their threshold, in the order of the classes."""
    probabilities: dict[str, float]
    """Of every label, each by itself."""
    separator: str
    """What stands between the labels in ``str``."""

    def json(self) -> dict[str, Any]:
        return {"labels": list(self.labels), "probabilities": self.probabilities}

    def __str__(self) -> str:
        return self.separator.join(self.labels)


Found = Classification | Labelling


class ClassifierPredictor:
    """A trained classifier."""

    def __init__(
        self, model: Classifier, tokenizer: Tokenizer, experiment: ClassifierExperiment, runtime: Runtime = ON_CPU
    ) -> None:
        """``experiment`` is the one that the model was trained by."""
        self.model, self._tokenizer, self._data, self._runtime = model, tokenizer, experiment.data, runtime
        self.labels = model.config.classes.names
        """The classes, in the order of the network's output."""

    def predict(self, texts: Sequence[str]) -> list[Found]:
        """The class of each text, or its labels. Raises TypeError for one text in place of several."""
        return list(self.predict_stream(texts))

    def predict_stream(self, texts: Iterable[str], **streaming: Unpack[Streaming]) -> Iterator[Found]:
        """The same for texts as they come, in order."""

        def read(text: str, number: int) -> list[int]:
            return self._tokenizer.encode(given_text(text, number).strip())[: self._data.max_length]

        return answers(texts, read, self._answer, task="predict", unit="texts", runtime=self._runtime, **streaming)

    def example(self, text: str, target: str | None = None) -> Example:
        """A text with its class, or with the labels found: see ``prediction.examples``."""
        ids = self._tokenizer.encode(one_text(text).strip())[: self._data.max_length]
        [found] = self.predict([text])
        labels = found.labels if isinstance(found, Labelling) else (found.label,)
        if target is not None:
            labels = (target,)
            if target not in self.labels:
                raise ConfigError(unknown("class", target, self.labels))
        classes = torch.from_numpy(targets_of(self.model.config.classes, [labels]))
        [batch] = prediction_batches([ids], self._tokenizer.symbols, _BUDGET)
        batch = replace(batch, targets=Labels(classes if classes.dim() == 1 else classes.float()))
        return Example(batch, {"encoder": tuple(self._tokenizer.pieces([*ids, self._tokenizer.symbols.eos]))}, ())

    def _answer(self, rows: Sequence[list[int]], watch: Watch, answered: Callable[[int], None]) -> Iterable[Found]:
        batches = prediction_batches(rows, self._tokenizer.symbols, _BUDGET)
        return _found(self.model, batches, self._data.label_separator, watch, answered)


class VectorClassifierPredictor(VectorPredictor[Found]):
    """A trained classifier of sequences of vectors."""

    def __init__(
        self, model: VectorClassifier, experiment: VectorClassifierExperiment, runtime: Runtime = ON_CPU
    ) -> None:
        """``experiment`` is the one that the model was trained by."""
        super().__init__(experiment.vectors.size, runtime)
        self.model, self._data = model, experiment.data
        self.labels = model.config.classes.names
        """The classes, in the order of the network's output."""

    def _answer(self, rows: Sequence[Floats], watch: Watch, answered: Callable[[int], None]) -> Iterable[Found]:
        batches = vector_batches.prediction_batches([row[: self._data.max_length] for row in rows], _BUDGET)
        return _found(self.model, batches, self._data.label_separator, watch, answered)


def _found(
    model: PooledClassifier, batches: Iterable[Batch], separator: str, watch: Watch, answered: Callable[[int], None]
) -> Iterable[Found]:
    """The answer for each row of some batches, in the order of their numbers."""
    device = device_of(model)

    def found(batch: Batch) -> list[Found]:
        return [found_in(model, row, separator) for row in model.predict(batch.to(device)).classes.tolist()]

    return by_row(batches, found, watch, answered).values()


def found_in(model: PooledClassifier, probabilities: Sequence[float], separator: str) -> Found:
    """What the probabilities of every class say; ``separator`` stands between several labels."""
    demand_number(sum(probabilities))
    names = model.config.classes.names
    by_label = dict(zip(names, probabilities, strict=True))
    if not model.config.classes.several:
        return Classification(max(names, key=by_label.__getitem__), by_label)
    reached = zip(names, probabilities, model.thresholds.tolist(), strict=True)
    return Labelling(tuple(name for name, one, least in reached if one >= least), by_label, separator)
