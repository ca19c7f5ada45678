"""The contracts that let the packages ignore each other.

``Batch`` is what data hands to models, ``Loss`` what a model hands to training, ``Stepper`` what a model hands to
search. Nothing here computes, and nothing here imports torch.
"""

from __future__ import annotations

from collections import abc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from torch import Size, Tensor


class VocabularyInfo(NamedTuple):
    """The size of a vocabulary and the ids of its special tokens: all that a model needs of it."""

    size: int
    """V, special tokens included."""
    pad: int
    unk: int
    bos: int
    eos: int


@dataclass(frozen=True)
class Sequence:
    """Right-padded rows of ids."""

    ids_BT: Tensor
    """int64; what lies beyond a row's length is never looked at."""
    lengths_B: Tensor
    """int64, at least 1."""
    weights_B: Tensor | None = None
    """Of targets: what the loss of each row is multiplied by; None is 1 for every row."""
    words_C: Tensor | None = None
    """Of targets: the different words of the batch's partition of the corpus, all targets among them, for outputs that
    are trained by partitions; None where the corpus was not cut into any."""


@dataclass(frozen=True)
class Batch:
    """One batch of examples; a row is one sentence, or one window of running text.

    Translation: ``inputs`` is the source with its ``</s>``; ``targets`` is y_1 .. y_m ``</s>`` (the model shifts it
    right after ``<s>`` itself). Language models: ``targets`` is ``inputs`` one position later. For search, ``inputs``
    alone is enough, and ``targets`` holds what every hypothesis must begin with.
    """

    inputs: Sequence
    targets: Sequence | None
    numbers_B: Tensor
    """int64: the position of each row in its corpus."""
    continues_B: Tensor
    """bool: this row goes on where the same row of the previous batch stopped."""
    rate: float = 1.0
    """What the learning rate of the update with it is multiplied by."""
    links_BTS: Tensor | None = None
    """float32: the shares that the word links of every target position give to the positions of the inputs; a row sums
    to 1, or to 0 where there is no link. None where attention is not guided."""
    candidates: Sequence | None = None
    """For search of a translator: the ids that each sentence may be written with, each once, ``</s>`` and a forced
    beginning among them; None for all of the vocabulary."""


Carry = Mapping[str, "Tensor"]
"""State that a model takes from one batch to the next, detached; each tensor has B in front."""


class Batches(Protocol):
    """A training corpus as batches whose order is a pure function of (seed, epoch, position)."""

    def epoch(self, number: int) -> abc.Sequence[Batch]:
        """The batches of one epoch (from 1), by position; looking one up costs no more than making it."""


@dataclass(frozen=True)
class Loss:
    """The summed negative log-likelihood in nats (a scalar tensor) and the number of predictions in it."""

    sum: Tensor
    count: int
    penalty: Tensor | None = None
    """What training minimises beside the sum and does not report as a loss, a scalar; None for nothing."""

    @property
    def minimised(self) -> Tensor:
        """What training minimises, before it is reduced."""
        return self.sum if self.penalty is None else self.sum + self.penalty


class Model(Protocol):
    """What training needs of a network: one door in, one way out."""

    def __call__(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        """The loss of a batch, and what the next batch may go on from (empty when nothing is carried)."""

    def stepper(self) -> Stepper:
        """The same network one step at a time, for search and scoring; puts the model into evaluation mode."""


class TextModel(Model, Protocol):
    """A Model of running text, which can also say what each target costs it."""

    def target_log_probs(self, batch: Batch, carry: Carry | None = None) -> tuple[Tensor, Carry]:
        """ln p of every target, B x T in float64, 0 beyond a row's length; and what the next batch may go on from."""

    def carry_after(self, batch: Batch, carry: Carry | None = None) -> Carry:
        """What the next batch may go on from, alone; for networks much cheaper, as they predict nothing for it."""


class StateModel(TextModel, Protocol):
    """A TextModel that is a network, which predicts each symbol from a state that can be looked at."""

    def states_and_target_log_probs(self, batch: Batch, carry: Carry | None = None) -> tuple[Tensor, Tensor, Carry]:
        """``target_log_probs`` with the states that they were predicted from, B x T x width, in front."""


class Step(NamedTuple):
    """What one step of a Stepper gives for N rows."""

    log_probs_NV: Tensor
    """Made for this step: who asked for it may change it."""
    weights_NS: Tensor | None
    """Attention over the source positions, or None for models without attention."""
    state: Any


@runtime_checkable
class Growing(Protocol):
    """A model whose tensors are as long as what it learnt; a saved one says how long."""

    def allocate(self, shapes: Mapping[str, Size]) -> None:
        """Take the shapes of saved tensors, by name, for their numbers to be filled in."""


class Stepper(Protocol):
    """A model, one step at a time, for N rows; rows ``b*K .. b*K+K-1`` belong to sentence b of B = N/K.

    ``memory`` is per sentence and never copied by a beam; ``state`` is per row. Both are opaque to the search.
    """

    size: int
    """Number of symbols, the V of ``log_probs_NV``."""
    bos: int
    """The id that every hypothesis starts from (``</s>`` for models of running text)."""
    eos: int
    unk: int

    def start(self, batch: Batch) -> tuple[Any, Any]:
        """Memory and state for one row per sentence of the batch, before any symbol was read."""

    def advance(self, memory: Any, state: Any, ids_N: Tensor) -> Step:
        """Read one symbol a row and give the log-probabilities of the next; N is a multiple of memory's B."""

    def select(self, state: Any, rows_N: Tensor) -> Any:
        """The state of the given rows, in that order; rows may be repeated or left out."""

    def keep(self, memory: Any, sentences_B: Tensor) -> Any:
        """The memory of the given sentences, in that order."""


class TextStepper(Stepper, Protocol):
    """The Stepper of a language model: it has no memory, and can be asked what it makes of a place."""

    order: int
    """Symbols of the longest n-grams it knows; 0 where everything before a symbol counts."""

    def unconditional(self) -> Step:
        """What one row predicts without any context."""

    def matched(self, state: Any, ids_N: Tensor, read: int) -> int:
        """How many symbols the first of ``ids_N`` is looked up with, itself included; ``read`` are before it."""
