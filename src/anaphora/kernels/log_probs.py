"""Log-probabilities of words, as arrays or as tensors of a GPU (``protocols.DeviceArray``), and outputs that give them.

Besides these functions, a search reads and changes them by indexing alone, which is the same of both. So a GPU chooses
the best tokens on the device, and only these come to the CPU.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from anaphora.batch import Ids
from anaphora.errors import ConfigError, ShapeError
from anaphora.kernels.compiled.library import empty, run, suits
from anaphora.kernels.fixed_norm import FixedNorm
from anaphora.kernels.search_step import Scores, WordCandidates
from anaphora.protocols import Array, DeviceArray

ROWS = 8
"""Minimum number of states whose words are predicted at once."""

NUMBERS = 1 << 21
"""Scores of words that are made at once to predict targets (8 MiB): memory that is used again is near the processor."""

_WIDTH = 16
"""The product of candidates has a multiple of this many columns, since torch rounds narrow products differently; the
softmax has at least as many, since torch adds up shorter rows in another order."""

_FEW = 64
"""Continuations of a row that are found in one pass; of more, the pass takes longer than a selection."""


def to_host(values: DeviceArray) -> Array:
    """Return an array, the same one where it is one."""
    return values if isinstance(values, np.ndarray) else values.detach().cpu().numpy()


def top_k(values_NV: DeviceArray, k: int) -> tuple[Array, Array]:
    """The ``k`` greatest values of each row, greatest first, and their ids; of equal values the lower id comes first.

    Selections promise nothing about ties, so they are put in order here: those within the k by a stable sort, those
    across the border (rare) by sorting the whole row. Which of several -inf is taken is undefined.
    """
    rows, size = values_NV.shape
    is_array = isinstance(values_NV, np.ndarray)
    if is_array and suits(values_NV) and values_NV.flags.c_contiguous and 1 <= k <= min(_FEW, size):
        best_Nk, places_Nk = empty(rows, k), empty(rows, k, dtype=np.int64)
        run("top_k", rows, size, k, values_NV, best_Nk, places_Nk)
        return best_Nk, places_Nk
    if k >= size:
        return _sorted(values_NV, np.tile(np.arange(size), (rows, 1)))
    if is_array:
        ids = np.argpartition(values_NV, size - k - 1, axis=1)[:, size - k - 1 :]
    else:
        ids = to_host(values_NV.topk(k + 1, dim=1).indices)
    values, ids = _sorted(values_NV, np.sort(ids, axis=1))
    tied_X = np.flatnonzero((values[:, k - 1] == values[:, k]) & (values[:, k] > -np.inf))
    values, ids = values[:, :k], ids[:, :k]
    if len(tied_X):
        whole, whole_ids = _sorted(values_NV[tied_X], np.tile(np.arange(size), (len(tied_X), 1)))
        values[tied_X], ids[tied_X] = whole[:, :k], whole_ids[:, :k]
    return values, ids


def _sorted(values_NV: DeviceArray, ids_NC: Array) -> tuple[Array, Array]:
    """Return the values of rising ids, greatest first, and the ids in that order."""
    rows_N1 = np.arange(len(ids_NC))[:, None]
    values_NC = to_host(values_NV[rows_N1, ids_NC])
    order_NC = descending(values_NC)
    return values_NC[rows_N1, order_NC], ids_NC[rows_N1, order_NC]


def descending(values_NC: Array) -> Array:
    """Return the places of the values of each row, greatest first; of equal ones the lower place comes first."""
    return (-values_NC).argsort(axis=1, kind="stable")


class Attended(NamedTuple):
    """Source of some rows, for outputs that copy from it."""

    gates_N1: Any
    """The score of generating a word and not copying one: its probability is the sigmoid."""
    weights_NS: Any
    """Attention over the source, 0 past its end."""
    source_NS: Any
    """int64: the ids of the source, of each row or of each sentence; past its end any."""


def with_copies(log_probs_NV: Array, attended: Attended) -> Array:
    """Return ln of ``g p + (1 - g) m`` for every word, m the attention on it: see ``outputs/pointer_generator.py``."""
    gates_N1, weights_NS, source_BS = map(to_host, attended)
    source_NS = source_BS.repeat(len(gates_N1) // len(source_BS), 0)
    copied_NV = np.zeros_like(log_probs_NV)
    np.add.at(copied_NV, (np.arange(len(source_NS))[:, None], source_NS), weights_NS)  # in the order of the source
    with np.errstate(divide="ignore"):
        copied_NV = np.log(copied_NV) - np.logaddexp(0, gates_N1)
    found: Array = np.logaddexp(log_probs_NV - np.logaddexp(0, -gates_N1), copied_NV)
    return found


class OutputLayer(ABC):
    """Log-probabilities of words from states, arrays or tensors; each row has the same bits in any batch."""

    size: int
    """Number of words."""
    copies: ClassVar[bool] = False
    """True if words of the source may be copied: ``log_probs`` then needs what was ``Attended`` to."""

    @abstractmethod
    def log_probs(self, states_NH: Any) -> Any:
        """Natural log-probabilities of all words, N x V."""

    def picked_log_probs(self, states_RH: Any, rows_E: Array, ids_E: Array) -> DeviceArray:
        """Return ``log_probs_of`` of all states at once; of any type."""
        return self.log_probs(states_RH)[rows_E, ids_E]

    def log_probs_of(self, states_NH: Any, rows_E: Array, ids_E: Array) -> Array:
        """ln p of the words ``ids_E``, each predicted from a row of the states, E in float64; ``rows_E`` ascends."""
        found_E, rows = np.zeros(len(ids_E)), max(ROWS, NUMBERS // self.size)
        for start in range(0, len(states_NH), rows):
            some = slice(*np.searchsorted(rows_E, [start, start + rows]))
            picked_X = self.picked_log_probs(states_NH[start : start + rows], rows_E[some] - start, ids_E[some])
            found_E[some] = to_host(picked_X)
        return found_E

    def target_log_probs(self, states_TBH: Any, targets: Ids) -> Array:
        """ln p of every target, B x T in float64; 0 in the padding."""
        ids_TB, lengths_B = to_host(targets.ids_BT).T, to_host(targets.lengths_B)
        open_TB = np.arange(len(states_TBH))[:, None] < lengths_B
        found_TB, ids_N = np.zeros(open_TB.shape), ids_TB[open_TB]
        found_TB[open_TB] = self.log_probs_of(states_TBH[open_TB], np.arange(len(ids_N)), ids_N)
        return found_TB.T

    def shortlist(self, candidates: Ids) -> Any:
        """Return a softmax over the candidates of every sentence.

        Raises ConfigError for an output that is no softmax over words, which alone can leave some of them out.
        """
        raise ConfigError('Candidates need output.kind = "full" or "sampled": search without them.')

    def scores(self) -> Scores | None:
        """Return the layer as a search in C takes it; None for an output that is no softmax."""
        return None


@dataclass(frozen=True)
class CandidateLayer:
    """An output layer over the candidate words of the sentences of a batch, U of them in all."""

    weight_UH: Any
    """Rows of the whole layer."""
    candidates: WordCandidates
    """Candidates of each sentence: their places among all U, and their ids, which rise; V in the padding."""
    size: int
    """V."""
    norm: FixedNorm
    """Norm of states, which that of the words goes with."""

    def keep(self, sentences_B: Array) -> Self:
        """Return the candidates of some sentences."""
        return replace(self, candidates=WordCandidates(*(block[sentences_B] for block in self.candidates)))

    def scores(self) -> Scores:
        """Return the layer as a search in C takes it."""
        candidates = WordCandidates(*map(to_host, self.candidates))
        return Scores(self.weight_UH, candidates.bias_BC[:0, 0], candidates, self.norm)


def locate_candidates(candidates: Ids, bias_V: DeviceArray, size: int) -> tuple[Array, WordCandidates]:
    """Return the words that are candidates of any sentence, and those of each by their place among these.

    ``bias_V`` may be empty. Raises ShapeError where a sentence has an id twice, or one that is no word's.
    """
    given_BC, lengths_B, bias_V = map(to_host, (candidates.ids_BT, candidates.lengths_B, bias_V))
    inside_BC = np.arange(given_BC.shape[1]) < lengths_B[:, None]
    ids_BC = np.sort(np.where(inside_BC, given_BC, size), 1)
    twice = ((ids_BC[:, 1:] == ids_BC[:, :-1]) & (ids_BC[:, 1:] < size)).any()
    if twice or (given_BC[inside_BC] >= size).any() or (ids_BC < 0).any():
        raise ShapeError(f"the candidates of a sentence should be different ids from 0 to {size - 1}.")
    missing = max(0, min(_WIDTH, size) - ids_BC.shape[1])
    ids_BC = np.pad(ids_BC, ((0, 0), (0, missing)), constant_values=size)
    words_U = np.unique(ids_BC)
    words_U = words_U[words_U < size]
    places_BC = np.where(ids_BC < size, np.searchsorted(words_U, ids_BC), 0)
    bias_W = np.append(bias_V if bias_V.size else np.zeros(size, bias_V.dtype), bias_V.dtype.type(-np.inf))
    return np.pad(words_U, (0, -len(words_U) % _WIDTH)), WordCandidates(places_BC, bias_W[ids_BC], ids_BC)
