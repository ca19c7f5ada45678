"""The data and the validation of a transducer of vectors: sequences of task trace in, their texts out."""

from collections.abc import Mapping
from typing import cast

import torch

from anaphora.data.columns import Integers
from anaphora.data.ragged import token_counts
from anaphora.data.trace_store import TraceStore
from anaphora.data.transcripts import TranscriptBatches
from anaphora.events import Report
from anaphora.kernels.runtime import Runtime
from anaphora.models.vector_transducer import VectorTransducer
from anaphora.nn.device import device_of
from anaphora.tasks.trace import ValuedWork
from anaphora.tasks.transduce.config import VectorTransductionExperiment
from anaphora.tasks.transduce.data import scores_of
from anaphora.tasks.transduce.vector_predictor import VectorTransducerPredictor
from anaphora.tasks.work import Begun, mean_loss
from anaphora.text.symbols import SymbolTokenizer
from anaphora.training.loop import Validate


class VectorTransducerWork(ValuedWork[VectorTransductionExperiment]):
    """Real-valued sequences with their texts, and how well these are found."""

    side = "target"

    def counts(self, begun: Begun, report: Report) -> Integers:
        """How often each symbol, and ``</s>``, is in the training texts."""
        store, symbols = self.train_store(begun, report), begun.tokenizers["target"].symbols
        counts_V = token_counts(store.texts.ids, symbols.size)
        counts_V[symbols.eos] += len(store.numbers)
        return counts_V

    def batches(self, begun: Begun, report: Report) -> TranscriptBatches:
        return self._batches(self.train_store(begun, report), begun, begun.training.seed)

    def validation(self, begun: Begun, report: Report) -> Validate:
        """Loss, accuracy and symbol error rate of the validation split."""
        valid, target = self.splits.valid, cast(SymbolTokenizer, begun.tokenizers["target"])
        batches = self._batches(self.valid_store(begun, report), begun, seed=0).epoch(1)
        beam, answers = self._experiment.evaluation.validation_beam, [[trace.text] for trace in valid.examples()]

        def validate(model: torch.nn.Module) -> Mapping[str, float]:
            runtime = Runtime.inference(device_of(model))
            predictor = VectorTransducerPredictor(cast(VectorTransducer, model), target, self._experiment, runtime)
            found = predictor.predict_stream(valid.examples(), beam=beam)
            scores = scores_of([one.text for one in found], answers, target)
            loss = mean_loss(model, batches)
            return {"loss": loss, "accuracy": scores.accuracy, "symbol_error_rate": scores.symbol_error_rate}

        return validate

    def _batches(self, store: TraceStore, begun: Begun, seed: int) -> TranscriptBatches:
        symbols = begun.tokenizers["target"].symbols
        return TranscriptBatches(store, symbols, batch_tokens=begun.training.batch_tokens, seed=seed)
