"""An aligner's experiment: word links are learnt in one go where networks are trained update by update."""

import time
from collections.abc import Mapping
from typing import cast

import torch

from anaphora.data.store import pair_store
from anaphora.evaluation.perplexity import perplexity
from anaphora.events import Report, Saved, Validated
from anaphora.experiment.translation import TranslationWork
from anaphora.models.alignment.aligner import Aligner
from anaphora.run import Run
from anaphora.run.weights import tensors_of
from anaphora.text.coder import TextCoder
from anaphora.training import log
from anaphora.training.config import TrainingConfig
from anaphora.training.loop import Outcome, Stop


class AlignerWork(TranslationWork):
    """Learning links: one checkpoint, named after update 1."""

    def learn(
        self,
        model: torch.nn.Module,
        coders: Mapping[str, TextCoder],
        run: Run,
        training: TrainingConfig,
        report: Report,
        stop: Stop,
    ) -> Outcome:
        """Learn from the training part, unless ``run`` has done so already; see ``Work.learn``."""
        started = time.monotonic()
        if not run.checkpoints():
            self._learn(cast(Aligner, model), coders, run, report)
        return Outcome("epochs", 1, 1, run.metrics.validation(1), 0, time.monotonic() - started)

    def _learn(self, model: Aligner, coders: Mapping[str, TextCoder], run: Run, report: Report) -> None:
        sides, encoded = (coders["source"], coders["target"]), run.path / "encoded"
        train = pair_store(self._parts.train, *sides, encoded / "train", longest=self.longest, report=report)
        valid = pair_store(self._parts.valid, *sides, encoded / "valid", report=report)
        model.fit(train.sources, train.targets, report)
        found = model.to_target.best(valid.sources, valid.targets)
        loss = -found.log_prob / max(1, found.words)
        figures = {"loss": loss, "perplexity": perplexity(loss, 1)}
        event = Validated(update=1, epoch=1, metrics=figures, best=True)
        run.rewind(0)  # what a killed process left
        run.metrics.append(log.validation_line(event))
        report(event)
        report(Saved(1, run.save(1, tensors_of(model), {}, {})))
        run.mark_best(1)
        run.write_card({f"validation {name}": value for name, value in figures.items()})
