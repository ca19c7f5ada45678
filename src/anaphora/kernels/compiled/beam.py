"""Beam search in C: all that a step does is one list of operations, and a call takes many steps; see ``beam.h``.

A step scores the words (``search_step.py``), finds the most probable ones of each row by log softmax, and chooses among
these continuations (``beam.c``). It gives the bits of single steps (``stepping.advance``) with the choice made in
Python.
"""

from array import array
from typing import Any

import numpy as np

from anaphora.kernels.compiled.library import Array, empty
from anaphora.kernels.compiled.loop import Place
from anaphora.kernels.lowering import Value
from anaphora.kernels.search_step import SearchedNetwork, SearchStep, of_rows
from anaphora.protocols import BeamEnds, BeamStep, CompiledRequest

MOST = 64
"""Maximum number of hypotheses of a sentence."""


class BeamDecoding:
    """The beam search of a batch: the struct of ``beam.h`` with all that it points to, and the steps."""

    def __init__(self, searched: SearchedNetwork, request: CompiledRequest) -> None:
        """Of at most ``MOST`` hypotheses a sentence; with candidates, no sentence has a prefix."""
        scores, size, prefixes = searched.scores, request.beam, request.prefixes
        columns = scores.candidates.ids_BC.shape[1] if scores.candidates else len(scores.weight_UH)
        each, norms = min(size, columns), np.array(request.norms, np.float64)
        sentences, longest = len(prefixes), max(map(len, prefixes))
        self._rows_N5 = np.zeros((sentences * size, 5), np.int64)
        self._rows_N5[:sentences, 0] = searched.bos
        self._rows_N5[:sentences, 1] = np.arange(sentences)
        self._rows_N5[:sentences, 3] = [prefix[0] if prefix else -1 for prefix in prefixes]
        values_NC, tokens_NC = empty(sentences * size, each), empty(sentences * size, each, dtype=np.int64)
        limits_B2 = np.array(list(zip(request.max_lengths, map(len, prefixes), strict=True)))
        prefixes_BT = np.array([[*own, *[0] * (longest - len(own))] for own in prefixes], np.int64)
        best_Bn, next_N5 = np.full((sentences, request.n), -np.inf), np.empty_like(self._rows_N5)
        log_lengths_BT: Array = np.ascontiguousarray(request.log_lengths_BT)
        ranked = norms, log_lengths_BT, best_Bn
        self._held = [limits_B2, prefixes_BT, *ranked, values_NC, tokens_NC, self._rows_N5, next_N5]
        pointers = (one.ctypes.data for one in self._held)
        numbers = size, each, request.n, searched.eos, 0, longest, log_lengths_BT.shape[1]
        self._struct_22 = np.array([*numbers, *pointers, sentences, 0, 0, 0, 0, 0])
        step = SearchStep(searched, self._rows_N5, size * sum(request.max_lengths))
        if request.attention and searched.attends:
            weights_NS, struct = step.written["weights"], of_rows(self._struct_22.reshape(1, -1), Place.FIXED)
            self._struct_22[4] = weights_NS.shape[1]
            step.after.run("keep_attention", (), (of_rows(weights_NS), struct))
        z, bias, ids = step.score_words(_of_sentences)
        banned = np.ascontiguousarray(scores.columns_of(request.banned_tokens))
        never = _of_sentences(banned) if scores.candidates else of_rows(banned, Place.FIXED)
        found = of_rows(values_NC), of_rows(tokens_NC)
        step.last.run("best_tokens", found, (z, bias, of_rows(self._rows_N5), ids, never))
        self._step, self._entries = step, step.entries()

    def take(self, steps: int) -> list[BeamStep]:
        """Take up to so many steps: fewer where all sentences are done."""
        size, _, _, _, width, *_ = self._struct_22.tolist()
        read = int(self._struct_22[16])  # rows of the next step
        most = min(len(self._rows_N5), read * size)
        counts_T2 = np.zeros((steps, 2), np.int64)
        stayed, ended = (empty(steps * most, 5, dtype=np.int64) for _ in range(2))
        weights: Any = empty(steps * most, width)
        logs = (stayed, counts_T2, ended, weights)
        self._struct_22[18:] = [one.ctypes.data for one in logs]
        places = array("q")  # what a step writes for the next one, and where that reads it
        for name, read_NW in self._step.state.items():
            places.extend((self._step.written[name].ctypes.data, read_NW.ctypes.data, read_NW[0].nbytes))
        rest = self._struct_22.ctypes.data, len(self._step.state), places.buffer_info()[0]
        taken = self._entries.search("search_beam", [steps], rest)
        found, first, gone, looked = list[BeamStep](), 0, 0, 0
        rows_N5: Any
        for more, ends in counts_T2[:taken].tolist():
            weights_NS = weights[looked : looked + read] if width else None
            rows_N5, ended_M5 = stayed[first : first + more], ended[gone : gone + ends]
            numbers_M2 = np.ascontiguousarray(ended_M5[:, 3:]).view(np.float64)
            found.append(
                BeamStep(weights_NS, BeamEnds(*ended_M5[:, :3].T, *numbers_M2.T), rows_N5[:, 2], rows_N5[:, 0])
            )
            first, gone, looked, read = first + more, gone + ends, looked + read, more
        return found


def _of_sentences(rows_BW: Array) -> Value:
    """Return the value with a row for each sentence."""
    return of_rows(np.ascontiguousarray(rows_BW), Place.OF_SENTENCE)
