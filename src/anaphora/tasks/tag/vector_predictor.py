"""A trained tagger of vectors: sequences in, the tag of each of their vectors out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anaphora.data.tagged_store import TagEncoder
from anaphora.data.vector_batches import given_vectors, prediction_batches
from anaphora.events import Report, silent
from anaphora.formats.arrays import Floats
from anaphora.formats.labelled_vectors import read_vectors
from anaphora.formats.span_tags import Encoding, Span, spans_of
from anaphora.kernels.runtime import Runtime
from anaphora.models.tagger import VectorTagger
from anaphora.prediction.limits import UNLIMITED, Limits, Watch
from anaphora.prediction.running import ON_CPU
from anaphora.prediction.stream import answers
from anaphora.tasks.tag.config import VectorTaggerExperiment
from anaphora.tasks.tag.formats import encoding_in
from anaphora.tasks.tag.tagging import tags_of

_BUDGET = 8000
"""Vectors of a batch."""


@dataclass(frozen=True)
class TaggedVectors:
    """The tags of a sequence of vectors."""

    tags: tuple[str, ...]
    """One for each vector; of several labels, those with ``|`` between them, or ``_`` for none."""
    encoding: Encoding | None = None
    """How tags stand for spans; None where they do not."""

    @property
    def spans(self) -> list[Span]:
        """The spans of vectors, none where tags are not of spans."""
        return spans_of(self.tags, self.encoding) if self.encoding else []

    def json(self) -> dict[str, Any]:
        """Everything, for ``json.dumps``."""
        found: dict[str, Any] = {"tags": list(self.tags)}
        return found | ({"spans": [span._asdict() for span in self.spans]} if self.encoding else {})

    def __str__(self) -> str:
        """The tags on one line."""
        return " ".join(self.tags)


class VectorTaggerPredictor:
    """A trained tagger of vectors."""

    def __init__(
        self, model: VectorTagger, encoder: TagEncoder, experiment: VectorTaggerExperiment, runtime: Runtime = ON_CPU
    ) -> None:
        """``experiment`` is the settled one that the model was trained by."""
        self.model, self.encoder, self._runtime = model, encoder, runtime
        self.encoding = encoding_in(experiment)
        """How tags stand for spans; None where they do not."""
        self._width = experiment.vectors.size

    @property
    def tags(self) -> Sequence[str]:
        """All tags, or labels, that there are."""
        return self.encoder.tags.vocabulary

    def predict(self, sequences: Sequence[Any]) -> list[TaggedVectors]:
        """The tags of each sequence, an array of steps x width.

        Raises DataError for vectors of another width than those of training, and for numbers that are not finite.
        """
        return list(self.predict_stream(sequences))

    def predict_file(
        self, path: Path, *, limits: Limits = UNLIMITED, report: Report = silent
    ) -> Iterator[TaggedVectors]:
        """The same for the sequences of an array file: see ``formats.labelled_vectors.read_vectors``."""
        return self._tagged(read_vectors(path), limits, report)

    def predict_stream(
        self, sequences: Iterable[Any], *, limits: Limits = UNLIMITED, report: Report = silent
    ) -> Iterator[TaggedVectors]:
        """The same for sequences as they come, in order; raises StoppedError as ``limits`` say."""
        return self._tagged(((f"Sequence {number}", one) for number, one in enumerate(sequences, 1)), limits, report)

    def _tagged(self, sequences: Iterable[tuple[str, Any]], limits: Limits, report: Report) -> Iterator[TaggedVectors]:
        def read(given: tuple[str, Any], number: int) -> Floats:
            return given_vectors(*given, self._width)

        def answer(rows: Sequence[Floats], watch: Watch, answered: Callable[[int], None]) -> Iterable[TaggedVectors]:
            found: dict[int, list[str]] = {}
            for batch in prediction_batches(rows, _BUDGET):
                watch.check()
                found |= tags_of(self.model, self.encoder, batch)
                answered(len(found))
            return (TaggedVectors(tuple(found[row]), self.encoding) for row in range(len(rows)))

        return answers(
            sequences,
            read,
            answer,
            task="predict",
            unit="sequences",
            runtime=self._runtime,
            limits=limits,
            report=report,
        )
