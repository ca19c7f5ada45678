"""The history of a beam: which row each row came from, and the hypotheses that ended at each step."""

from collections.abc import Sequence

import numpy as np

from anaphora.protocols import Array, BeamEnds
from anaphora.search.hypothesis import Hypothesis


class Trace:
    """Back-pointers and attention of every step, read backwards once at the end."""

    def __init__(self, attention: bool = True) -> None:
        """Without ``attention``, weights are not kept."""
        self._attention = attention
        self._weights: list[Array | None] = []
        self._rows: list[Array] = []
        self._ids: list[Array] = []
        self._ends: list[tuple[Array, ...]] = []

    def record(self, weights_NS: Array | None, ends: BeamEnds, rows_N: Array, ids_N: Array) -> None:
        """Add a step: attention, hypotheses that end, and for each row that stays its previous row and its token."""
        step = len(self._rows)
        kept_NS = weights_NS if self._attention else None
        self._weights.append(None if kept_NS is None else kept_NS.astype(np.float32, copy=False))
        self._rows.append(rows_N)
        self._ids.append(ids_N)
        if len(ends.ids_M):
            self._ends.append((*ends, np.full(len(ends.ids_M), step)))

    def hypotheses(self, memory_lengths: Sequence[int], size: int, eos: int) -> list[list[Hypothesis]]:
        """Return the ``size`` best hypotheses of every sentence, best first; of equal ones the one that ended first.

        ``memory_lengths`` has one for each sentence; the attention of its hypotheses has as many positions.
        """
        found: list[list[Hypothesis]] = [[] for _ in memory_lengths]
        if not found:
            return found
        sentences, rows, ids, scores, ranks, steps = map(np.concatenate, zip(*self._ends, strict=True))
        order = np.lexsort((-ranks, sentences))
        places = np.arange(len(order)) - np.searchsorted(sentences[order], sentences[order])
        best = order[places < size]
        ids_MT, weights_MTS = self._follow(steps[best], rows[best], ids[best])
        for m, end in enumerate(best):
            sentence, length = int(sentences[end]), int(steps[end]) + 1
            tokens, weights = ids_MT[m, :length].tolist(), None
            if weights_MTS is not None:
                weights = weights_MTS[m, :length, : memory_lengths[sentence]].copy()
            found[sentence].append(Hypothesis.of(tokens, eos, float(scores[end]), float(ranks[end]), weights))
        return found

    def _follow(self, steps_M: Array, rows_M: Array, ids_M: Array) -> tuple[Array, Array | None]:
        """Return tokens [M, T] and attention [M, T, S] of hypotheses that ended at the given steps, all at once."""
        longest = int(steps_M.max()) + 1
        ids_MT = np.zeros((len(steps_M), longest), dtype=np.int64)
        ids_MT[np.arange(len(steps_M)), steps_M] = ids_M
        weights_MTS = None
        if self._weights[0] is not None:
            weights_MTS = np.zeros((len(steps_M), longest, self._weights[0].shape[1]), dtype=np.float32)
        row_M = rows_M.copy()
        for step in reversed(range(longest)):
            inner_M = steps_M > step
            ids_MT[inner_M, step] = self._ids[step][row_M[inner_M]]
            row_M[inner_M] = self._rows[step][row_M[inner_M]]
            here_M, weights_NS = steps_M >= step, self._weights[step]
            if weights_MTS is not None and weights_NS is not None:
                weights_MTS[here_M, step] = weights_NS[row_M[here_M]]
        return ids_MT, weights_MTS
