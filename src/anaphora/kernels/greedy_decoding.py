"""Greedy search in C: all that a step does is one list of operations, and a call takes many steps.

A step scores the words (``search_step.py``), chooses the most probable one by log softmax, and lets the sentences leave
that have ended. It gives the bits of single steps (``scan.advance``) with the choice made in Python.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from anaphora.kernels.compiled.loop import Place, Written, decode
from anaphora.kernels.lowering import Value
from anaphora.kernels.search_step import Scores, Searched, SearchStep, rows_of, whole
from anaphora.protocols import CompiledRequest

_ENDLESS = 1 << 62


class GreedyDecoding:
    """The greedy search of a batch."""

    def __init__(self, searched: Searched, request: CompiledRequest) -> None:
        """With candidates, no sentence has a prefix."""
        scores, lengths = searched.scores, request.max_lengths
        sentences, longest, lines = len(lengths), max(lengths), _ENDLESS if request.lines is None else request.lines
        self._live = sentences
        self._written = Written.start(searched.bos, lengths, list(map(len, request.prefixes)), lines)
        self.tokens_BT = torch.zeros(sentences, longest, dtype=torch.int64)
        """Tokens written."""
        for row, prefix in ((row, prefix) for row, prefix in enumerate(request.prefixes) if prefix):
            self.tokens_BT[row, : len(prefix)] = torch.tensor(prefix)
        self.weights_BTS: Tensor | None = None
        """The attention of every step."""

        self._step = step = SearchStep(searched, self._written.rows_B8, sum(lengths))
        self._held = [*step.state.values(), *step.memory]
        if request.attention and searched.attends:
            weights_BS = step.written["weights"]
            self.weights_BTS = weights_BS.new_empty(sentences, longest, weights_BS.shape[1])
            kept = step.after.fixed(self.weights_BTS)
            step.after.run("keep_weights", (kept,), (rows_of(weights_BS), whole(self._written.rows_B8)))
        for name, rows_BW in step.state.items():
            step.after.copy(rows_of(rows_BW), rows_of(step.written[name]))
        self._choose(scores, torch.tensor([[searched.eos]]), request.banned_tokens)
        self._entries = step.entries()

    def _choose(self, scores: Scores, eos_11: Tensor, left_out: Sequence[int]) -> None:
        """Score the words, and choose one."""
        step, nothing = self._step, Value(0, torch.empty(0))
        columns = self._of_sentences(scores.columns_of(left_out).expand(self._live, -1))
        if scores.candidates:
            places, bias, ids = (self._of_sentences(one) for one in scores.candidates)
            z, bias = step.scores((places, bias)), nothing
        else:
            z, bias, ids = step.scores(), step.bias(), nothing
        end, tokens = (whole(one, Place.FIXED) for one in (eos_11, self.tokens_BT))
        step.last.run("choose_token", (whole(self._written.rows_B8), tokens), (z, bias, ids, columns, end))

    def _of_sentences(self, rows_BW: Tensor) -> Value:
        """Return the value with a row for each sentence, which moves with it."""
        self._held.append(rows_BW.contiguous())
        return (whole if rows_BW.dtype == torch.int64 else rows_of)(self._held[-1])

    def take(self, steps: int) -> int:
        """Take up to so many steps; returns how many sentences have not ended."""
        if self._live:
            self._live = decode(self._entries, steps, self._live, self._written, self._held)
        return self._live

    @property
    def lengths_B(self) -> Tensor:
        """Number of tokens of each sentence so far."""
        return self._written.lengths_B

    @property
    def scores_B(self) -> Tensor:
        """float64: ln p of the tokens of each sentence so far."""
        return self._written.scores_B
