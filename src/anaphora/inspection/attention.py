"""Alignments of source pieces and output pieces by the attention of one model or several."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from anaphora.errors import ConfigError, DataError
from anaphora.inspection.labels import labels
from anaphora.inspection.result import Result
from anaphora.inspection.subject import LONGEST, Subject, demand_page, layers_of
from anaphora.text.sentences import is_blank

MOST = 20
"""Pictures of one call."""


@dataclass(frozen=True)
class Alignment(Result):
    """The attention of one model over one pair."""

    run: str
    source: str
    output: str
    score: float
    """ln p of the output."""
    source_pieces: tuple[str, ...]
    target_pieces: tuple[str, ...]
    weights: tuple[tuple[float, ...], ...] = field(repr=False)
    """T rows of S numbers."""
    centres: tuple[float, ...] = ()
    """The middle of the attention window at each step, counted from 1; nothing for models without a window."""
    radius: int = 0
    """Positions of the window on either side of it."""

    def lines(self) -> Iterator[str]:
        """Yield for each output piece the source pieces with a tenth of the attention or more."""
        source, target = labels(self.source_pieces), labels(self.target_pieces)
        yield f"{self.run}: {self.source} -> {self.output} (ln p {self.score:.3f})"
        for piece, row in zip(target, self.weights, strict=True):
            most = sorted(zip(row, source, strict=True), key=lambda pair: -pair[0])
            seen = ", ".join(f"{name} {weight:.2f}" for weight, name in most if weight >= 0.1)
            yield f"  {piece:<16} {seen}"


def lacks_attention(subject: Subject) -> str:
    """Return the reason that a run has no alignments to show; empty where it has."""
    if not hasattr(subject.predictor, "attends"):
        return "it writes no text from a source"
    return "" if subject.predictor.attends else "it has no attention: a fixed vector is all that its decoder sees"


def alignments(
    subjects: Sequence[Subject], sources: Sequence[str], targets: Sequence[str] | None = None, beam: int = 1
) -> list[tuple[Alignment, ...]]:
    """Return for each source the alignment of each model: of its own output, or of the given ``targets``.

    A ``beam`` of 1 is greedy decoding. Raises ConfigError for a model without attention, a sentence longer than a page,
    or more sentences than can be shown; DataError for an empty sentence and for unequal counts.
    """
    if len(sources) > MOST:
        raise ConfigError(f"Alignments are drawn for at most {MOST} sentences, not {len(sources):,}: give fewer.")
    for number, source in enumerate(sources, 1):
        if is_blank(source):
            raise DataError(f"Text {number} is empty, but an alignment needs words: leave it out.")
    columns = []
    for subject in subjects:
        subject.demand("has no alignments to show", lacks_attention(subject))
        if targets is None:
            outputs = subject.predictor.translate(sources, beam=beam, attention=True, protect=())
        else:
            outputs = subject.predictor.score_pairs(sources, targets, attention=True)
        columns.append([_of(subject, *both) for both in zip(sources, outputs, strict=True)])
    return list(zip(*columns, strict=True))


def vector_alignments(subjects: Sequence[Subject], path: Path, beam: int = 1) -> list[tuple[Alignment, ...]]:
    """Return for each sequence of a file of strokes or vectors the alignment of each model.

    Long sequences are shown in groups of neighbouring vectors, whose weights are summed. Raises ConfigError for a model
    that reads something else or has no attention, and for more sequences than can be shown; DataError as the file's
    reader.
    """
    columns = []
    for subject in subjects:
        subject.demand("has no alignments to show", lacks_attention(subject))
        if not reads_vectors(subject):
            raise ConfigError(f"{subject.name} reads texts, but others read vectors: name runs of one kind.")
        found = list(islice(subject.predictor.predict_file(path, beam=beam, attention=True), MOST + 1))
        if len(found) > MOST:
            raise ConfigError(f"Alignments are drawn for at most {MOST} sequences, but {path} has more: give fewer.")
        columns.append([_of_vectors(subject, f"{path.name}, sequence {n}", one) for n, one in enumerate(found, 1)])
    return list(zip(*columns, strict=True))


def reads_vectors(subject: Subject) -> bool:
    """True if its alignments are those of ``vector_alignments``."""
    return hasattr(subject.predictor, "attends") and hasattr(subject.predictor, "predict_file")


def _of_vectors(subject: Subject, place: str, output: Any) -> Alignment:
    demand_page(output.pieces, f"The text of {place}")
    steps = output.weights.shape[1]
    begins = range(0, steps, -(-steps // LONGEST))
    ends = [*begins[1:], steps]
    names = [str(end) if end == begin + 1 else f"{begin + 1}-{end}" for begin, end in zip(begins, ends, strict=True)]
    weights = _rows(np.add.reduceat(output.weights, begins, axis=1))
    return Alignment(subject.name, place, output.text, output.score, tuple(names), output.pieces, weights)


def _of(subject: Subject, source: str, output: Any) -> Alignment:
    for pieces in (output.source_pieces, output.target_pieces):
        demand_page(pieces, f"One side of '{source[:40]}'")
    weights = () if output.weights is None else _rows(output.weights)
    centres, radius = _window(subject, source, output.text) if weights else ((), 0)
    pieces = output.source_pieces, output.target_pieces
    return Alignment(subject.name, source, output.text, output.score, *pieces, weights, centres[: len(weights)], radius)


def _rows(weights_TS: Any) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(map(float, row_S)) for row_S in weights_TS)


def _window(subject: Subject, source: str, output: str) -> tuple[tuple[float, ...], int]:
    """Return the centres and the radius of a local window."""
    window = getattr(getattr(subject.trained.experiment, "attention", None), "window", None)
    radius = getattr(window, "radius", 0)
    if not radius or subject.lacks_layers():
        return (), 0
    *_, decoder = layers_of(subject, subject.example(source, output))
    return tuple(decoder.inside()["attention.centre"][:, 0].tolist()), radius
