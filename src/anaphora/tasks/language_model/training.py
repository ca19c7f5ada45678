"""Training of language models: running text as windows, sentences or counts, and the loss of the validation text."""

import math
from collections.abc import Mapping
from typing import cast

import torch

from anaphora.data.columns import Column, Integers
from anaphora.data.corpora import Splits, TextCorpus
from anaphora.data.ragged import token_counts
from anaphora.data.running_text import TextSentences, TextWindows, encoded_text
from anaphora.data.sources import text_splits
from anaphora.evaluation.perplexity import perplexity
from anaphora.evaluation.stream import stream_loss
from anaphora.events import Note, Report, Skipped
from anaphora.models.ngram.model import NgramModel
from anaphora.protocols import Batches
from anaphora.tasks.fitting import FittingJob
from anaphora.tasks.language_model.config import LanguageModelExperiment
from anaphora.tasks.training_job import TrainingContext, TrainingJob, UpdatingJob, mean_loss, report_unknown
from anaphora.training.loop import Validate
from anaphora.wording import counted


class TextJob(TrainingJob):
    """An experiment over running text."""

    _experiment: LanguageModelExperiment
    splits: Splits[TextCorpus]

    def __init__(self, experiment: LanguageModelExperiment, report: Report) -> None:
        """Find and check the data; errors as for ``data.sources.text_splits``."""
        self._experiment, self.splits = experiment, language_model_splits(experiment, report)

    def train_ids(self, context: TrainingContext, report: Report) -> Column:
        """Return the training text as ids."""
        return encoded_text(self.splits.train, context.tokenizers["text"], context.encoded / "train", report=report)

    def valid_ids(self, context: TrainingContext, report: Report) -> Column:
        """Return the validation text as ids."""
        return encoded_text(self.splits.valid, context.tokenizers["text"], context.encoded / "valid", report=report)

    def metrics(self, loss: float, ids: Column) -> Mapping[str, float]:
        """Return what a mean loss in nats a prediction of the validation text says; ``ids`` are those of the text."""
        characters = sum(len(line) + 1 for line in self.splits.valid)
        bits = loss * (len(ids) - 1) / math.log(2)
        return {"loss": loss, "perplexity": perplexity(loss, 1), "bits_per_character": bits / characters}


class LanguageModelJob(TextJob, UpdatingJob):
    """A network that predicts text: see ``training_job``."""

    @property
    def longest(self) -> int:
        """Predictions of a window, or of the longest sentence."""
        data = self._experiment.data
        return data.steps if self._experiment.reads_stream else data.max_length

    def counts(self, context: TrainingContext, report: Report) -> Integers:
        """Return how often each token is predicted: every one of the text but the first."""
        return token_counts(self.train_ids(context, report)[1:], context.tokenizers["text"].symbols.size)

    def batches(self, context: TrainingContext, report: Report) -> Batches:
        """Return windows over as many streams as a batch has room for, or sentences of like length."""
        data, training = self._experiment.data, context.training
        train = self.train_ids(context, report)
        if not self._experiment.reads_stream:
            symbols = context.tokenizers["text"].symbols
            sentences = TextSentences(
                train, symbols, batch_tokens=training.batch_tokens, seed=training.seed, longest=data.max_length
            )
            if sentences.left_out:
                longer = counted(data.max_length, "token")
                text = f"lines with more than {longer} were left out of {self.splits.train.name}"
                report(Skipped(text, sentences.left_out))
            return sentences
        seed = training.seed if data.windows == "random" else None
        # a text shorter than a batch fills fewer streams, each with a window at least
        count = training.batches_an_update
        rows = max(1, min(training.batch_tokens, (len(train) - 1) // count) // data.steps)
        return TextWindows(train, rows=rows, steps=data.steps, seed=seed, micro_batches=count)

    def validation(self, context: TrainingContext, report: Report) -> Validate:
        """Return the loss of the validation text."""
        symbols, batch_tokens = context.tokenizers["text"].symbols, context.training.batch_tokens
        valid = self.valid_ids(context, report)
        report_unknown(valid, symbols, context.run, report)
        batches: Batches
        if self._experiment.reads_stream:
            steps = self._experiment.data.steps
            # a short text keeps a few windows a stream, so that the state has something to carry
            rows = max(1, min(batch_tokens, len(valid) // 4) // steps)
            batches = TextWindows(valid, rows=rows, steps=steps)
        else:
            batches = TextSentences(valid, symbols, batch_tokens=batch_tokens, seed=0)

        def validate(model: torch.nn.Module) -> Mapping[str, float]:
            return self.metrics(mean_loss(model, batches.epoch(1)), valid)

        return validate


class NgramJob(FittingJob, TextJob):
    """A model that counts n-grams in one go."""

    def fit(self, context: TrainingContext, report: Report) -> Mapping[str, float]:
        model = cast(NgramModel, context.model)
        train, valid = self.train_ids(context, report), self.valid_ids(context, report)
        report_unknown(valid, context.tokenizers["text"].symbols, context.run, report)
        guessed: list[int] = []
        model.fit(train, guessed.append, report, folder=context.encoded)
        if guessed:
            which = f"{guessed[0]}-grams" if len(guessed) == 1 else f"{guessed[0]}- to {guessed[-1]}-grams"
            report(Note(f"The text is too small to estimate the discounts of its {which}: 0.5, 1 and 1.5 are used."))
        nats, predictions = stream_loss(model, valid[1:].tolist(), int(valid[0]))
        return self.metrics(nats / predictions, valid)


def language_model_splits(experiment: LanguageModelExperiment, report: Report) -> Splits[TextCorpus]:
    """Return the splits of an experiment; errors as for ``data.sources.text_splits``."""
    return text_splits(experiment.data.paths(), experiment.data.names, report=report)
