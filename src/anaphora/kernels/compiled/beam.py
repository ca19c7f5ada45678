"""Beam search in C: what it writes, and its steps; see ``beam.h``."""

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from anaphora.kernels.compiled.library import Array, empty
from anaphora.kernels.compiled.loop import StepEntries
from anaphora.protocols import BeamEnds, BeamStep, CompiledRequest

MOST = 64
"""Maximum number of hypotheses of a sentence."""


class Beam:
    """The struct of ``beam.h`` with all that it points to."""

    def __init__(self, request: CompiledRequest, bos: int, eos: int, columns: int) -> None:
        """Before any token: all read ``bos``, and ``eos`` ends a hypothesis; ``columns`` of a row are scored."""
        size, each, results, prefixes = request.beam, min(request.beam, columns), request.n, request.prefixes
        norms = np.array(request.norms, np.float64)
        sentences = len(prefixes)
        rows, longest = sentences * size, max(map(len, prefixes))
        forced = [prefix[0] if prefix else -1 for prefix in prefixes]
        self.rows_N5 = np.zeros((rows, 5), np.int64)
        self.rows_N5[:sentences, 0] = bos
        self.rows_N5[:sentences, 1] = np.arange(sentences)
        self.rows_N5[:sentences, 3] = forced
        self.values_NC = empty(rows, each)
        self.tokens_NC = empty(rows, each, dtype=np.int64)
        limits_B2 = np.array(list(zip(request.max_lengths, map(len, prefixes), strict=True)))
        prefixes_BT = np.array([[*own, *[0] * (longest - len(own))] for own in prefixes], np.int64)
        best_Bn = np.full((sentences, results), -np.inf)
        next_N5 = np.empty_like(self.rows_N5)
        self._held = [limits_B2, prefixes_BT, norms, best_Bn]
        self._held += [self.values_NC, self.tokens_NC, self.rows_N5, next_N5]
        pointers = (one.ctypes.data for one in self._held)
        self.struct_20 = np.array([size, each, results, eos, 0, longest, *pointers, sentences, 0, 0, 0, 0, 0])
        """int64."""

    def keep_attention(self, positions: int) -> None:
        """Keep the attention of each row, which has as many positions; an operation has to write it."""
        self.struct_20[4] = positions

    @property
    def live(self) -> int:
        """Rows of the next step."""
        return int(self.struct_20[14])

    def take(self, operations: StepEntries, steps: int, carried: Sequence[tuple[Array, Array]]) -> list[BeamStep]:
        """Take up to so many steps: fewer where all sentences are done.

        ``carried`` are signals that go from one step to the next: what a step writes, and where the next one reads it.
        """
        size, _, _, _, width, *_ = self.struct_20.tolist()
        read, most = self.live, min(len(self.rows_N5), self.live * size)
        counts_T2 = np.zeros((steps, 2), np.int64)
        stayed, ended = (empty(steps * most, 5, dtype=np.int64) for _ in range(2))
        weights: Any = empty(steps * most, width)
        logs = (stayed, counts_T2, ended, weights)
        self.struct_20[16:] = [one.ctypes.data for one in logs]
        places = array("q")
        for written_NW, read_NW in carried:
            places.extend((written_NW.ctypes.data, read_NW.ctypes.data, read_NW[0].nbytes))
        rest = self.struct_20.ctypes.data, len(carried), places.buffer_info()[0]
        taken = operations.search("search_beam", [steps], rest)
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
