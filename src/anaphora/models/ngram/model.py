"""N-gram language models of running text, as they are counted and saved; ``inference.ngram`` scores and searches them.

They are not trained but counted (``fit``), and have as many numbers as the text has distinct n-grams: ``allocate``
gives a new model the shape of a saved one.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from anaphora.batch import Batch
from anaphora.config import Config
from anaphora.data.columns import Column, Integers
from anaphora.data.ngrams import BLOCK, count
from anaphora.data.scratch import writing_scratch
from anaphora.events import Report, silent
from anaphora.inference.ngram import BackoffModel, NgramStepper, Order
from anaphora.models.ngram.kneser_ney import kneser_ney
from anaphora.nn.device import array_of
from anaphora.nn.weights import demand_lists
from anaphora.protocols import Array, Carry, Loss, VocabularyInfo


class NgramConfig(Config):
    """Options of counted n-grams; ``kneser_ney`` smooths the counts."""

    order: int = Field(5, ge=1, le=100)
    """Length of the longest n-grams: a prediction depends on the order - 1 tokens before it."""


class NgramModelConfig(Config):
    """The table of an n-gram language model."""

    ngram: NgramConfig = NgramConfig()
    """N-grams."""


class NgramModel(nn.Module):
    """A back-off model of the n-grams of a text."""

    def __init__(self, config: NgramModelConfig, text: VocabularyInfo) -> None:
        """An empty model, until ``fit`` or ``allocate``."""
        super().__init__()
        self.config, self.symbols = config.ngram, text
        for order in range(1, self.config.order + 1):
            for name, kind in (("keys", torch.int64), ("log_probs", torch.float32), ("log_gammas", torch.float32)):
                self.register_buffer(f"{name}{order}", torch.zeros(text.size if order == 1 else 0, dtype=kind))

    def initialise(self, seed: int) -> None:
        """Draw nothing: counting starts from nothing."""

    def fit(
        self,
        ids: Integers | Column,
        fell_back: Callable[[int], None],
        report: Report = silent,
        *,
        block: int = BLOCK,
        folder: Path | None = None,
    ) -> None:
        """Count a text, ``block`` n-grams at a time; ``folder`` takes what does not fit in memory.

        ``fell_back`` is called with every order that has too few counts for discounts. Raises DataError when the disk
        is full.
        """
        symbols, order = self.symbols, self.config.order
        predictable = np.ones(symbols.size)
        predictable[[symbols.pad, symbols.bos]] = 0
        with writing_scratch(folder):
            grams = count(
                ids, order=order, size=symbols.size, end=symbols.eos, block=block, folder=folder, report=report
            )
            smoothed = kneser_ney(grams, predictable / predictable.sum(), fell_back, block=block, folder=folder)
        for n, (of_order, values) in enumerate(zip(grams, smoothed, strict=True), 1):
            setattr(self, f"keys{n}", torch.from_numpy(of_order.keys))
            for name, values_N in values._asdict().items():
                setattr(self, f"{name}{n}", torch.from_numpy(values_N.astype(np.float32, copy=False)))

    def allocate(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Take the shapes of a saved model, so that its numbers can be filled in."""
        for order in range(1, self.config.order + 1):
            demand_lists(shapes, [f"{name}{order}" for name in ("keys", "log_probs", "log_gammas")])
        for name, buffer in self.named_buffers():
            if name in shapes:
                setattr(self, name, buffer.new_zeros(shapes[name]))

    @property
    def tensors(self) -> list[list[Tensor]]:
        """The keys, ln p and ln gamma of the n-grams of every order, from 1 up."""
        return [
            [self.get_buffer(f"{name}{order}") for name in ("keys", "log_probs", "log_gammas")]
            for order in range(1, self.config.order + 1)
        ]

    @property
    def backoff(self) -> BackoffModel:
        """The model that scores and searches by these n-grams."""
        return BackoffModel([Order(*map(array_of, order)) for order in self.tensors], self.symbols)

    def forward(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        """Return the loss of a window, and the contexts for the next; rows that are not carried on start anew."""
        log_probs_BT, after = self.target_log_probs(batch, carry)
        return Loss(torch.tensor(-log_probs_BT.sum()), int(batch.target_ids.lengths_B.sum())), after

    def target_log_probs(self, batch: Batch, carry: Carry | None = None) -> tuple[Array, Carry]:
        """ln p of each target of a window: see ``protocols.TextModel``."""
        return self.backoff.target_log_probs(batch, carry)

    def carry_after(self, batch: Batch, carry: Carry | None = None) -> Carry:
        """Return the contexts at the end of a window: see ``protocols.TextModel``."""
        return self.backoff.carry_after(batch, carry)

    def stepper(self) -> NgramStepper:
        """Return the model one token at a time."""
        return self.backoff.stepper()

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Stay on the CPU, where it is read, and of one type."""
        return self
