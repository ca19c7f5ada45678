"""What a person calls: texts in, classes with their probabilities out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from anaphora.batch import Labels
from anaphora.config import unknown
from anaphora.data.labelled_batches import prediction_batches
from anaphora.errors import ConfigError
from anaphora.events import Report, silent
from anaphora.kernels.runtime import Runtime
from anaphora.models.classifier import Classifier
from anaphora.nn.device import device_of
from anaphora.prediction.arguments import given_text, one_text
from anaphora.prediction.examples import Example
from anaphora.prediction.limits import UNLIMITED, Limits, Watch
from anaphora.prediction.running import ON_CPU
from anaphora.prediction.stream import answers
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
        """Everything, for ``json.dumps``."""
        return {"label": self.label, "probability": self.probability, "probabilities": self.probabilities}

    def __str__(self) -> str:
        return self.label


class ClassifierPredictor:
    """A trained classifier."""

    def __init__(self, model: Classifier, tokenizer: Tokenizer, longest: int, runtime: Runtime = ON_CPU) -> None:
        """Texts are truncated to ``longest`` tokens."""
        self.model, self._tokenizer, self._longest, self._runtime = model, tokenizer, longest, runtime
        self.labels = model.config.classes.names
        """The classes, in the order of the network's output."""

    def predict(self, texts: Sequence[str]) -> list[Classification]:
        """The class of each text. Raises TypeError for one text in place of several."""
        return list(self.predict_stream(texts))

    def predict_stream(
        self, texts: Iterable[str], *, limits: Limits = UNLIMITED, report: Report = silent
    ) -> Iterator[Classification]:
        """The same for texts as they come, in order; raises StoppedError as ``limits`` say."""

        def read(text: str, number: int) -> list[int]:
            return self._tokenizer.encode(given_text(text, number).strip())[: self._longest]

        return answers(
            texts,
            read,
            self._answer,
            task="predict",
            unit="texts",
            runtime=self._runtime,
            limits=limits,
            report=report,
        )

    def example(self, text: str, target: str | None = None) -> Example:
        """A text with its class, or the most probable one: see ``prediction.examples``."""
        ids = self._tokenizer.encode(one_text(text).strip())[: self._longest]
        label = self.predict([text])[0].label if target is None else target
        if label not in self.labels:
            raise ConfigError(unknown("class", label, self.labels))
        [batch] = prediction_batches([ids], self._tokenizer.symbols, _BUDGET)
        batch = replace(batch, targets=Labels(torch.tensor([self.labels.index(label)])))
        return Example(batch, {"encoder": tuple(self._tokenizer.pieces([*ids, self._tokenizer.symbols.eos]))}, ())

    def _answer(
        self, rows: Sequence[list[int]], watch: Watch, answered: Callable[[int], None]
    ) -> Iterable[Classification]:
        found: dict[int, Classification] = {}
        device = device_of(self.model)
        for batch in prediction_batches(rows, self._tokenizer.symbols, _BUDGET):
            watch.check()
            probabilities_BC = self.model.predict(batch.to(device)).classes.tolist()
            for row, probabilities in zip(batch.example_ids_B.tolist(), probabilities_BC, strict=True):
                by_label = dict(zip(self.labels, probabilities, strict=True))
                found[row] = Classification(max(self.labels, key=by_label.__getitem__), by_label)
            answered(len(found))
        return (found[row] for row in range(len(rows)))
