"""Real-valued sequences: pen strokes and signals predicted, drawn, and written from texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, pi
from typing import Any, ClassVar, Literal, cast

import numpy as np
from pydantic import Field

from anaphora.batch import Values
from anaphora.data.corpora import Splits
from anaphora.data.example_batches import Side, prediction_batches
from anaphora.data.fields.values import PreviousValues, Scale, check_texts, written_in
from anaphora.data.fields.vectors import moments
from anaphora.data.traces import TraceCorpus, trace_corpus, trace_splits
from anaphora.errors import DataError
from anaphora.evaluation.segments import SegmentMetric, counts, fraction
from anaphora.events import Report, silent
from anaphora.formats.evidence import Evidence
from anaphora.formats.traces import Floats
from anaphora.kernels.runtime import running
from anaphora.models.registry import NETWORKS
from anaphora.models.values import PredictionConfig, SynthesisConfig, ValuesConfig
from anaphora.options import MAX_LENGTH, SET, Conflict
from anaphora.run.logs import Metric
from anaphora.tasks.base import ExperimentBase, TextConfig
from anaphora.tasks.data_table import DataConfig
from anaphora.tasks.evaluation import Request
from anaphora.tasks.field_task import Fields, FieldTask
from anaphora.tasks.sizing import Tier, figure, tier_for, training_table, value_at
from anaphora.tasks.task import GivenData, SizedExperiment, Table
from anaphora.tasks.trace.predictor import TracePredictor
from anaphora.text import tokenization
from anaphora.text.tokenization import AnyTokenizer, Character
from anaphora.text.tokenizer import Tokenizer
from anaphora.training.best_checkpoint import Better
from anaphora.wording import inflect

_BATCH = 4000
"""Vectors of a batch."""


class TraceData(DataConfig):
    """Real-valued sequences."""

    points: Literal["auto", "absolute", "offsets"] = "auto"
    """Meaning of rows with pen bits: positions or offsets; "auto": offsets where numbers are negative."""
    y_axis: Literal["down", "up"] = "down"
    """Direction in which y grows in the files."""
    max_length: int = Field(2000, ge=0, le=MAX_LENGTH)
    """Training sequences with more vectors than this are left out; 0 keeps all."""


class WrittenData(TraceData):
    """Real-valued sequences with their texts."""

    language: str = "en"
    """Language code of the texts, for lower-casing."""


class ValuedExperiment(ExperimentBase):
    """Base of the experiments over real-valued sequences."""

    chosen_by_data = ("data.points", "values")
    reads_text: ClassVar[bool] = False
    """True if every sequence needs a text."""

    data: TraceData = TraceData()
    """Real-valued sequences."""
    values: ValuesConfig = ValuesConfig()
    """The vectors of the data."""

    @property
    def scale(self) -> Scale:
        """Kind of the numbers in the files and their scaling, once both are resolved."""
        values, data = self.values, self.data
        pen, offsets, upward = values.kind == "strokes", data.points == "offsets", data.y_axis == "up"
        return Scale(pen, offsets, pen and upward, values.mean, values.deviation)


class TraceExperiment(ValuedExperiment):
    """Base of the experiments that predict real-valued sequences."""

    metrics: ClassVar[dict[str, Better]] = {"loss": "lower"}
    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"start.run": SET}, "a model of real-valued sequences starts from no other run; leave start.run out"),
        Conflict({"text.rare": SET}, "it is for the rare words of a translation; leave it out"),
    )

    task: Literal["trace"]
    """Name of the task."""
    model: str
    """The kind of model."""
    text: TextConfig = Character()
    """Tokenizer of the texts."""


class PredictionExperiment(PredictionConfig, TraceExperiment):
    """A model that predicts each vector from those before."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"text": SET}, 'it reads no text; leave text out, or set model = "synthesis"', written=True),
    )

    model: Literal["prediction"] = "prediction"
    """The kind of model."""


class SynthesisExperiment(SynthesisConfig, TraceExperiment):
    """A model that writes a text."""

    model: Literal["synthesis"]
    """The kind of model."""
    data: WrittenData = WrittenData()
    """Real-valued sequences with their texts."""

    reads_text = True


@dataclass(frozen=True, eq=False)
class TraceScores:
    """Results for every vector of a split, in its order; numbers are scaled by deviations of the training split."""

    errors_ND: Floats
    """Differences from the expected vectors."""
    log_probs_N: Floats | None
    """ln p of the vectors; None without a density."""
    flag_log_probs_N: Floats
    lengths: Sequence[int]
    """Vectors of each sequence."""
    residual: bool = False
    """True if the density is a Gaussian with the residual variance of the validation split, of a model without one."""

    def with_residual(self, variance_D: Floats) -> "TraceScores":
        """Return the scores by the density of a Gaussian with this variance."""
        log_probs_N = -0.5 * (self.errors_ND**2 / variance_D + np.log(2 * pi * variance_D)).sum(1)
        return replace(self, log_probs_N=log_probs_N, residual=True)

    def segment_metrics(self) -> list[SegmentMetric]:
        """Log-likelihood and squared error as sums over sequences."""
        assert self.log_probs_N is not None
        ones_N, ones_S = np.ones(len(self.errors_ND)), np.ones(len(self.lengths))
        of_vectors = counts((self.log_probs_N + self.flag_log_probs_N, (self.errors_ND**2).sum(1), ones_N))
        log_likelihood_S, squares_S, vectors_S = np.add.reduceat(of_vectors, np.cumsum([0, *self.lengths[:-1]])).T
        how = "residual variance" if self.residual else ""
        logs: Any = {"conditions": how, "top": inf}
        return [
            SegmentMetric("log-likelihood a vector", counts((log_likelihood_S, vectors_S)), fraction, **logs),
            SegmentMetric("log-likelihood a sequence", counts((log_likelihood_S, ones_S)), fraction, **logs),
            SegmentMetric("squared error", counts((squares_S, vectors_S)), fraction, "lower"),
        ]

    def json(self) -> dict[str, Any]:
        """Log-likelihoods are of vectors and flags, the squared error is the mean distance to the expected vector."""
        assert self.log_probs_N is not None
        flags, vectors, sequences = float(self.flag_log_probs_N.sum()), len(self.errors_ND), len(self.lengths)
        log_likelihood = float(self.log_probs_N.sum()) + flags
        return {
            "log_likelihood": log_likelihood / vectors,
            "log_likelihood_sequence": log_likelihood / sequences,
            "flag_log_likelihood": flags / vectors,
            "squared_error": float((self.errors_ND**2).sum(1).mean()),
            "vectors": vectors,
            "sequences": sequences,
            "residual_variance": self.residual,
        }

    @property
    def amount(self) -> str:
        """Vectors and sequences, for people."""
        return f"{inflect(len(self.errors_ND), 'vector')}, {inflect(len(self.lengths), 'sequence')}"

    def metrics(self) -> tuple[Metric, ...]:
        found = self.json()
        how = f"{self.amount}, scaled"
        density = f"{how}, residual variance" if self.residual else how
        return (
            Metric("log-likelihood a vector", found["log_likelihood"], density),
            Metric("log-likelihood a sequence", found["log_likelihood_sequence"], density),
            Metric("squared error", found["squared_error"], how),
        )

    def __str__(self) -> str:
        found = self.json()
        how = ", as a Gaussian with the residual variance" if self.residual else ""
        return (
            f"log-likelihood {found['log_likelihood']:.4f} a vector ({found['flag_log_likelihood']:.4f} of its flags), "
            f"{found['log_likelihood_sequence']:.2f} a sequence{how}; squared error {found['squared_error']:.4f} "
            f"({self.amount})"
        )


def measure(model: TracePredictor, corpus: TraceCorpus) -> TraceScores:
    """Return what a model says of every vector of a corpus."""
    network, examples, found = model.model, list(corpus.examples()), dict[int, list[Any]]()
    inputs, targets = (
        Side.of(field, [field.encode([field.get(trace) for trace in examples], lambda row: examples[row].place)])
        for field in (model.field, model.targets)
    )
    for batch in prediction_batches(inputs, _BATCH, targets, aligned=isinstance(inputs.field, PreviousValues)):
        with running(model.runtime):
            expected = network.predict(batch)
        values = cast(Values, batch.targets)
        errors_BTD = expected.means_BTD - values.values_BTD[..., : expected.means_BTD.shape[2]]
        of_batch = errors_BTD, expected.log_probs_BT, expected.flag_log_probs_BT
        for at, (row, length) in enumerate(zip(batch.example_ids_B.tolist(), values.lengths_B.tolist(), strict=True)):
            found[row] = [None if numbers is None else numbers[at, :length] for numbers in of_batch]
    errors, log_probs, flags = zip(*(found[row] for row in range(len(found))), strict=True)
    whole = None if log_probs[0] is None else np.concatenate(log_probs)
    return TraceScores(np.concatenate(errors), whole, np.concatenate(flags), list(map(len, errors)))


_NEGATIVE, _POSITIVE = "with negative numbers", "without any"
_WITH_TEXT, _WITHOUT_TEXT = "with a text", "without a text"


TIERS = (
    Tier(10_000, size=128, epochs=80, batch=400),
    Tier(100_000, size=128, epochs=40, batch=2500),
    Tier(1_000_000, size=256, epochs=20, batch=2500),
    Tier(1 << 62, size=400, epochs=10, batch=2500),
)


class ValueTask(FieldTask):
    """A task of real-valued sequences, whatever is learnt of them."""

    example_noun: ClassVar[str] = "sequence"
    side: ClassVar[str] = "text"
    """The side whose tokens their texts are."""

    def splits(self, experiment: ValuedExperiment, report: Report = silent) -> Splits[TraceCorpus]:
        """Return the splits; errors as for ``data.traces.trace_splits``."""
        return trace_splits(experiment.data.paths(), experiment.data.names, report)

    def with_data_statistics(self, experiment: Any, splits: Splits[TraceCorpus]) -> Any:
        """Return the experiment with the kind and the scale of the vectors of its training split.

        Raises DataError for sequences of several kinds, and where a few have negative numbers, unlike the others.
        """
        if experiment.is_resolved:
            return experiment
        train, with_pen, signs = splits.train, 0, Evidence()
        for trace in train.examples():
            with_pen += trace.ends_T is not None
            if trace.offsets is None:
                signs.add(_NEGATIVE if (trace.values_TD < 0).any() else _POSITIVE, trace.place)
        points = experiment.data.points
        if points == "auto" and signs.counts[_NEGATIVE] and signs.is_rare(_NEGATIVE):
            raise DataError(
                f"Offsets of a pen have negative numbers, but here few sequences do ({signs}): correct these, or set "
                f'data.points = "absolute" or "offsets".'
            )
        if points == "auto":
            points = "offsets" if signs.counts[_NEGATIVE] else "absolute"
        values, pen = experiment.values, 2 * with_pen > train.count
        if values.kind != "auto":
            pen = values.kind == "strokes"
        kind = values.with_options({"kind": "strokes" if pen else "vectors"})
        experiment = experiment.with_options({"data.points": points, "values": kind})
        return experiment.with_options({"values": kind.with_scale(*moments(train.examples(), experiment.scale.raw))})

    def check_data(self, experiment: ValuedExperiment, splits: Splits[TraceCorpus], report: Report) -> None:
        """Raise DataError where sequences lack a text that they need."""
        for corpus in (splits.train, splits.valid) if experiment.reads_text else ():
            check_texts(corpus.examples())

    def learn_vocabulary(self, experiment: Any, splits: Any, report: Report) -> dict[str, Tokenizer]:
        """Return the tokens of the training texts; none where no text is read."""
        if not experiment.reads_text:
            return {}
        language = experiment.data.languages["text"]
        texts = {self.side: lambda: map(written_in, splits.train.examples())}
        return tokenization.fit(experiment.text, texts, report, languages={self.side: language})

    def longest(self, experiment: Any, training: bool) -> int:
        return int(experiment.data.max_length) if training else 0

    def read_requested(self, experiment: Any, request: Request) -> Mapping[str, TraceCorpus]:
        return {request.data.name: trace_corpus(request.data)} if request.data else {}


class ValuePrediction(ValueTask):
    """Prediction of real-valued sequences."""

    name, model = "trace", "prediction"
    noun, plural = "a model of real-valued sequences", "prediction networks"
    experiment: ClassVar[Any] = PredictionExperiment
    network = NETWORKS["prediction"]
    see = "see anaphora draw, or forecast signals with --steps"
    example = 'model = anaphora.load("{path}")\nprint(model.generate("...").svg())'
    predictor_class = TracePredictor
    counted, tiers = "vectors (--task trace)", TIERS

    def sized_by(self, fields: Fields) -> Sequence[Any]:
        return [fields.targets]

    def score(self, model: TracePredictor, text: TraceCorpus, request: Request, report: Report) -> TraceScores:
        """Return log-likelihood and squared error; without a density, that of a Gaussian fitted to validation."""
        found = measure(model, text)
        if found.log_probs_N is not None:
            return found
        valid = measure(model, self.splits(model.experiment).valid)
        return found.with_residual((valid.errors_ND**2).mean(0))

    def choose(self, data: GivenData) -> SizedExperiment:
        """Choose the model for as many vectors, of texts where nearly all have one; DataError for faulty data."""
        vectors, texts = 0, Evidence()
        for trace in trace_splits(data.paths, data.names).train.examples():
            vectors += len(trace.values_TD)
            texts.add(_WITH_TEXT if trace.text.strip() else _WITHOUT_TEXT, trace.place)
        tier = tier_for(vectors, TIERS)
        schedule = {"kind": "decay", "half_life": max(1, tier.epochs // 6)}
        shared: Table = {
            "task": "trace",
            "output": {"kind": "mixture", "components": 20},
            "training": training_table(tier, 0.002, tier.batch, patience=0, schedule=schedule, precision="fp32"),
        }
        what = f"{vectors:,} vectors (sequences: {texts})"
        if not texts.is_rare(_WITHOUT_TEXT):
            return SizedExperiment(shared | {"model": "prediction", "recurrence": {"size": tier.size}}, what)
        decoder = {"size": tier.size, "initial_state": "zero", "input_feeding_from": "context"}
        return SizedExperiment(
            shared | {"model": "synthesis", "text": {"tokenizer": "character"}, "decoder": decoder}, what
        )

    def describe(self, table: Table, text: AnyTokenizer | None) -> str:
        if value_at(table, "model") == "synthesis":
            return f"a network that writes texts{figure(table, 'decoder.size', ' of {:,} hidden units')}"
        return f"a network that predicts vectors{figure(table, 'recurrence.size', ' of {:,} hidden units')}"


class Synthesis(ValuePrediction):
    """Real-valued sequences written from texts."""

    model, plural = "synthesis", "synthesis networks"
    experiment = SynthesisExperiment
    network = NETWORKS["synthesis"]


TASKS = (ValuePrediction, Synthesis)
"""Real-valued sequences."""
