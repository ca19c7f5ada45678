"""A trained tagger of vectors: sequences in, the tag of each of their vectors out."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from anaphora.data.tagged_store import TagEncoder
from anaphora.data.vector_batches import prediction_batches
from anaphora.formats.arrays import Floats
from anaphora.formats.span_tags import Encoding
from anaphora.kernels.runtime import Runtime
from anaphora.models.tagger import VectorTagger
from anaphora.prediction.limits import Watch
from anaphora.prediction.running import ON_CPU
from anaphora.prediction.stream import by_row
from anaphora.prediction.vectors import VectorPredictor
from anaphora.tasks.tag.config import VectorTaggerExperiment
from anaphora.tasks.tag.formats import encoding_in
from anaphora.tasks.tag.tagging import WithSpans, tags_of

_BUDGET = 8000
"""Vectors of a batch."""


@dataclass(frozen=True)
class TaggedVectors(WithSpans):
    """The tags of a sequence of vectors."""

    tags: tuple[str, ...]
    """One for each vector; of several labels, those with ``|`` between them, or ``_`` for none."""
    encoding: Encoding | None = None
    """How tags stand for spans; None where they do not."""

    def __str__(self) -> str:
        return " ".join(self.tags)


class VectorTaggerPredictor(VectorPredictor[TaggedVectors]):
    """A trained tagger of vectors."""

    def __init__(
        self, model: VectorTagger, encoder: TagEncoder, experiment: VectorTaggerExperiment, runtime: Runtime = ON_CPU
    ) -> None:
        """``experiment`` is the settled one that the model was trained by."""
        super().__init__(experiment.vectors.size, runtime)
        self.model, self.encoder = model, encoder
        self.encoding = encoding_in(experiment)
        """How tags stand for spans; None where they do not."""

    @property
    def tags(self) -> Sequence[str]:
        """All tags, or labels, that there are."""
        return self.encoder.tags.vocabulary

    def _answer(self, rows: Sequence[Floats], watch: Watch, answered: Callable[[int], None]) -> Iterable[TaggedVectors]:
        tags_in = partial(tags_of, self.model, self.encoder)
        found = by_row(prediction_batches(rows, _BUDGET), tags_in, watch, answered)
        return (TaggedVectors(tuple(tags), self.encoding) for tags in found.values())
