"""The count model of running text: how often was each word seen after the few before it.

It meets the same contracts as the recurrent models, so it is scored, searched and mixed as they are; its state are the
places of its contexts. It is not trained but counted (``fit``), and what it learnt has as many numbers as the text has
different n-grams: ``allocate`` gives a new one the shape of one that was saved.
"""

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from anaphora.config import Config
from anaphora.data.ngrams import count
from anaphora.data.store import TextStore
from anaphora.events import Report, silent
from anaphora.models.ngram.backoff import BackoffTable, Order
from anaphora.models.ngram.kneser_ney import kneser_ney
from anaphora.protocols import Batch, Carry, Loss, Step, VocabularyInfo

NEVER = 1e-99
"""The probability of marks that no text has, as ARPA files write it: 0 has no logarithm."""


class NgramConfig(Config):
    """What is counted; what was never seen gets its share by ``kneser_ney``."""

    order: int = Field(5, ge=1, le=100)
    """Units of the longest n-grams: order - 1 units before a word count."""


class NgramModelConfig(Config):
    """The table of a count model."""

    ngram: NgramConfig = NgramConfig()
    """What is counted."""


class NgramModel(nn.Module):
    """A back-off model over the n-grams of a text."""

    def __init__(self, config: NgramModelConfig, text: VocabularyInfo) -> None:
        """Size and marks of the vocabulary; it knows nothing until ``fit`` or ``allocate``."""
        super().__init__()
        self.config, self.symbols = config.ngram, text
        for order in range(1, self.config.order + 1):
            for name, kind in (("keys", torch.int64), ("log_probs", torch.float32), ("log_gammas", torch.float32)):
                self.register_buffer(f"{name}{order}", torch.zeros(text.size if order == 1 else 0, dtype=kind))

    def initialise(self, seed: int) -> None:
        """There is nothing to draw: a count model starts from nothing."""

    def fit(self, store: TextStore, fell_back: Callable[[int], None], report: Report = silent) -> None:
        """Count a text; ``fell_back`` hears of every order whose counts are too few to give discounts."""
        grams = count(store, order=self.config.order, size=self.symbols.size, end=self.symbols.eos, report=report)
        predictable = np.ones(self.symbols.size)
        predictable[[self.symbols.pad, self.symbols.bos]] = 0
        smoothed = kneser_ney(grams, predictable / predictable.sum(), fell_back)
        for order, (of_order, (p, gamma)) in enumerate(zip(grams, smoothed, strict=True), 1):
            keys = of_order.contexts * self.symbols.size + of_order.units[:, -1]
            log_probs, log_gammas = (np.log(np.maximum(values, NEVER)) for values in (p, gamma))
            self._set(order, *(torch.from_numpy(values) for values in (keys, log_probs, log_gammas)))

    def put(self, order: int, units_NK: Tensor, log_probs_N: Tensor, log_gammas_N: Tensor) -> bool:
        """Take n-grams of one order from elsewhere, lower orders first; of order 1 every symbol by its id.

        Returns whether the context of each is among those of the order below; if not, nothing is taken.
        """
        place_N = torch.zeros_like(units_NK[:, 0])
        for lower in range(1, order):
            place_N = self.table.find(lower, place_N, units_NK[:, lower - 1])
            if bool((place_N < 0).any()):
                return False
        keys_N, sorting_N = (place_N * self.symbols.size + units_NK[:, -1]).sort()
        self._set(order, keys_N, log_probs_N[sorting_N], log_gammas_N[sorting_N])
        return True

    def ngrams(self) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """The units (N x n), ln p and ln gamma of the n-grams of every order, sorted by their units."""
        units_NK = torch.empty(1, 0, dtype=torch.int64)
        for keys_N, log_probs_N, log_gammas_N in self.orders:
            place_N = keys_N // self.symbols.size
            units_NK = torch.cat([units_NK[place_N], (keys_N % self.symbols.size).unsqueeze(1)], dim=1)
            yield units_NK, log_probs_N, log_gammas_N

    def allocate(self, shapes: Mapping[str, torch.Size]) -> None:
        """Take the shape of a saved model, for its numbers to be filled in."""
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
        """What it knows."""
        return BackoffTable(self.orders, self.symbols.eos)

    def forward(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        """The loss of a window, and the contexts for the next; rows that are not continued start afresh."""
        log_probs_BT, after = self.target_log_probs(batch, carry)
        assert batch.targets is not None
        return Loss(-log_probs_BT.sum(), int(batch.targets.lengths_B.sum())), after

    def target_log_probs(self, batch: Batch, carry: Carry | None = None) -> tuple[Tensor, Carry]:
        """What each target of a window costs: see ``protocols.TextModel``."""
        if batch.targets is None:
            raise ValueError("a batch without targets has no loss: search it through stepper() instead.")
        table, ids_BT = self.table, batch.inputs.ids_BT
        contexts_BTC, after = self._contexts(table, batch, carry)
        open_BT = torch.arange(ids_BT.shape[1], device=ids_BT.device) < batch.targets.lengths_B.unsqueeze(1)
        log_probs_N = table.log_probs_of(contexts_BTC[open_BT], batch.targets.ids_BT[open_BT])
        return log_probs_N.new_zeros(ids_BT.shape).masked_scatter(open_BT, log_probs_N), after

    def carry_after(self, batch: Batch, carry: Carry | None = None) -> Carry:
        """The contexts at the end of a window: see ``protocols.TextModel``."""
        return self._contexts(self.table, batch, carry)[1]

    def _contexts(self, table: BackoffTable, batch: Batch, carry: Carry | None) -> tuple[Tensor, Carry]:
        """The context of every target of a window, B x T x C, and those for the next window."""
        ids_BT = batch.inputs.ids_BT
        context_BC = table.empty_context(len(ids_BT))
        if carry:
            context_BC = torch.where(batch.continues_B.unsqueeze(1), carry["contexts"], context_BC)
        contexts_BTC = table.contexts_along(context_BC, ids_BT)
        ends_B = batch.inputs.lengths_B - 1
        return contexts_BTC, {"contexts": contexts_BTC[torch.arange(len(ids_BT)), ends_B]}

    def stepper(self) -> "NgramStepper":
        """The model one symbol at a time."""
        return NgramStepper(self)

    def _set(self, order: int, keys_N: Tensor, log_probs_N: Tensor, log_gammas_N: Tensor) -> None:
        setattr(self, f"keys{order}", keys_N)
        setattr(self, f"log_probs{order}", log_probs_N.float())
        setattr(self, f"log_gammas{order}", log_gammas_N.float())


class NgramStepper:
    """A count model for search: see ``protocols.Stepper``. It needs no memory."""

    def __init__(self, model: NgramModel) -> None:
        """The model is read, never changed."""
        self._table, self.order = model.table, model.config.order
        self.size, _, self.unk, _, self.eos = model.symbols
        self.bos = self.eos

    def start(self, batch: Batch) -> tuple[None, Tensor]:
        """The context before anything was read, for each row of the batch."""
        return None, self._table.empty_context(len(batch.numbers_B))

    def advance(self, memory: None, state: Tensor, ids_N: Tensor) -> Step:
        """One symbol of every row."""
        context_NC = self._table.read(state, ids_N)
        return Step(self._table.log_probs(context_NC), None, context_NC)

    def select(self, state: Tensor, rows_N: Tensor) -> Tensor:
        """The contexts of the given rows."""
        return state[rows_N]

    def keep(self, memory: None, sentences_B: Tensor) -> None:
        """There is nothing to keep."""

    def unconditional(self) -> Step:
        """The distribution of single units."""
        context_NC = self._table.empty_context(1)
        return Step(self._table.log_probs(context_NC), None, context_NC)

    def matched(self, state: Tensor, ids_N: Tensor, read: int) -> int:
        """Units of the longest n-gram in the table."""
        return int(self._table.matched(state, ids_N)[0])
