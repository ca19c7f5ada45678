"""The count model of running text: how often was each word seen behind the few before it.

It meets the same contracts as the recurrent models, so it is scored, searched and mixed as they are; its state are the
places of its contexts. It is not trained but counted (``fit``), and what it learnt has as many numbers as the text has
different n-grams: ``make_room`` gives a new one the shape of one that was saved.
"""

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from anaphora.config import Config
from anaphora.data.ngrams import count
from anaphora.data.store import TextStore
from anaphora.events import Report, silent
from anaphora.models.backoff import BackoffTable, Order
from anaphora.models.kneser_ney import kneser_ney
from anaphora.protocols import Batch, Carry, Loss, Step, Symbols

NEVER = 1e-99
"""The probability of marks that no text has, as ARPA files write it: 0 has no logarithm."""


class NgramConfig(Config):
    """What is counted, and how what was never seen gets its share."""

    order: int = Field(5, ge=1)
    """Units of the longest n-grams: order - 1 units before a word count."""
    smoothing: Literal["kneser-ney"] = "kneser-ney"
    """Interpolated modified Kneser-Ney (Chen and Goodman 1998)."""


class NgramModel(nn.Module):
    """A back-off model over the n-grams of a text."""

    def __init__(self, config: NgramConfig, text: Symbols) -> None:
        """Size and marks of the vocabulary; it knows nothing until ``fit`` or ``make_room``."""
        super().__init__()
        self.config, self.symbols = config, text
        for order in range(1, config.order + 1):
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
            self._set(order, "keys", torch.from_numpy(keys))
            self._set(order, "log_probs", torch.from_numpy(np.log(np.maximum(p, NEVER))).float())
            self._set(order, "log_gammas", torch.from_numpy(np.log(np.maximum(gamma, NEVER))).float())

    def make_room(self, shapes: Mapping[str, torch.Size]) -> None:
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
        """The loss of a window, and the contexts for the next; rows that do not go on start anew."""
        if batch.targets is None:
            raise ValueError("a batch without targets has no loss: search it through stepper() instead.")
        table, ids_BT = self.table, batch.inputs.ids_BT
        context_BC = table.nothing(len(ids_BT))
        if carry:
            context_BC = torch.where(batch.continues_B.unsqueeze(1), carry["contexts"], context_BC)
        contexts_BTC = table.contexts_along(context_BC, ids_BT)
        open_BT = torch.arange(ids_BT.shape[1], device=ids_BT.device) < batch.targets.lengths_B.unsqueeze(1)
        log_probs_N = table.log_probs_of(contexts_BTC[open_BT], batch.targets.ids_BT[open_BT])
        ends_B = batch.inputs.lengths_B - 1
        last_BC = contexts_BTC[torch.arange(len(ids_BT)), ends_B]
        return Loss(-log_probs_N.sum(), len(log_probs_N)), {"contexts": last_BC}

    def stepper(self) -> "NgramStepper":
        """The model one symbol at a time."""
        return NgramStepper(self)

    def _set(self, order: int, name: str, values: Tensor) -> None:
        setattr(self, f"{name}{order}", values)


class NgramStepper:
    """A count model for search: see ``protocols.Stepper``. Its memory is nothing but the number of sentences."""

    normalised = True

    def __init__(self, model: NgramModel) -> None:
        """The model is read, never changed."""
        self._table = model.table
        self.size, _, self.unk, _, self.eos = model.symbols
        self.bos = self.eos

    def start(self, batch: Batch) -> tuple[None, Tensor]:
        """The context before anything was read, for each row of the batch."""
        return None, self._table.nothing(len(batch.numbers_B))

    def advance(self, memory: None, state: Tensor, ids_N: Tensor) -> Step:
        """One symbol of every row."""
        context_NC = self._table.read(state, ids_N)
        return Step(self._table.log_probs(context_NC), None, context_NC)

    def select(self, state: Tensor, rows_N: Tensor) -> Tensor:
        """The contexts of the given rows."""
        return state[rows_N]

    def keep(self, memory: None, sentences_B: Tensor) -> None:
        """There is nothing to keep."""
