"""Contracts between the packages: what each of them expects of a model, and what a model returns.

``Model`` is what training needs, ``Stepper`` what search needs. The values that are handed over are in ``batch.py``.
Training hands over tensors of torch; predictions, scores and searches hand over arrays of numpy. Nothing here computes,
and nothing here imports torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

    from anaphora.batch import Batch


Array = np.ndarray[Any, Any]
"""An array of numpy."""

DeviceArray = Any
"""An array of numpy; where a network is on a GPU, a tensor of torch there, until ``kernels.log_probs`` reads it."""


class VocabularyInfo(NamedTuple):
    """The size of a vocabulary and the ids of its special tokens: all that a model needs of it."""

    size: int
    """V, special tokens included."""
    pad: int
    unk: int
    bos: int
    eos: int

    @property
    def unwritten(self) -> tuple[int, int]:
        """The ids that no output has: ``<pad>`` and ``<s>``."""
        return self.pad, self.bos

    @property
    def features(self) -> bool:
        """True if features stand behind the ``</s>`` of a row, for the decoder."""
        return False


class FeaturedVocabularyInfo(VocabularyInfo):
    """The same of a vocabulary with features."""

    features = True


Carry = Mapping[str, Any]
"""State that a model takes from one batch to the next: detached tensors, or arrays of a model without torch; each has B
in front."""


class Batches(Protocol):
    """A training corpus as batches whose order is a pure function of (seed, epoch, position)."""

    def epoch(self, number: int) -> Sequence[Batch]:
        """Return the batches of one epoch (from 1), by position; looking one up costs no more than making it."""


@dataclass(frozen=True)
class Loss:
    """The summed negative log-likelihood in nats (a scalar tensor) and the number of predictions in it."""

    sum: Tensor
    count: int
    """``Batch.predictions`` of its batch."""
    penalty: Tensor | None = None
    """A scalar that training minimises beside the sum and does not report as loss; None for nothing."""

    @property
    def minimised(self) -> Tensor:
        """The objective of training before it is reduced."""
        return self.sum if self.penalty is None else self.sum + self.penalty


class Model(Protocol):
    """A network that can be trained."""

    def __call__(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        """Return the loss of a batch, and the state for the next batch (empty when nothing is carried)."""


@runtime_checkable
class Searchable(Protocol):
    """A model that can be searched: it predicts one token after the other."""

    def stepper(self) -> Stepper:
        """Return the same model one step at a time, for search and scoring; puts the model into evaluation mode."""


class SignalRead(NamedTuple):
    """A signal that a part reads."""

    signal: str
    previous: bool
    """True if its value is that of the step before."""


class PartDescription(NamedTuple):
    """One part of a step."""

    name: str
    kind: str
    """Name of its class, and what it was built with: "Unit (gru)"."""
    reads: tuple[SignalRead, ...]
    writes: tuple[str, ...]
    weights: Mapping[str, tuple[int, ...]]
    """Shapes of the matrices that it multiplies by and of the vectors that it adds or scales with, by name."""
    memory: tuple[str, ...]
    """Tensors of the sentence that it looks at."""
    loop: str
    """The loop that it is part of, and whether that runs in C, or why in Python; empty where it runs over all steps at
    once, since it does not wait for the step before."""

    @property
    def loops(self) -> bool:
        """True if it waits for the step before."""
        return bool(self.loop)


@runtime_checkable
class ProgramModel(Protocol):
    """A model whose steps are programs of parts."""

    def programs(self) -> Mapping[str, Sequence[PartDescription]]:
        """Return the parts of each step in order, by the name of what takes it; puts the model into evaluation mode."""


class TextModel(Searchable, Protocol):
    """A model of running text, which scores each target."""

    def target_log_probs(self, batch: Batch, carry: Carry | None = None) -> tuple[Array, Carry]:
        """ln p of every target, B x T in float64, 0 in the padding; and the state for the next batch."""

    def carry_after(self, batch: Batch, carry: Carry | None = None) -> Carry:
        """Return the state for the next batch alone; for networks much cheaper, as they predict nothing for it."""


class StateModel(TextModel, Protocol):
    """A TextModel that is a network: it predicts each token from a hidden state, and returns these states."""

    def states_and_target_log_probs(self, batch: Batch, carry: Carry | None = None) -> tuple[Array, Array, Carry]:
        """Return the hidden states of all predictions, B x T x width; then the results of ``target_log_probs``."""


@runtime_checkable
class Growing(Protocol):
    """A model whose tensors depend on the text it was fitted to; their shapes come from a saved model."""

    def allocate(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Take the shapes of saved tensors, by name, so that their values can be filled in."""


class SearchStart(NamedTuple):
    """Start of a search over B sentences: one row for each, before any token was read."""

    memory: Any
    state: Any
    memory_lengths_B: Array
    """int64: the positions of each sentence's memory, which attention weights refer to; 0 for models without memory."""


class Step(NamedTuple):
    """The result of one step of a Stepper for N rows."""

    log_probs_NV: DeviceArray
    """Log-probabilities made for this step, which the caller may change."""
    weights_NS: Array | None
    """Attention over the positions of the memory, or None for models without attention."""
    state: Any
    states_NH: DeviceArray | None = None
    """States that predictions are made from, for models that return them (``GivesStates``)."""
    candidates_BC: Array | None = None
    """Ids of narrow steps: the rising ids of each sentence that the columns of ``log_probs_NV`` stand for, V in the
    padding, where these are minus infinity. None where column i stands for id i."""


class Stepper(Protocol):
    """A model one step at a time, for N rows; rows ``b*K .. b*K+K-1`` belong to sentence b of B = N/K.

    ``memory`` is per sentence and never copied by a beam; ``state`` is per row. Both are opaque to the search. How many
    sentences there are, and on which device, a search takes from ``SearchStart.memory_lengths_B``.
    """

    size: int
    """Number of symbols, the V of ``log_probs_NV``."""
    bos: int
    """The id that every hypothesis starts from (``</s>`` for models of running text)."""
    eos: int
    unk: int

    def start(self, batch: Batch) -> SearchStart:
        """Read the inputs of the batch and its candidates."""

    def advance(self, memory: Any, state: Any, ids_N: Array) -> Step:
        """Read one token a row and predict the next; N is a multiple of memory's B."""

    def select(self, state: Any, rows_N: Array) -> Any:
        """Return the state of the given rows, in that order; rows may be repeated or left out."""

    def keep(self, memory: Any, sentences_B: Array) -> Any:
        """Return the memory of the given sentences, in that order."""


class CompiledRequest(NamedTuple):
    """A search of a batch as compiled code takes it."""

    prefixes: Sequence[Sequence[int]]
    """The tokens that each sentence begins with."""
    max_lengths: Sequence[int]
    """Number of tokens of each sentence at most, no less than its prefix has."""
    beam: int
    """Hypotheses that each sentence keeps at a step."""
    n: int
    """The best finished hypotheses that each sentence is searched for."""
    norms: Sequence[float]
    """Divisors by number of tokens from 1, which never fall: the rank of a hypothesis is its ln p divided by one."""
    log_lengths_BT: Array
    """Added to ln p before that, by sentence and number of tokens, at most 0; of no width where there is nothing."""
    lines: int | None = 1
    """Ends of greedy search: the number of the ``</s>`` after the prefix that ends a sentence; None where none does."""
    attention: bool = True
    """True where attention is wanted."""
    banned_tokens: tuple[int, ...] = ()
    """Ids that are never chosen."""


class BeamEnds(NamedTuple):
    """Hypotheses that end at one step of a beam search, side by side."""

    sentences_M: Array
    rows_M: Array
    """The row that was read last, in the order of its step."""
    ids_M: Array
    """The last token of the hypothesis."""
    scores_M: Array
    ranks_M: Array
    """The sort key of the hypotheses of a sentence, greatest first."""


class BeamStep(NamedTuple):
    """Result of one step of a beam search."""

    weights_NS: Array | None
    """The attention of the rows that were read; None where there is none, or it is not wanted."""
    ends: BeamEnds
    rows_N: Array
    """Row that each row that stays continues."""
    ids_N: Array
    """Token of each hypothesis."""


@runtime_checkable
class GivesStates(Protocol):
    """A Stepper of one network, whose steps give the states that they predict from."""

    def target_states(self, batch: Batch) -> Array:
        """Return the states that the targets of a batch are predicted from, T x B x H."""


@runtime_checkable
class GivesPosteriors(Protocol):
    """A Stepper that may tell where it looked once it knows the whole output."""

    def posteriors(self, batch: Batch) -> Array | None:
        """Return the weights of attention given all targets, B x T x S; None where they are those of the steps."""


class TextStepper(Stepper, Protocol):
    """The Stepper of a language model: it has no memory, and tells how much context its predictions depend on."""

    order: int
    """Length of the longest n-grams that predictions depend on; 0 where they depend on the whole history."""

    def unconditional(self) -> Step:
        """Return the prediction for one row without any context."""

    def match_length(self, state: Any, ids_N: Array, read: int) -> int:
        """Length of the n-gram, ending in the first of ``ids_N``, that the model uses; ``read`` tokens precede it."""
