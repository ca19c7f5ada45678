"""The data and the validation of a language model: running text as windows, and what it costs to predict it."""

from collections.abc import Mapping

import torch

from anaphora.data.columns import Integers
from anaphora.data.ragged import token_counts
from anaphora.data.sentences import TextSentences
from anaphora.data.store import text_store
from anaphora.data.windows import TextWindows
from anaphora.events import Report, Skipped
from anaphora.protocols import Batches
from anaphora.tasks.language_model.running_text import TextWork, figures_of
from anaphora.tasks.work import Begun, UpdatingWork, mean_loss, report_unknown
from anaphora.training.loop import Validate
from anaphora.wording import counted


class LanguageModelWork(TextWork, UpdatingWork):
    """The experiment of a network that predicts text, its data found: see ``work.UpdatingWork``."""

    @property
    def longest(self) -> int:
        """Predictions of a window, or of the longest sentence."""
        return self._experiment.data.max_length if self._of_sentences else self._experiment.data.steps

    @property
    def _of_sentences(self) -> bool:
        return not self._experiment.reads_stream

    def counts(self, begun: Begun, report: Report) -> Integers:
        """Every token of the text but the first is predicted."""
        tokenizer = begun.tokenizers["text"]
        train = text_store(self.splits.train, tokenizer, begun.encoded / "train", report=report)
        return token_counts(train.ids[1:], tokenizer.symbols.size)

    def batches(self, begun: Begun, report: Report) -> Batches:
        """Windows over as many streams as a batch has room for, or sentences of like length."""
        data, training, tokenizer = self._experiment.data, begun.training, begun.tokenizers["text"]
        batch_tokens = training.batch_tokens
        train = text_store(self.splits.train, tokenizer, begun.encoded / "train", report=report)
        if self._of_sentences:
            sentences = TextSentences(
                train, tokenizer.symbols, batch_tokens=batch_tokens, seed=training.seed, longest=data.max_length
            )
            if sentences.left_out:
                longer = counted(data.max_length, "token")
                text = f"lines with more than {longer} were left out of {self.splits.train.name}"
                report(Skipped(text, sentences.left_out))
            return sentences
        steps = data.steps
        seed = training.seed if data.windows == "random" else None
        # a text shorter than a batch fills fewer streams, each with a window at least
        count = training.batches_an_update
        rows = max(1, min(batch_tokens, (len(train.ids) - 1) // count) // steps)
        return TextWindows(train, rows=rows, steps=steps, seed=seed, micro_batches=count)

    def validation(self, begun: Begun, report: Report) -> Validate:
        """What it costs to predict the validation text."""
        tokenizer, batch_tokens = begun.tokenizers["text"], begun.training.batch_tokens
        valid = text_store(self.splits.valid, tokenizer, begun.encoded / "valid", report=report)
        report_unknown(valid.ids, tokenizer.symbols, begun.run, report)
        batches: Batches
        if self._of_sentences:
            batches = TextSentences(valid, tokenizer.symbols, batch_tokens=batch_tokens, seed=0)
        else:
            steps = self._experiment.data.steps
            # a short text keeps a few windows a stream, so that the state has something to carry
            rows = max(1, min(batch_tokens, len(valid.ids) // 4) // steps)
            batches = TextWindows(valid, rows=rows, steps=steps)

        def validate(model: torch.nn.Module) -> Mapping[str, float]:
            return figures_of(mean_loss(model, batches.epoch(1)), valid)

        return validate
