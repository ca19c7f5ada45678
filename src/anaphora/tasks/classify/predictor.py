"""A trained classifier: texts or sequences of vectors in, classes with their probabilities out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack, cast

from anaphora.batch import Batch
from anaphora.data.example_batches import Side, prediction_batches
from anaphora.data.fields.field import Field
from anaphora.data.fields.label import Label
from anaphora.data.fields.tokens import Tokens
from anaphora.data.fields.vectors import Vectors
from anaphora.errors import ConfigError, DataError, demand_number
from anaphora.prediction.arguments import given_text, one_text
from anaphora.prediction.examples import Example
from anaphora.prediction.limits import Streaming, Watch
from anaphora.prediction.predictor import FieldPredictor, VectorPredictor
from anaphora.wording import unknown


@dataclass(frozen=True)
class Classification:
    """The class of a text."""

    label: str
    """The most probable class; empty for a blank text."""
    probabilities: dict[str, float]
    """Probabilities of every class; they sum to 1. A blank text has none."""

    @property
    def probability(self) -> float:
        """Probability of the most probable class; 0 for a blank text."""
        return self.probabilities.get(self.label, 0.0)

    def json(self) -> dict[str, Any]:
        return {"label": self.label, "probability": self.probability, "probabilities": self.probabilities}

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True)
class Labelling:
    """The labels of a text, of which there may be several or none."""

    labels: tuple[str, ...]
    """Labels whose probability reaches their threshold, in the order of the classes."""
    probabilities: dict[str, float]
    """Probabilities of every label, independent of the others. A blank text has none."""
    separator: str
    """Separator of the labels in ``str``."""

    def json(self) -> dict[str, Any]:
        return {"labels": list(self.labels), "probabilities": self.probabilities}

    def __str__(self) -> str:
        return self.separator.join(self.labels)


Found = Classification | Labelling


class PooledPredictor(FieldPredictor[Found]):
    """A trained classifier of either kind."""

    @property
    def labels(self) -> Sequence[str]:
        """The classes, in the order of the network's output."""
        return cast(Label, self.targets).names

    def _answer(self, batch: Batch, watch: Watch) -> list[Found]:
        return list(map(self._found, self.model.predict(batch).classes.tolist()))

    def _found(self, probabilities: Sequence[float]) -> Found:
        """Return the class that the probabilities of every class say, or the labels; nothing where there are none."""
        demand_number(sum(probabilities))
        by_label = dict(zip(self.labels, probabilities, strict=False))
        if not cast(Label, self.targets).several:
            return Classification(max(by_label, key=by_label.__getitem__, default=""), by_label)
        reached = zip(self.labels, probabilities, self.model.thresholds.tolist(), strict=False)
        names = tuple(name for name, one, least in reached if one >= least)
        return Labelling(names, by_label, self.experiment.data.label_separator)


class ClassifierPredictor(PooledPredictor):
    """A trained classifier of texts."""

    @staticmethod
    def fields(experiment: Any, tokenizers: Mapping[str, Any]) -> tuple[Field[Any], Field[Any]]:
        longest = experiment.data.max_length
        return Tokens("text", tokenizers["text"], lambda example: example.text, longest=longest), _labels(experiment)

    def predict(self, texts: Sequence[str]) -> list[Found]:
        """Return the class of each text, or its labels; a blank text has none.

        Raises TypeError for one text in place of several.
        """
        return list(self.predict_stream(texts))

    def predict_stream(self, texts: Iterable[str], **streaming: Unpack[Streaming]) -> Iterator[Found]:
        """Yield the same for texts as they come, in order."""

        def read(text: str, number: int) -> tuple[str, str, str]:
            content = given_text(text, number).strip()
            return content, f"Text {number}", content

        return self._stream(texts, read, **streaming)

    def _finish(self, kept: str, found: Found | None) -> Found | None:
        return found if kept else self._found(())

    def example(self, text: str, target: str | None = None) -> Example:
        """Return a text with its class, or with the labels found: see ``prediction.examples``."""
        text = one_text(text).strip()
        if not text:
            raise DataError("The text is empty: give one that has some words.")
        [found] = self.predict([text])
        labels = found.labels if isinstance(found, Labelling) else (found.label,)
        if target is not None:
            labels = (target,)
            if target not in self.labels:
                raise ConfigError(unknown("class", target, self.labels))
        rows = self.field.encode([text], str)
        classes = Side.of(self.targets, [self.targets.encode([labels], str)])
        [batch] = prediction_batches(Side.of(self.field, [rows]), self.batch_size, classes)
        tokenizer = self.field.tokenizer
        return Example(batch, {"encoder": tuple(tokenizer.pieces([*rows[0].tolist(), tokenizer.symbols.eos]))}, ())


class VectorClassifierPredictor(VectorPredictor[Found], PooledPredictor):
    """A trained classifier of sequences of vectors."""

    @staticmethod
    def fields(experiment: Any, tokenizers: Mapping[str, Any]) -> tuple[Field[Any], Field[Any]]:
        width, longest = experiment.vectors.size, experiment.data.max_length
        return Vectors("vectors", width, lambda example: example.vectors, longest=longest), _labels(experiment)


def make_predictor(trained: Any) -> PooledPredictor:
    """Return the predictor of a ``TrainedModel``."""
    kind = VectorClassifierPredictor if trained.experiment.model == "vectors" else ClassifierPredictor
    return kind.of(trained)


def _labels(experiment: Any) -> Label:
    classes = experiment.classes
    return Label("labels", classes.names, lambda example: example.labels, several=classes.several)
