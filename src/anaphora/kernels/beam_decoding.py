"""Beam search in C: all that a step does is one list of operations, and a call takes many steps.

A step scores the words (``search_step.py``), finds the most probable ones of each row by log softmax, and chooses among
these continuations (``compiled/beam.c``). It gives the bits of single steps (``scan.advance``) with the choice made in
Python.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from anaphora.kernels.compiled.beam import Beam, Carried
from anaphora.kernels.compiled.loop import Place
from anaphora.kernels.lowering import Value
from anaphora.kernels.search_step import Scores, Searched, SearchStep, rows_of, whole
from anaphora.protocols import BeamEnds, BeamStep, CompiledRequest


class BeamDecoding:
    """The beam search of a batch."""

    def __init__(self, searched: Searched, request: CompiledRequest) -> None:
        """Of at most ``compiled.beam.MOST`` hypotheses a sentence; with candidates, no sentence has a prefix."""
        scores = searched.scores
        columns = scores.candidates.ids_BC.shape[1] if scores.candidates else len(scores.weight_UH)
        self._beam = beam = Beam(
            searched.bos,
            searched.eos,
            request.beam,
            min(request.beam, columns),
            request.n,
            request.max_lengths,
            request.prefixes,
            torch.tensor(request.norms, dtype=torch.float64),
        )
        self._step = step = SearchStep(searched, beam.rows_N5, request.beam * sum(request.max_lengths))
        if request.attention and searched.attends:
            weights_NS, struct = step.written["weights"], whole(beam.struct_20.view(1, -1), Place.FIXED)
            beam.keep_attention(weights_NS.shape[1])
            step.after.run("keep_attention", (), (rows_of(weights_NS), struct))
        self._choose(scores, request.banned_tokens)
        self._entries = step.entries()
        self._carried = [Carried(step.written[name], read_NW) for name, read_NW in step.state.items()]

    def _choose(self, scores: Scores, left_out: Sequence[int]) -> None:
        """Score the words, and find the most probable ones of each row."""
        beam, step, candidates, nothing = self._beam, self._step, scores.candidates, Value(0, torch.empty(0))
        never = scores.columns_of(left_out).contiguous()
        if candidates:
            places, bias, ids = (_of_sentences(one) for one in candidates)
            z, bias, columns = step.scores((places, bias)), nothing, _of_sentences(never)
        else:
            z, bias, ids, columns = step.scores(), step.bias(), nothing, whole(never, Place.FIXED)
        found = rows_of(beam.values_NC), whole(beam.tokens_NC)
        step.last.run("best_tokens", found, (z, bias, whole(beam.rows_N5), ids, columns))

    def take(self, steps: int) -> list[BeamStep]:
        """Take up to so many steps: fewer where all sentences are done."""
        taken = self._beam.take(self._entries, steps, self._carried)
        return [_step(*one) for one in taken]


def _step(weights_NS: Tensor | None, stayed_N5: Tensor, ended_M5: Tensor) -> BeamStep:
    (sentences_M, rows_M, ids_M), numbers_M2 = ended_M5[:, :3].T, ended_M5[:, 3:].contiguous().view(torch.float64)
    ends = BeamEnds(sentences_M, rows_M, ids_M, *numbers_M2.T)
    return BeamStep(weights_NS, ends, stayed_N5[:, 2], stayed_N5[:, 0])


def _of_sentences(rows_BW: Tensor) -> Value:
    """Return the value with a row for each sentence."""
    make = whole if rows_BW.dtype == torch.int64 else rows_of
    return make(rows_BW.contiguous(), Place.OF_SENTENCE)
