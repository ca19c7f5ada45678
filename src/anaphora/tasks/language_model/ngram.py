"""An n-gram language model's experiment: it is counted in one go where others are trained update by update."""

from collections.abc import Mapping
from typing import cast

from anaphora.data.store import text_store
from anaphora.evaluation.stream import stream_loss
from anaphora.events import Note, Report
from anaphora.models.ngram.model import NgramModel
from anaphora.tasks.fitting import FittingWork
from anaphora.tasks.language_model.running_text import TextWork, figures_of
from anaphora.tasks.work import Begun, report_unknown


class NgramWork(FittingWork, TextWork):
    def fit(self, begun: Begun, report: Report) -> Mapping[str, float]:
        counted, tokenizer = cast(NgramModel, begun.model), begun.tokenizers["text"]
        splits, encoded = self.splits, begun.encoded
        train = text_store(splits.train, tokenizer, encoded / "train", report=report)
        valid = text_store(splits.valid, tokenizer, encoded / "valid", report=report)
        report_unknown(valid.ids, tokenizer.symbols, begun.run, report)
        guessed: list[int] = []
        counted.fit(train, guessed.append, report, folder=encoded)
        if guessed:
            which = f"{guessed[0]}-grams" if len(guessed) == 1 else f"{guessed[0]}- to {guessed[-1]}-grams"
            report(Note(f"The text is too small to estimate the discounts of its {which}: 0.5, 1 and 1.5 are used."))
        nats, predictions = stream_loss(counted, valid.ids[1:].tolist(), int(valid.ids[0]))
        return figures_of(nats / predictions, valid)
