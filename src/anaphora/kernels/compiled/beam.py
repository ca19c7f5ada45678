"""Beam search in C: what it writes, and its steps; see ``beam.h``."""

from array import array
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, inf

from anaphora.kernels.compiled.library import call
from anaphora.kernels.compiled.loop import StepEntries

MOST = 64
"""Maximum number of hypotheses of a sentence."""


class Carried(NamedTuple):
    """A signal that a step carries."""

    written_NW: Tensor
    read_NW: Tensor
    """Place from which the next step reads it."""


class Taken(NamedTuple):
    """Results of one step."""

    weights_NS: Tensor | None
    """The attention of the rows that were read."""
    stayed_N5: Tensor
    """int64: the ``Hypothesis`` of each row of the next step: token, sentence, row of this step, .., total."""
    ended_M5: Tensor
    """int64: each ``Ended``: sentence, row of this step, token, total and rank (both float64)."""


class Beam:
    """The struct of ``beam.h`` with all that it points to."""

    def __init__(
        self,
        bos: int,
        eos: int,
        size: int,
        each: int,
        results: int,
        max_lengths: Sequence[int],
        prefixes: Sequence[Sequence[int]],
        norms: Tensor,
    ) -> None:
        """Before any token.

        Args:
            bos: what all read first.
            eos: what ends a hypothesis.
            size: hypotheses of a sentence, at most ``MOST``.
            each: continuations of a row that are looked at.
            results: results of a sentence.
            max_lengths: tokens of each sentence at most.
            prefixes: those that it begins with.
            norms: float64: by number of tokens from 1, what a total is divided by to be a rank.
        """
        sentences = len(max_lengths)
        rows, longest = sentences * size, max(map(len, prefixes))
        forced = [prefix[0] if prefix else -1 for prefix in prefixes]
        self.rows_N5 = torch.zeros(rows, 5, dtype=torch.int64)
        self.rows_N5[:sentences, 0] = bos
        self.rows_N5[:sentences, 1] = torch.arange(sentences)
        self.rows_N5[:sentences, 3] = torch.tensor(forced)
        self.values_NC = torch.empty(rows, each)
        self.tokens_NC = torch.empty(rows, each, dtype=torch.int64)
        limits_B2 = torch.tensor(list(zip(max_lengths, map(len, prefixes), strict=True)))
        prefixes_BT = torch.tensor([[*own, *[0] * (longest - len(own))] for own in prefixes], dtype=torch.int64)
        best_Bn = torch.full((sentences, results), -inf, dtype=torch.float64)
        next_N5 = torch.empty_like(self.rows_N5)
        self._held = [limits_B2, prefixes_BT, norms.contiguous(), best_Bn]
        self._held += [self.values_NC, self.tokens_NC, self.rows_N5, next_N5]
        pointers = (one.data_ptr() for one in self._held)
        self.struct_20 = torch.tensor([size, each, results, eos, 0, longest, *pointers, sentences, 0, 0, 0, 0, 0])
        """int64."""

    def keep_attention(self, positions: int) -> None:
        """Keep the attention of each row, which has as many positions; an operation has to write it."""
        self.struct_20[4] = positions

    @property
    def live(self) -> int:
        """Rows of the next step."""
        return int(self.struct_20[14])

    @torch.inference_mode()
    def take(self, operations: StepEntries, steps: int, carried: Sequence[Carried]) -> list[Taken]:
        """Take up to so many steps: fewer where all sentences are done; ``carried`` goes from one to the next."""
        size, _, _, _, width, *_ = self.struct_20.tolist()
        read, most = self.live, min(len(self.rows_N5), self.live * size)
        counts_T2 = torch.zeros(steps, 2, dtype=torch.int64)
        stayed, ended = (torch.empty(steps * most, 5, dtype=torch.int64) for _ in range(2))
        weights = torch.empty(steps * most, width)
        logs = (stayed, counts_T2, ended, weights)
        self.struct_20[16:] = torch.tensor([one.data_ptr() for one in logs])
        places = array("q")
        for written_NW, read_NW in carried:
            places.extend((written_NW.data_ptr(), read_NW.data_ptr(), read_NW[0].numel() * read_NW.element_size()))
        numbers, of_step = operations.arguments()
        of_carried = len(carried), places.buffer_info()[0]
        taken = call("search_beam", steps, *of_step, self.struct_20.data_ptr(), *of_carried, operations.threads)
        del numbers  # they were there until now
        found, first, gone, looked = list[Taken](), 0, 0, 0
        for more, ends in counts_T2[:taken].tolist():
            weights_NS = weights[looked : looked + read] if width else None
            found.append(Taken(weights_NS, stayed[first : first + more], ended[gone : gone + ends]))
            first, gone, looked, read = first + more, gone + ends, looked + read, more
        return found
