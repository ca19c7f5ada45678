"""N-gram language models of running text.

They implement the contracts of the recurrent models, so they are scored, searched and interpolated as these are; their
state is the table rows of the context. They are not trained but counted (``fit``), and have as many numbers as the text
has distinct n-grams: ``allocate`` gives a new model the shape of a saved one.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

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
from anaphora.models.ngram.backoff import BackoffTable, Order
from anaphora.models.ngram.kneser_ney import kneser_ney
from anaphora.nn.weights import demand_lists
from anaphora.protocols import Carry, Loss, SearchStart, Step, VocabularyInfo


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
        """An empty model, until ``fit``, ``put`` or ``allocate``."""
        super().__init__()
        self.config, self.symbols = config.ngram, text
        for order in range(1, self.config.order + 1):
            for name, kind in (("keys", torch.int64), ("log_probs", torch.float32), ("log_gammas", torch.float32)):
                self.register_buffer(f"{name}{order}", torch.zeros(text.size if order == 1 else 0, dtype=kind))

    def initialise(self, seed: int) -> None:
        """There is nothing to draw: counting starts from nothing."""

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
            self._set(n, *map(torch.from_numpy, (of_order.keys, *values)))

    def set_order(self, order: int, tokens_NK: Tensor, log_probs_N: Tensor, log_gammas_N: Tensor) -> bool:
        """Set the n-grams of one order, lower orders first; order 1 needs every id of the vocabulary, in order.

        Returns whether the context of each is an n-gram of the order below; if not, nothing is set.
        """
        columns = (tokens_N.long() for tokens_N in tokens_NK.T)
        place_N = torch.zeros(len(tokens_NK), dtype=torch.int64)
        for lower in range(1, order):
            place_N = self.table.find(lower, place_N, next(columns))
            if bool((place_N < 0).any()):
                return False
        keys_N, sorting_N = (place_N * self.symbols.size + next(columns)).sort()
        self._set(order, keys_N, log_probs_N[sorting_N], log_gammas_N[sorting_N])
        return True

    def ngrams(self) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Yield the ids (N x n), ln p and ln gamma of the n-grams of every order, sorted by their ids."""
        tokens_NK = torch.empty(1, 0, dtype=torch.int64)
        for keys_N, log_probs_N, log_gammas_N in self.orders:
            place_N = keys_N // self.symbols.size
            tokens_NK = torch.cat([tokens_NK[place_N], (keys_N % self.symbols.size).unsqueeze(1)], dim=1)
            yield tokens_NK, log_probs_N, log_gammas_N

    def allocate(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Take the shapes of a saved model, so that its numbers can be filled in."""
        for order in range(1, self.config.order + 1):
            demand_lists(shapes, [f"{name}{order}" for name in ("keys", "log_probs", "log_gammas")])
        for name, buffer in self.named_buffers():
            if name in shapes:
                setattr(self, name, buffer.new_zeros(shapes[name]))

    @property
    def orders(self) -> list[Order]:
        """The n-grams of every order, from 1 up."""
        return [
            Order(*(self.get_buffer(f"{name}{order}") for name in ("keys", "log_probs", "log_gammas")))
            for order in range(1, self.config.order + 1)
        ]

    @property
    def table(self) -> BackoffTable:
        """The back-off table of all orders."""
        return BackoffTable(self.orders, self.symbols.eos)

    def forward(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        """Return the loss of a window, and the contexts for the next; rows that are not carried on start anew."""
        log_probs_BT, after = self.target_log_probs(batch, carry)
        return Loss(-log_probs_BT.sum(), int(batch.target_ids.lengths_B.sum())), after

    def target_log_probs(self, batch: Batch, carry: Carry | None = None) -> tuple[Tensor, Carry]:
        """ln p of each target of a window: see ``protocols.TextModel``."""
        targets = batch.target_ids
        ids_BL = torch.cat([batch.input_ids.ids_BT[:, :1], targets.ids_BT], dim=1)
        log_probs_BT, contexts_BLC = self.table.log_probs_along(self._first_context(batch, carry), ids_BL)
        return log_probs_BT.masked_fill_(~targets.mask_BT, 0), _at_ends(contexts_BLC, batch)

    def carry_after(self, batch: Batch, carry: Carry | None = None) -> Carry:
        """Return the contexts at the end of a window: see ``protocols.TextModel``."""
        return _at_ends(self.table.contexts_along(self._first_context(batch, carry), batch.input_ids.ids_BT), batch)

    def _first_context(self, batch: Batch, carry: Carry | None) -> Tensor:
        """Return the context before each row of a window, B x C."""
        context_BC = self.table.empty_context(batch.size)
        return torch.where(batch.carry_mask_B.unsqueeze(1), carry["contexts"], context_BC) if carry else context_BC

    def stepper(self) -> "NgramStepper":
        """Return the model one token at a time."""
        return NgramStepper(self)

    def _set(self, order: int, keys_N: Tensor, log_probs_N: Tensor, log_gammas_N: Tensor) -> None:
        setattr(self, f"keys{order}", keys_N)
        setattr(self, f"log_probs{order}", log_probs_N.float())
        setattr(self, f"log_gammas{order}", log_gammas_N.float())


def _at_ends(contexts_BLC: Tensor, batch: Batch) -> Carry:
    """Return the contexts after the last input of each row."""
    ends_B = batch.input_ids.lengths_B - 1
    return {"contexts": contexts_BLC[torch.arange(len(ends_B)), ends_B]}


class NgramStepper:
    """An n-gram language model for search: see ``protocols.TextStepper``. It needs no memory."""

    def __init__(self, model: NgramModel) -> None:
        """The model is read, never changed."""
        self._table, self.order = model.table, model.config.order
        self.size, _, self.unk, _, self.eos = model.symbols
        self.bos = self.eos

    def start(self, batch: Batch) -> SearchStart:
        """Return the empty context for each row of the batch."""
        context_BC = self._table.empty_context(batch.size)
        return SearchStart(None, context_BC, context_BC.new_zeros(batch.size))

    def advance(self, memory: None, state: Tensor, ids_N: Tensor) -> Step:
        context_NC = self._table.read(state, ids_N)
        return Step(self._table.log_probs(context_NC), None, context_NC)

    def select(self, state: Tensor, rows_N: Tensor) -> Tensor:
        return state[rows_N]

    def keep(self, memory: None, sentences_B: Tensor) -> None:
        """There is no memory."""

    def unconditional(self) -> Step:
        """Return the unigram distribution."""
        context_NC = self._table.empty_context(1)
        return Step(self._table.log_probs(context_NC), None, context_NC)

    def match_length(self, state: Tensor, ids_N: Tensor, read: int) -> int:
        """Return length of the longest n-gram in the table."""
        return int(self._table.match_length(state, ids_N)[0])
