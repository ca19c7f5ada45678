"""Real-valued sequences measured: what a model says of every vector, and the scores of a split."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import pi
from typing import Any, NamedTuple, cast

import numpy as np

from anaphora.batch import Values
from anaphora.data.example_batches import Side, prediction_batches
from anaphora.data.fields.values import PreviousValues
from anaphora.data.traces import TraceCorpus
from anaphora.evaluation.segments import SegmentMetric, counts, fraction
from anaphora.formats.traces import Floats
from anaphora.kernels.runtime import running
from anaphora.nn.device import device_of
from anaphora.run.logs import Metric
from anaphora.tasks.field_task import Fields
from anaphora.tasks.trace.predictor import TracePredictor

_BATCH = 4000
"""Vectors of a batch."""


@dataclass(frozen=True)
class TraceScores:
    """The metrics of one split; numbers are scaled by the deviations of the training split."""

    vectors: int
    """Vectors that are predicted."""
    sequences: int
    log_likelihood: float
    """Sum of ln p of all vectors and flags."""
    flags: float
    """Part of the loss that is of flags."""
    squared_error: float
    """Mean over vectors of the squared distance to the expected vector."""
    by_sequence: Floats = field(compare=False, repr=False)
    """Of every sequence: ln p of its vectors and flags, its squared distances, its vectors."""
    residual: bool = False
    """True if the density is a Gaussian with the residual variance of the validation split, of a model without one."""

    def segment_metrics(self) -> list[SegmentMetric]:
        """Log-likelihood and squared error as sums over sequences."""
        log_likelihood_S, squares_S, vectors_S = self.by_sequence.T
        ones_S = np.ones(self.sequences)
        how = "residual variance" if self.residual else ""
        return [
            SegmentMetric("log-likelihood a vector", counts((log_likelihood_S, vectors_S)), fraction, conditions=how),
            SegmentMetric("log-likelihood a sequence", counts((log_likelihood_S, ones_S)), fraction, conditions=how),
            SegmentMetric("squared error", counts((squares_S, vectors_S)), fraction, "lower"),
        ]

    def json(self) -> dict[str, Any]:
        return {
            "log_likelihood": self.log_likelihood / self.vectors,
            "log_likelihood_sequence": self.log_likelihood / self.sequences,
            "flag_log_likelihood": self.flags / self.vectors,
            "squared_error": self.squared_error,
            "vectors": self.vectors,
            "sequences": self.sequences,
            "residual_variance": self.residual,
        }

    def metrics(self) -> tuple[Metric, ...]:
        how = f"{self.vectors:,} vectors, {self.sequences:,} sequences, scaled"
        density = f"{how}, residual variance" if self.residual else how
        return (
            Metric("log-likelihood a vector", self.log_likelihood / self.vectors, density),
            Metric("log-likelihood a sequence", self.log_likelihood / self.sequences, density),
            Metric("squared error", self.squared_error, how),
        )

    def __str__(self) -> str:
        how = ", as a Gaussian with the residual variance" if self.residual else ""
        return (
            f"log-likelihood {self.log_likelihood / self.vectors:.4f} a vector ({self.flags / self.vectors:.4f} of its "
            f"flags), {self.log_likelihood / self.sequences:.2f} a sequence{how}; squared error "
            f"{self.squared_error:.4f} ({self.vectors:,} vectors, {self.sequences:,} sequences)"
        )


class Measured(NamedTuple):
    """Results for every vector of a split, in the order of the split."""

    errors_ND: Floats
    """Differences from the expected vectors."""
    log_probs_N: Floats | None
    """ln p of the vectors; None without a density."""
    flag_log_probs_N: Floats
    lengths: Sequence[int]
    """Vectors of each sequence."""

    def scores(self, variance_D: Floats | None) -> TraceScores:
        """The metrics; ``variance_D`` is that of the Gaussian, for a model without a density."""
        log_probs_N = self.log_probs_N
        if log_probs_N is None:
            assert variance_D is not None
            log_probs_N = -0.5 * (self.errors_ND**2 / variance_D + np.log(2 * pi * variance_D)).sum(1)
        flags, squares_N = float(self.flag_log_probs_N.sum()), (self.errors_ND**2).sum(1)
        vectors = counts((log_probs_N + self.flag_log_probs_N, squares_N, np.ones(len(squares_N))))
        starts = np.cumsum([0, *self.lengths[:-1]])
        return TraceScores(
            len(squares_N),
            len(self.lengths),
            float(log_probs_N.sum()) + flags,
            flags,
            float(squares_N.mean()),
            np.add.reduceat(vectors, starts),
            variance_D is not None,
        )


def measure(model: TracePredictor, fields: Fields, corpus: TraceCorpus) -> Measured:
    """Return what a model says of every vector of a corpus."""
    network, examples, found = model.network, list(corpus.examples()), dict[int, list[Any]]()
    inputs, targets = (
        Side.of(field, [field.encode([field.get(trace) for trace in examples], lambda row: examples[row].place)])
        for field in fields
    )
    for batch in prediction_batches(inputs, _BATCH, targets, aligned=isinstance(inputs.field, PreviousValues)):
        with running(model.runtime):
            expected = network.expected(batch.to(device_of(network)))
        values = cast(Values, batch.targets)
        errors_BTD = expected.means_BTD.cpu() - values.values_BTD[..., : network.output.size].double()
        of_batch = errors_BTD, expected.log_probs_BT, expected.flag_log_probs_BT
        for at, (row, length) in enumerate(zip(batch.example_ids_B.tolist(), values.lengths_B.tolist(), strict=True)):
            found[row] = [None if numbers is None else numbers[at, :length].cpu().numpy() for numbers in of_batch]
    errors, log_probs, flags = zip(*(found[row] for row in range(len(found))), strict=True)
    whole = None if log_probs[0] is None else np.concatenate(log_probs)
    return Measured(np.concatenate(errors), whole, np.concatenate(flags), list(map(len, errors)))
