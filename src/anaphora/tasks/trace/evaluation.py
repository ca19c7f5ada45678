"""A model of real-valued sequences measured on its own test splits."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import pi
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np

from anaphora.batch import Values
from anaphora.data.example_batches import Side, prediction_batches
from anaphora.data.example_store import ExampleStore, example_store
from anaphora.data.fields.values import PreviousValues
from anaphora.data.traces import TraceCorpus
from anaphora.evaluation.segments import SegmentMetric, counts, fraction
from anaphora.events import Report
from anaphora.formats.traces import Floats
from anaphora.kernels.runtime import running
from anaphora.models.values import ValueNetwork
from anaphora.nn.device import device_of
from anaphora.run.logs import Metric
from anaphora.tasks.evaluation import Answer, Request, check_found, one_run, splits_to_score
from anaphora.tasks.field_task import Fields, FieldTask
from anaphora.tasks.runs import load_trained, open_run
from anaphora.tasks.scores import kept
from anaphora.tasks.task import Trained
from anaphora.tasks.trace.config import TraceExperiment

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

    def __str__(self) -> str:
        how = ", as a Gaussian with the residual variance" if self.residual else ""
        return (
            f"log-likelihood {self.log_likelihood / self.vectors:.4f} a vector ({self.flags / self.vectors:.4f} of its "
            f"flags), {self.log_likelihood / self.sequences:.2f} a sequence{how}; squared error "
            f"{self.squared_error:.4f} ({self.vectors:,} vectors, {self.sequences:,} sequences)"
        )


def evaluate(task: FieldTask, paths: Sequence[Path], request: Request, report: Report) -> Answer:
    """Return log-likelihood and squared error of one run on ``splits_to_score``; kept in the run.

    Raises ConfigError for what such a model has no use for.
    """
    path = one_run(paths, task.noun)
    request.refuse(path, task.noun, ())
    trained = load_trained(path, "best", report)
    experiment = cast(TraceExperiment, trained.experiment)
    check_found(path, experiment, "data.files")
    own = task.splits(experiment, report)
    splits = splits_to_score(own, "a file whose name begins with test", report)
    run = open_run(path, experiment)
    which = run.load("best", report).which
    fields = task.fields(experiment, trained.tokenizers)
    with TemporaryDirectory(prefix="anaphora-evaluation-") as folder:

        def measured(corpus: TraceCorpus) -> "Measured":
            store = example_store(corpus, fields, Path(folder) / corpus.name, noun=task.example_noun, report=report)
            return measure(trained, fields, store)

        has_density = cast(Any, experiment).output.has_density
        variance = None if has_density else measured(own.valid).errors_ND.__pow__(2).mean(0)
        results = {name: measured(corpus).scores(variance) for name, corpus in splits.items()}
    return Answer([kept(run, which, results, splits, _metrics, request, report)])


@dataclass(frozen=True)
class Measured:
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


def measure(trained: Trained, fields: Fields, store: ExampleStore) -> Measured:
    """Return what a model says of every vector of a store."""
    network, device = cast(ValueNetwork, trained.model), device_of(trained.model)
    inputs, targets = (Side(field, store.rows(field)) for field in fields)
    found: dict[int, tuple[Floats, Floats | None, Floats]] = {}
    for batch in prediction_batches(inputs, _BATCH, targets, aligned=isinstance(inputs.field, PreviousValues)):
        with running(trained.runtime):
            expected = network.expected(batch.to(device))
        values = cast(Values, batch.targets)
        errors_BTD = expected.means_BTD.cpu() - values.values_BTD[..., : network.output.size].double()
        for at, (row, length) in enumerate(zip(batch.example_ids_B.tolist(), values.lengths_B.tolist(), strict=True)):
            log_probs = None if expected.log_probs_BT is None else expected.log_probs_BT[at, :length].cpu().numpy()
            flags = expected.flag_log_probs_BT[at, :length].cpu().numpy()
            found[row] = errors_BTD[at, :length].numpy(), log_probs, flags
    errors, log_probs_, flags_ = zip(*(found[row] for row in range(len(found))), strict=True)
    whole = None if log_probs_[0] is None else np.concatenate(cast(Any, log_probs_))
    return Measured(np.concatenate(errors), whole, np.concatenate(flags_), list(map(len, errors)))


def _metrics(scores: TraceScores) -> tuple[Metric, ...]:
    how = f"{scores.vectors:,} vectors, {scores.sequences:,} sequences, scaled"
    density = f"{how}, residual variance" if scores.residual else how
    return (
        Metric("log-likelihood a vector", scores.log_likelihood / scores.vectors, density),
        Metric("log-likelihood a sequence", scores.log_likelihood / scores.sequences, density),
        Metric("squared error", scores.squared_error, how),
    )
