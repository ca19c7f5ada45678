"""The data and the validation of models of real-valued sequences."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

import torch

from anaphora.data.columns import Integers
from anaphora.data.corpora import Splits
from anaphora.data.ragged import token_counts
from anaphora.data.trace_store import TraceBatches, TraceStore, check_texts, moments, trace_store, written_in
from anaphora.data.traces import TraceCorpus, trace_splits
from anaphora.errors import DataError
from anaphora.events import Report, silent
from anaphora.formats.evidence import Evidence
from anaphora.tasks.task import Tokenizers
from anaphora.tasks.trace.config import TraceExperiment, ValuedExperiment
from anaphora.tasks.work import Begun, UpdatingWork, mean_loss
from anaphora.text import tokenization
from anaphora.text.tokenizer import Tokenizer
from anaphora.training.loop import Validate

_NEGATIVE, _POSITIVE = "with negative numbers", "without any"
AnyValued = TypeVar("AnyValued", bound=ValuedExperiment)


def splits_of(experiment: ValuedExperiment, report: Report = silent) -> Splits[TraceCorpus]:
    """The splits of an experiment; errors as for ``data.traces.trace_splits``."""
    return trace_splits(experiment.data.paths(), experiment.data.names, report)


def settled(experiment: AnyValued, found: Splits[TraceCorpus]) -> AnyValued:
    """The experiment with what the training split says of its vectors.

    Raises DataError for sequences of several kinds, and where a few have negative numbers, unlike the others.
    """
    if experiment.is_settled:
        return experiment
    train, with_pen, signs = found.train, 0, Evidence()
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
    return experiment.with_options({"values": kind.measured(*moments(train.examples(), experiment.scale.raw))})


class ValuedWork(UpdatingWork, Generic[AnyValued]):
    """Real-valued sequences, whatever is learnt of them."""

    side: ClassVar[str] = "text"
    """The side whose tokens their texts are."""
    _experiment: AnyValued
    splits: Splits[TraceCorpus]

    def __init__(self, experiment: AnyValued, report: Report) -> None:
        """Find and check the data; DataError where sequences lack a text that they need."""
        self.splits = splits_of(experiment, report)
        for corpus in (self.splits.train, self.splits.valid) if experiment.reads_text else ():
            check_texts(corpus.examples())
        self._experiment = settled(experiment, self.splits)

    def learn_vocabulary(self, report: Report) -> dict[str, Tokenizer]:
        """Of the training texts."""
        texts, language = lambda: map(written_in, self.splits.train.examples()), self._experiment.data.languages["text"]
        return tokenization.fit(self._experiment.text, {self.side: texts}, report, languages={self.side: language})

    def store(self, corpus: TraceCorpus, tokenizers: Tokenizers, folder: Path, report: Report) -> TraceStore:
        """An encoded split; long sequences are left out of training alone."""
        longest = self.longest if corpus is self.splits.train else 0
        tokenizer = tokenizers.get(self.side)
        return trace_store(corpus, self._experiment.scale, tokenizer, folder, longest=longest, report=report)

    def train_store(self, begun: Begun, report: Report) -> TraceStore:
        return self.store(self.splits.train, begun.tokenizers, begun.encoded / "train", report)

    def valid_store(self, begun: Begun, report: Report) -> TraceStore:
        return self.store(self.splits.valid, begun.tokenizers, begun.encoded / "valid", report)


class TraceWork(ValuedWork[TraceExperiment]):
    """Real-valued sequences, and how well they are predicted."""

    def learn_vocabulary(self, report: Report) -> dict[str, Tokenizer]:
        """Of the training texts; none where no text is read."""
        return super().learn_vocabulary(report) if self._experiment.reads_text else {}

    def counts(self, begun: Begun, report: Report) -> Integers:
        """How often each token is in the training texts."""
        return token_counts(self.train_store(begun, report).texts.ids, begun.tokenizers["text"].symbols.size)

    def batches(self, begun: Begun, report: Report) -> TraceBatches:
        return self._batches(self.train_store(begun, report), begun, begun.training.seed)

    def validation(self, begun: Begun, report: Report) -> Validate:
        """The loss of the validation split, a vector."""
        batches = self._batches(self.valid_store(begun, report), begun, seed=0).epoch(1)

        def validate(model: torch.nn.Module) -> Mapping[str, float]:
            with torch.no_grad():
                return {"loss": mean_loss(model, batches)}

        return validate

    def _batches(self, store: TraceStore, begun: Begun, seed: int) -> TraceBatches:
        symbols = begun.tokenizers["text"].symbols if "text" in begun.tokenizers else None
        return TraceBatches(store, symbols, batch_tokens=begun.training.batch_tokens, seed=seed)
