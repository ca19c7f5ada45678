"""Matrix products, and the record that turns into their gradients; by which backend, the runtime says.

A part never multiplies by a matrix itself: it asks for ``matmul("h", a)`` and, going back, for
``matmul.back("h", dy)``. Both are small products inside the time loop. The gradient of the matrix is one large
product over all steps after the loop, made here from the operands that were kept.

Two kinds of matrix: a weight (N x K) is shared by all rows; a memory matrix (B x K x N) belongs to one sentence.
Operands are blocks X x B x K, where X is one step inside the loop, all steps when a part runs over the whole sequence
at once, or the hypotheses of a sentence in search.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping

import torch
from torch import Tensor
from torch.nn import functional

from anaphora.kernels.compiled.gemm import PackedMatrix
from anaphora.kernels.compiled.library import Array
from anaphora.kernels.matrices import Matrices
from anaphora.kernels.prepared import array_of
from anaphora.kernels.rows import Rows
from anaphora.kernels.tensor_backends import PackedWeight, PreparedWeight, linear, pad_rows, prepare


class Matmuls(Matrices):
    """The matrices of one pass over a program, what they were multiplied with, and the gradients that follow.

    They are made in the runtime of the forward pass, the backward pass too, wherever that runs. Without ``recording``
    nothing is kept, and the result of a row does not depend on its batch.
    """

    _weights: Mapping[str, Tensor]
    _memory: Mapping[str, Tensor]

    def __init__(self, weights: Mapping[str, Tensor], memory: Mapping[str, Tensor], recording: bool) -> None:
        """``weights``: N x K matrices and vectors; ``memory``: B x .. tensors; both by the name ``part.product``."""
        super().__init__(weights, memory, recording)
        self._prepared: dict[str, PreparedWeight] = {}
        self._operands: defaultdict[str, list[Tensor]] = defaultdict(list)
        self._doutputs: defaultdict[str, list[Tensor]] = defaultdict(list)
        self._recorded: defaultdict[str, list[tuple[Tensor, Tensor]]] = defaultdict(list)
        self._gradients: dict[str, Tensor] = {}

    def native(self, block: Tensor) -> bool:
        """True if the steps of a part run in C; ``block`` is one of its tensors."""
        return self._runtime.native(block)

    def sentences(self, name: str, rows: int) -> Tensor:
        """Return a memory tensor of the first ``rows`` sentences."""
        return self._memory[name][:rows]

    def given(self, name: str) -> Tensor:
        return self._weights[name] if name in self._weights else self._memory[name]

    def gradient(self, name: str, rows: int) -> Tensor:
        """Return the gradient of a vector, or of a memory tensor for its first ``rows`` sentences, to be added to."""
        if name not in self._gradients:
            self._gradients[name] = torch.zeros_like(self.given(name))
        return self._gradients[name][:rows]

    def add_gradient(self, name: str, gradient: Tensor) -> None:
        """Add to the gradient of a vector, or of a memory tensor for as many sentences as ``gradient`` has."""
        self.gradient(name, gradient.shape[0]).add_(gradient)

    def times(self, name: str, a_XBK: Tensor) -> Tensor:
        """y = W a for every row of the block."""
        if self._recording:
            self._operands[name].append(a_XBK)
            return self._ready(name).times(a_XBK)
        return linear(a_XBK, self._weights[name])

    def times_back(self, name: str, dy_XBN: Tensor) -> Tensor:
        """da = W' dy, and the record of dW = sum dy a'."""
        self._doutputs[name].append(dy_XBN)
        return self._ready(name).back(dy_XBN)

    def _ready(self, name: str) -> PreparedWeight:
        """Return the weight as this pass multiplies by it, prepared when it is first asked for."""
        if name not in self._prepared:
            self._prepared[name] = prepare(self._weights[name], self._runtime)
        return self._prepared[name]

    def packed_right_side(self, name: str, back: bool) -> PackedMatrix:
        if not self._recording:
            return super().packed_right_side(name, back)
        weight = self._ready(name)
        assert isinstance(weight, PackedWeight)
        return weight.backward if back else weight.forward

    def record(self, name: str, a_RK: Array, dy_RN: Array, rows: Rows) -> None:
        of_weight = name in self._weights
        a, dy = (torch.from_numpy(block if of_weight else rows.to_grid(block)) for block in (a_RK, dy_RN))
        self._recorded[name].append((a, dy))

    def add_row_sums(self, name: str, rows_RW: Array, by_column: bool = False) -> None:
        weight, d = self._weights[name], torch.from_numpy(rows_RW).sum(0)
        whole = d.view(-1, len(weight)).T.reshape(weight.shape) if by_column else d.view(weight.shape)
        self.add_gradient(name, whole)

    def memory_gradient(self, name: str, rows: int) -> Array:
        return array_of(self.gradient(name, rows))

    def attend(self, name: str, a_XBK: Tensor) -> Tensor:
        """y = a M_b for every row, with the memory matrix M_b (K x N) of the row's own sentence."""
        memory_BKN = self._memory[name][: a_XBK.shape[1]]
        if self._recording:
            self._operands[name].append(a_XBK)
            return torch.bmm(a_XBK.transpose(0, 1), memory_BKN).transpose(0, 1)
        a_BXK = pad_rows(a_XBK.transpose(0, 1), 1)
        return torch.bmm(a_BXK, memory_BKN).transpose(0, 1)[: a_XBK.shape[0]]

    def attend_back(self, name: str, dy_XBN: Tensor) -> Tensor:
        """da = dy M_b', and the record of dM_b = sum a' dy."""
        self._doutputs[name].append(dy_XBN)
        memory_BKN = self._memory[name][: dy_XBN.shape[1]]
        return torch.bmm(dy_XBN.transpose(0, 1), memory_BKN.transpose(1, 2)).transpose(0, 1)

    def gradients(self, needed: Collection[str] | None = None) -> dict[str, Tensor]:
        """Return the gradients of matrices, each one large product, and of vectors that took part, by name.

        Only matrices that are ``needed`` are multiplied out; None needs all.

        The record of the backward pass is used up; that of the way forward stays for another.
        """
        records = {name: (self._operands[name], backwards[::-1]) for name, backwards in self._doutputs.items()}
        records |= {name: ([a for a, _ in pairs], [dy for _, dy in pairs]) for name, pairs in self._recorded.items()}
        for name, (operands, doutputs) in records.items():
            if needed is not None and name not in needed:
                continue
            if name in self._weights:
                dy, a = _stack(doutputs), _stack(operands)
                self._gradients[name] = self._prepared[name].outer(dy, a)
            else:
                memory_BKN = self._memory[name]
                a_TBK, dy_TBN = (_steps(blocks, memory_BKN.shape[0]) for blocks in (operands, doutputs))
                self._gradients[name] = torch.bmm(a_TBK.permute(1, 2, 0), dy_TBN.transpose(0, 1))
        gradients, self._gradients = self._gradients, {}
        self._doutputs.clear()
        self._recorded.clear()
        return gradients


def _stack(blocks: list[Tensor]) -> Tensor:
    """Return all rows of all blocks, in order."""
    if len(blocks) == 1:
        return blocks[0].reshape(-1, blocks[0].shape[-1])
    return torch.cat([block.reshape(-1, block.shape[-1]) for block in blocks])


def _steps(blocks: list[Tensor], sentences: int) -> Tensor:
    """Return all steps of all blocks, with zeros for the sentences that had left."""
    if all(block.shape[1] == sentences for block in blocks):
        return torch.cat(blocks) if len(blocks) > 1 else blocks[0]
    return torch.cat([functional.pad(block, (0, 0, 0, sentences - block.shape[1])) for block in blocks])
