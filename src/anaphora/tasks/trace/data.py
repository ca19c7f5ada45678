"""The data and the validation of models of real-valued sequences."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import torch

from anaphora.data.columns import Integers
from anaphora.data.corpora import Splits
from anaphora.data.ragged import token_counts
from anaphora.data.trace_store import TraceBatches, TraceStore, moments, trace_store, written_in
from anaphora.data.traces import TraceCorpus, trace_splits
from anaphora.events import Report, silent
from anaphora.models.values import ValuesConfig
from anaphora.tasks.trace.config import TraceExperiment, ValuedExperiment
from anaphora.tasks.work import Begun, UpdatingWork, mean_loss
from anaphora.text import tokenization
from anaphora.text.tokenizer import Tokenizer
from anaphora.training.loop import Validate

AnyValued = TypeVar("AnyValued", bound=ValuedExperiment)


def splits_of(experiment: ValuedExperiment, report: Report = silent) -> Splits[TraceCorpus]:
    """The splits of an experiment; errors as for ``data.traces.trace_splits``."""
    return trace_splits(experiment.data.paths(), experiment.data.names, report)


def with_values(experiment: AnyValued, parent: Any) -> AnyValued:
    """The experiment with what the training split says of its vectors, unless it says so itself.

    Raises DataError for sequences of several kinds.
    """
    return experiment if experiment.is_settled else settled(experiment, splits_of(experiment).train)


def settled(experiment: AnyValued, train: TraceCorpus) -> AnyValued:
    """The experiment with what a training split says of its vectors; errors as for ``with_values``."""
    if experiment.is_settled:
        return experiment
    traces = train.examples()
    first = next(traces)
    relative = any(trace.offsets is None and (trace.values_TD < 0).any() for trace in chain([first], traces))
    points = experiment.data.points
    if points == "auto":
        points = "offsets" if relative else "absolute"
    values, pen = experiment.values, first.ends_T is not None
    if values.kind != "auto":
        pen = values.kind == "strokes"
    experiment = experiment.model_copy(update={"data": experiment.data.model_copy(update={"points": points})})
    scale = replace(experiment.scale, pen=pen, upward=pen and experiment.data.y_axis == "up")
    mean, deviation = moments(train.examples(), scale.raw)
    found = ValuesConfig(
        kind="strokes" if pen else "vectors",
        size=len(mean),
        mean=values.mean or tuple(mean),
        deviation=values.deviation or tuple(deviation),
    )
    return experiment.model_copy(update={"values": found})


class TraceWork(UpdatingWork):
    """Real-valued sequences, and how well they are predicted."""

    def __init__(self, experiment: TraceExperiment, report: Report) -> None:
        """Find and check the data."""
        self.traces = splits_of(experiment, report)
        self._experiment = settled(experiment, self.traces.train)
        self.splits = self.traces

    @property
    def longest(self) -> int:
        """Vectors of the longest training sequence; 0 when nothing bounds them."""
        return self._experiment.data.max_length

    def learn_vocabulary(self, report: Report) -> dict[str, Tokenizer]:
        """Of the training texts; none where no text is read."""
        experiment = self._experiment
        if not experiment.reads_text:
            return {}
        texts = {"text": lambda: map(written_in, self.traces.train.examples())}
        return tokenization.fit(experiment.text, texts, report, languages=experiment.data.languages)

    def counts(self, tokenizers: Mapping[str, Tokenizer], folder: Path, report: Report) -> Integers:
        """How often each token is in the training texts."""
        texts = self.store(self.traces.train, tokenizers, folder, report).texts
        return token_counts(texts.ids, tokenizers["text"].symbols.size)

    def batches(
        self, tokenizers: Mapping[str, Tokenizer], folder: Path, batch_tokens: int, report: Report
    ) -> TraceBatches:
        """Training batches."""
        store = self.store(self.traces.train, tokenizers, folder, report)
        symbols = tokenizers["text"].symbols if "text" in tokenizers else None
        return TraceBatches(store, symbols, batch_tokens=batch_tokens, seed=self._experiment.training.seed)

    def validation(self, begun: Begun, report: Report) -> Validate:
        """The loss of the validation split, a vector."""
        tokenizers = begun.tokenizers
        store = self.store(self.traces.valid, tokenizers, begun.encoded / "valid", report)
        symbols = tokenizers["text"].symbols if "text" in tokenizers else None
        batches = TraceBatches(store, symbols, batch_tokens=begun.training.batch_tokens, seed=0).epoch(1)

        def validate(model: torch.nn.Module) -> Mapping[str, float]:
            with torch.no_grad():
                return {"loss": mean_loss(model, batches)}

        return validate

    def store(
        self, corpus: TraceCorpus, tokenizers: Mapping[str, Tokenizer], folder: Path, report: Report
    ) -> TraceStore:
        """An encoded split; long sequences are left out of training alone."""
        longest = self.longest if corpus is self.traces.train else 0
        scale = self._experiment.scale
        return trace_store(corpus, scale, tokenizers.get("text"), folder, longest=longest, report=report)
