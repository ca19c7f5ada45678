"""Beam search in C: all that a step does is one list of operations, and a call takes many steps.

A step scores the words (``search_step.py``), finds the most probable ones of each row by log softmax, and chooses among
these continuations (``compiled/beam.c``). It gives the bits of single steps (``stepping.advance``) with the choice made
in Python.
"""

import numpy as np

from anaphora.kernels.compiled import Array
from anaphora.kernels.compiled.beam import Beam
from anaphora.kernels.compiled.loop import Place
from anaphora.kernels.lowering import Value
from anaphora.kernels.search_step import SearchedNetwork, SearchStep, of_rows
from anaphora.protocols import BeamStep, CompiledRequest


class BeamDecoding:
    """The beam search of a batch."""

    def __init__(self, searched: SearchedNetwork, request: CompiledRequest) -> None:
        """Of at most ``compiled.beam.MOST`` hypotheses a sentence; with candidates, no sentence has a prefix."""
        scores = searched.scores
        columns = scores.candidates.ids_BC.shape[1] if scores.candidates else len(scores.weight_UH)
        self._beam = beam = Beam(request, searched.bos, searched.eos, columns)
        step = SearchStep(searched, beam.rows_N5, request.beam * sum(request.max_lengths))
        if request.attention and searched.attends:
            weights_NS, struct = step.written["weights"], of_rows(beam.struct_20.reshape(1, -1), Place.FIXED)
            beam.keep_attention(weights_NS.shape[1])
            step.after.run("keep_attention", (), (of_rows(weights_NS), struct))
        z, bias, ids = step.score_words(_of_sentences)
        banned = np.ascontiguousarray(scores.columns_of(request.banned_tokens))
        never = _of_sentences(banned) if scores.candidates else of_rows(banned, Place.FIXED)
        found = of_rows(beam.values_NC), of_rows(beam.tokens_NC)
        step.last.run("best_tokens", found, (z, bias, of_rows(beam.rows_N5), ids, never))
        self._step, self._entries = step, step.entries()
        self._carried = [(step.written[name], read_NW) for name, read_NW in step.state.items()]

    def take(self, steps: int) -> list[BeamStep]:
        """Take up to so many steps: fewer where all sentences are done."""
        return self._beam.take(self._entries, steps, self._carried)


def _of_sentences(rows_BW: Array) -> Value:
    """Return the value with a row for each sentence."""
    return of_rows(np.ascontiguousarray(rows_BW), Place.OF_SENTENCE)
