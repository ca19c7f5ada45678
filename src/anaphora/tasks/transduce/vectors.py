"""The data and the validation of a transducer of vectors: sequences of task trace in, their texts out."""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

import torch

from anaphora.data.columns import Integers
from anaphora.data.ragged import token_counts
from anaphora.data.trace_store import TraceStore, trace_store, written_in
from anaphora.data.traces import TraceCorpus
from anaphora.data.transcripts import TranscriptBatches
from anaphora.events import Report
from anaphora.kernels.runtime import Runtime
from anaphora.models.vector_transducer import VectorTransducer
from anaphora.nn.device import device_of
from anaphora.tasks.trace import settled, splits_of
from anaphora.tasks.transduce.config import VectorTransductionExperiment
from anaphora.tasks.transduce.data import scores_of
from anaphora.tasks.transduce.vector_predictor import VectorTransducerPredictor
from anaphora.tasks.work import Begun, UpdatingWork, mean_loss
from anaphora.text import tokenization
from anaphora.text.symbols import SymbolTokenizer
from anaphora.text.tokenizer import Tokenizer
from anaphora.training.loop import Validate


class VectorTransducerWork(UpdatingWork):
    """Real-valued sequences with their texts, and how well these are found."""

    def __init__(self, experiment: VectorTransductionExperiment, report: Report) -> None:
        """Find and check the data."""
        self._traces = splits_of(experiment, report)
        self._experiment = settled(experiment, self._traces.train)
        self.splits = self._traces

    @property
    def longest(self) -> int:
        """Vectors of the longest training sequence; 0 when nothing bounds them."""
        return self._experiment.data.max_length

    def learn_vocabulary(self, report: Report) -> dict[str, Tokenizer]:
        """Of the training texts."""
        experiment = self._experiment
        texts = {"target": lambda: map(written_in, self._traces.train.examples())}
        return tokenization.fit(experiment.text, texts, report, languages={"target": experiment.data.language})

    def counts(self, tokenizers: Mapping[str, Tokenizer], folder: Path, report: Report) -> Integers:
        """How often each symbol, and ``</s>``, is in the training texts."""
        store, symbols = self._store(self._traces.train, tokenizers, folder, report), tokenizers["target"].symbols
        counts_V = token_counts(store.texts.ids, symbols.size)
        counts_V[symbols.eos] += len(store.numbers)
        return counts_V

    def batches(
        self, tokenizers: Mapping[str, Tokenizer], folder: Path, batch_tokens: int, report: Report
    ) -> TranscriptBatches:
        """Training batches."""
        store, seed = self._store(self._traces.train, tokenizers, folder, report), self._experiment.training.seed
        return TranscriptBatches(store, tokenizers["target"].symbols, batch_tokens=batch_tokens, seed=seed)

    def validation(self, begun: Begun, report: Report) -> Validate:
        """Loss, accuracy and symbol error rate of the validation split."""
        valid, target = self._traces.valid, cast(SymbolTokenizer, begun.tokenizers["target"])
        store = self._store(valid, begun.tokenizers, begun.encoded / "valid", report)
        batches = TranscriptBatches(store, target.symbols, batch_tokens=begun.training.batch_tokens, seed=0).epoch(1)
        beam, answers = self._experiment.evaluation.validation_beam, [[trace.text] for trace in valid.examples()]

        def validate(model: torch.nn.Module) -> Mapping[str, float]:
            runtime = Runtime.inference(device_of(model))
            predictor = VectorTransducerPredictor(cast(VectorTransducer, model), target, self._experiment, runtime)
            found = predictor.predict_stream(valid.examples(), beam=beam)
            scores = scores_of([one.text for one in found], answers, target)
            loss = mean_loss(model, batches)
            return {"loss": loss, "accuracy": scores.accuracy, "symbol_error_rate": scores.symbol_error_rate}

        return validate

    def _store(
        self, corpus: TraceCorpus, tokenizers: Mapping[str, Tokenizer], folder: Path, report: Report
    ) -> TraceStore:
        """An encoded split; long sequences are left out of training alone."""
        longest = self.longest if corpus is self._traces.train else 0
        scale, target = self._experiment.scale, tokenizers["target"]
        return trace_store(corpus, scale, target, folder, longest=longest, report=report)
