"""An n-gram language model's experiment: it is counted in one go where others are trained update by update."""

from collections.abc import Mapping
from typing import cast

import torch

from anaphora.data.store import text_store
from anaphora.evaluation.stream import stream_loss
from anaphora.events import Note, Report
from anaphora.models.ngram.model import NgramModel
from anaphora.run import Run
from anaphora.tasks.fitting import FittingWork
from anaphora.tasks.language_model.running_text import TextWork, figures_of
from anaphora.tasks.work import report_unknown
from anaphora.text.tokenizer import Tokenizer


class NgramWork(FittingWork, TextWork):
    def fit(
        self, model: torch.nn.Module, tokenizers: Mapping[str, Tokenizer], run: Run, report: Report
    ) -> Mapping[str, float]:
        counted, tokenizer = cast(NgramModel, model), tokenizers["text"]
        splits, encoded = self.splits, run.path / "encoded"
        train = text_store(splits.train, tokenizer, encoded / "train", report=report)
        valid = text_store(splits.valid, tokenizer, encoded / "valid", report=report)
        report_unknown(valid.ids, tokenizer.symbols, run, report)
        guessed: list[int] = []
        counted.fit(train, guessed.append, report, folder=encoded)
        if guessed:
            which = f"{guessed[0]}-grams" if len(guessed) == 1 else f"{guessed[0]}- to {guessed[-1]}-grams"
            report(Note(f"The text is too small to estimate the discounts of its {which}: 0.5, 1 and 1.5 are used."))
        nats, predictions = stream_loss(counted, valid.ids[1:].tolist(), int(valid.ids[0]))
        return figures_of(nats / predictions, valid)
