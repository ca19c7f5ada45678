"""A count model's experiment: it is counted in one go where others are trained update by update."""

import time
from collections.abc import Mapping
from typing import cast

import torch

from anaphora.data.store import text_store
from anaphora.evaluation.stream import stream_loss
from anaphora.events import Note, Report, Saved, Validated
from anaphora.experiment.language_model import LanguageModelWork, figures_of
from anaphora.models.ngram import NgramModel
from anaphora.run import Run
from anaphora.run.weights import tensors_of
from anaphora.text.coder import TextCoder
from anaphora.training import log
from anaphora.training.config import TrainingConfig
from anaphora.training.loop import Outcome, Stop


class NgramWork(LanguageModelWork):
    """Counting: one checkpoint, named after update 1."""

    def learn(
        self,
        model: torch.nn.Module,
        coders: Mapping[str, TextCoder],
        run: Run,
        training: TrainingConfig,
        report: Report,
        stop: Stop,
    ) -> Outcome:
        """Count the training part, unless ``run`` has the counts already; see ``Work.learn``."""
        counted = cast(NgramModel, model)
        started = time.monotonic()
        if not run.checkpoints():
            self._count(counted, coders["text"], run, report)
        return Outcome("epochs", 1, 1, run.metrics.validation(1), 0, time.monotonic() - started)

    def _count(self, model: NgramModel, coder: TextCoder, run: Run, report: Report) -> None:
        parts, encoded = self._parts, run.path / "encoded"
        train = text_store(parts.train, coder, encoded / "train", report=report)
        valid = text_store(parts.valid, coder, encoded / "valid", report=report)

        def fell_back(order: int) -> None:
            report(
                Note(f"The text is too small to estimate the discounts of its {order}-grams: 0.5, 1 and 1.5 are used.")
            )

        model.fit(train, fell_back, report)
        nats, predictions = stream_loss(model, valid.ids[1:].tolist(), int(valid.ids[0]))
        event = Validated(update=1, epoch=1, metrics=figures_of(nats / predictions, valid), best=True)
        run.rewind(0)  # what a killed process left
        run.metrics.append(log.validation_line(event))
        report(event)
        report(Saved(1, run.save(1, tensors_of(model), {}, {})))
        run.mark_best(1)
        run.write_card({f"validation {name}": value for name, value in event.metrics.items()})
