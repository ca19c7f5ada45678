"""Greedy search in C: all that a step does is one list of operations, and a call takes many steps.

A step looks up the vector of the token before, runs the parts of the program, scores the words by log softmax(W o + b),
chooses the most probable one, and lets the sentences leave that have ended. It gives the bits of single steps
(``scan.advance``) with the choice made in Python.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from anaphora.kernels import compiled, native
from anaphora.kernels.compiled import Place
from anaphora.kernels.listed import Given, listed, one_step
from anaphora.kernels.lowering import Lowering, Value
from anaphora.kernels.matmul import Matmuls
from anaphora.kernels.parts import previous
from anaphora.kernels.program import Program
from anaphora.kernels.words import Words, reading

_OUTPUT = "output.weight"


class Scores(NamedTuple):
    """How a step scores words."""

    weight_UH: Tensor
    """W of the words that are scored."""
    bias_U: Tensor
    """b; of no elements for none, and where sentences have candidates."""
    candidates: "WordCandidates | None" = None
    """Those of each sentence; None for all words."""


class WordCandidates(NamedTuple):
    """The words that each sentence may be written with; all with B in front."""

    places_BC: Tensor
    """int64: which of the scored words each is."""
    bias_BC: Tensor
    """Minus infinity in the padding."""
    ids_BC: Tensor
    """int64; in the padding, anything."""


class Ends(NamedTuple):
    """Where the sentences of a search begin and end."""

    bos: int
    eos: int
    lines: int
    """The number of the ``</s>`` that ends a sentence."""
    max_lengths: Sequence[int]
    prefixes: Sequence[Sequence[int]]
    """What each sentence begins with; with candidates, nothing."""
    left_out: Sequence[int] = ()
    """Ids that are never chosen."""


class Decoding:
    """The greedy search of a batch; takes the state and the memory that it is given for its own."""

    def __init__(
        self,
        program: Program,
        weights: Mapping[str, Tensor],
        memory: Mapping[str, Tensor],
        first: Mapping[str, Tensor],
        words: Words,
        scores: Scores,
        ends: Ends,
        keeps_weights: bool = False,
    ) -> None:
        """One for which ``is_possible``.

        Args:
            program: the step; it reads ``x``, and words are scored from the first signal that it returns.
            weights: as for ``scan.advance``.
            memory: as for ``scan.advance``.
            first: B x width for each carried signal.
            words: those that are read first, a column of them.
            scores: how words are scored.
            ends: where sentences begin and end.
            keeps_weights: whether the signal ``weights`` is kept.
        """
        like = next(iter(first.values()))
        sentences, longest = len(like), max(ends.max_lengths)
        self._live = sentences
        self._written = compiled.Written.start(ends.bos, ends.max_lengths, list(map(len, ends.prefixes)), ends.lines)
        self.tokens_BT = torch.zeros(sentences, longest, dtype=torch.int64)
        """What was written."""
        for row, prefix in ((row, prefix) for row, prefix in enumerate(ends.prefixes) if prefix):
            self.tokens_BT[row, : len(prefix)] = torch.tensor(prefix)
        self.weights_BTS: Tensor | None = None
        """The attention of every step."""

        read = reading(program, weights, words, sum(ends.max_lengths))
        matmuls = Matmuls({**read.weights, _OUTPUT: scores.weight_UH}, memory, recording=False)
        width = read.x_XBW.shape[-1]
        given = {previous(name): Given(previous(name), rows_BW.shape[1]) for name, rows_BW in first.items()}
        (stage,) = native.stages_of_step(read.program)
        found = listed(stage, matmuls, one_step(sentences), like, given | {"x": Given("x", width)})
        over = found.over(matmuls, sentences)
        state = {name: rows_BW.clone(memory_format=torch.contiguous_format) for name, rows_BW in first.items()}
        self._held = [*state.values(), *over.held]
        blocks = {previous(name): rows_BW for name, rows_BW in state.items()}
        blocks |= {name: like.new_empty(sentences, width) for name, width in {"x": width, **found.written}.items()}
        step, self._room = over.filled(blocks)

        before, self._after = (Lowering(matmuls, one_step(sentences), like, keeps=False) for _ in range(2))
        written = _whole(self._written.rows_B8)
        _read(before, _rows(blocks["x"]), written, words if read.program is program else None)
        if keeps_weights:
            self.weights_BTS = like.new_empty(sentences, longest, found.written["weights"])
            kept = self._after.fixed(self.weights_BTS)
            self._after.run("keep_weights", (kept,), (_rows(blocks["weights"]), written))
        self._choose(_rows(blocks[program.returns[0]]), scores, ends, written)
        for name, rows_BW in state.items():
            self._after.copy(_rows(rows_BW), _rows(blocks[name]))
        self._blocks, self._before, self._listed = blocks, before, found
        self._entries = before.entries() + step + self._after.entries()
        self._is_large = found.is_large or self._after.is_large

    def _choose(self, o: Value, scores: Scores, ends: Ends, written: Value) -> None:
        """Score the words, and choose one."""
        ops, candidates, ids = self._after, scores.candidates, Value(0, torch.empty(0))
        z = ops.multiply(_OUTPUT, o, back=False)
        columns_BX = torch.tensor([list(ends.left_out)] * ops.sentences, dtype=torch.int64).view(ops.sentences, -1)
        if candidates:
            of_all, z = z, ops.scratch(candidates.places_BC.shape[1])
            places, bias, ids = (self._of_sentences(one) for one in candidates)
            ops.run("gather_columns", (z,), (of_all, places, bias))
            is_it_BXC = candidates.ids_BC[:, None] == columns_BX[:, :, None]
            columns_BX = torch.where(is_it_BXC.any(2), is_it_BXC.byte().argmax(2), -1)
        elif scores.bias_U.numel():
            ops.run("add_vector", (z,), (z, ops.fixed(scores.bias_U.detach().view(1, -1))))
        ops.run("log_softmax_step", (z,), ())
        if ends.left_out:
            ops.run("leave_out", (z,), (self._of_sentences(columns_BX),))
        end = _whole(torch.tensor([[ends.eos]]))
        ops.run("choose_token", (written, _whole(self.tokens_BT)), (z, ids, end))

    def _of_sentences(self, rows_BW: Tensor) -> Value:
        """What each sentence has for itself, and takes along."""
        self._held.append(rows_BW.contiguous())
        return _whole(self._held[-1]) if rows_BW.dtype == torch.int64 else _rows(self._held[-1])

    def take(self, steps: int) -> int:
        """Take up to so many steps; returns how many sentences have not ended."""
        if self._live:
            threads = torch.get_num_threads() if self._is_large else 1
            self._live = compiled.decode(self._entries, steps, self._live, self._written, self._held, threads)
        return self._live

    @property
    def lengths_B(self) -> Tensor:
        """Number of tokens of each sentence so far."""
        return self._written.lengths_B

    @property
    def scores_B(self) -> Tensor:
        """float64: ln p of the tokens of each sentence so far."""
        return self._written.scores_B


def is_possible(program: Program, weight_UH: Tensor) -> bool:
    """Whether a search can be made so: with parts that have native bodies, by the packed GEMM in C."""
    first, *others = native.stages_of_step(program)
    return not others and native.is_native(first) and Matmuls({}, {}, recording=False).loops_in_c(weight_UH)


def _read(ops: Lowering, x: Value, written: Value, words: Words | None) -> None:
    """Read the token before: its vector, or its number where a program looks words up itself."""
    ids = ops.scratch(1) if words else x
    ops.run("read_token", (ids,), (written,))
    if words:
        ops.run("look_up", (x,), (ids, ops.fixed(words.table_VD.detach()), ops.number(words.scale)))


def _whole(numbers_BW: Tensor) -> Value:
    """Rows of whole numbers of eight bytes each, as twice as many of four."""
    return Value(2 * numbers_BW.shape[1], numbers_BW, Place.FIXED)


def _rows(rows_BW: Tensor) -> Value:
    return Value(rows_BW.shape[1], rows_BW)
