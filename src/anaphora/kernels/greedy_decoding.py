"""Greedy search in C: all that a step does is one list of operations, and a call takes many steps.

A step scores the words (``search_step.py``), chooses the most probable one by log softmax, and lets the sentences leave
that have ended. It gives the bits of single steps (``stepping.advance``) with the choice made in Python.
"""

from array import array

import numpy as np

from anaphora.kernels.compiled.library import Array, empty
from anaphora.kernels.compiled.loop import Place
from anaphora.kernels.lowering import Value
from anaphora.kernels.search_step import SearchedNetwork, SearchStep, of_rows
from anaphora.protocols import CompiledRequest

_ENDLESS = 1 << 62


class GreedyDecoding:
    """The greedy search of a batch."""

    def __init__(self, searched: SearchedNetwork, request: CompiledRequest) -> None:
        """With candidates, no sentence has a prefix."""
        bos, prefixes, lengths = searched.bos, request.prefixes, request.max_lengths
        sentences, longest, lines = len(lengths), max(lengths), _ENDLESS if request.lines is None else request.lines
        self._live = sentences
        written = enumerate(zip(lengths, map(len, prefixes), strict=True))
        self._rows_B8 = np.array([(bos, b, length, lines, forced, 0, 0, 0) for b, (length, forced) in written])
        """int64: the struct of ``choose.h`` for each sentence, those that are left in front."""
        self.tokens_BT = np.zeros((sentences, longest), np.int64)
        """Tokens written."""
        for row, prefix in enumerate(prefixes):
            self.tokens_BT[row, : len(prefix)] = prefix
        self.weights_BTS: Array | None = None
        """The attention of every step."""

        step = SearchStep(searched, self._rows_B8, sum(lengths))
        self._held = [*step.state.values(), *step.memory]
        if request.attention and searched.attends:
            weights_BS = step.written["weights"]
            self.weights_BTS = empty(sentences, longest, weights_BS.shape[1])
            kept = step.after.constant(self.weights_BTS)
            step.after.run("keep_weights", (kept,), (of_rows(weights_BS), of_rows(self._rows_B8)))
        for name, rows_BW in step.state.items():
            step.after.copy(of_rows(rows_BW), of_rows(step.written[name]))
        z, bias, ids = step.score_words(self._of_sentences)
        banned = searched.scores.columns_of(request.banned_tokens)
        never = self._of_sentences(np.broadcast_to(banned, (sentences, banned.shape[1])))
        end, tokens = (of_rows(one, Place.FIXED) for one in (np.array([[searched.eos]]), self.tokens_BT))
        step.last.run("choose_token", (of_rows(self._rows_B8), tokens), (z, bias, ids, never, end))
        self._step, self._entries = step, step.entries()

    def _of_sentences(self, rows_BW: Array) -> Value:
        """Return the value with a row for each sentence, which moves with it."""
        self._held.append(np.array(rows_BW, order="C"))
        return of_rows(self._held[-1])

    def take(self, steps: int) -> int:
        """Take up to so many steps; returns how many sentences have not ended."""
        if self._live:
            held = {one.ctypes.data: one[0].nbytes for one in self._held if one.size}
            moved = array("q", [number for address_and_bytes in held.items() for number in address_and_bytes])
            rest = self._rows_B8.ctypes.data, len(held), moved.buffer_info()[0]
            self._live = self._entries.search("decode", [steps, self._live], rest)
        return self._live

    @property
    def lengths_B(self) -> Array:
        """Number of tokens of each sentence so far."""
        return self._in_order[:, 5]

    @property
    def scores_B(self) -> Array:
        """float64: ln p of the tokens of each sentence so far."""
        return self._in_order.view(np.float64)[:, 7]

    @property
    def _in_order(self) -> Array:
        return self._rows_B8[self._rows_B8[:, 1].argsort()]
