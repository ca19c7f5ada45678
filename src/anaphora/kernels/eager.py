"""Operations of a step on tensors, computed at once: blocks X x B x width, fused in C where the library can take them.

X is one step inside the loop, all steps when a part runs over the whole sequence at once, or the hypotheses of a
sentence in search. Positions are a further dimension: X x B x S x width. Open positions are a mask of the closed ones.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from anaphora.kernels.compiled.library import has
from anaphora.kernels.compiled.loop import run_once
from anaphora.kernels.matmul import Matmuls
from anaphora.kernels.normalisation import EPSILON
from anaphora.kernels.ops import BlockOps, Composition, Writes
from anaphora.kernels.prepared import array_of


class Eager(BlockOps):
    """Operations of one part: the matrix ``h`` of part ``cell0`` is ``cell0.h``."""

    library = torch

    def __init__(self, matmuls: Matmuls, part: str, sentences: int) -> None:
        """``part`` is the name in front; blocks have rows of the first ``sentences``."""
        self._matmuls, self.part, self._sentences = matmuls, part, sentences

    def product(self, name: str, a: Tensor) -> Tensor:
        return self._matmuls.times(self.full(name), a)

    def product_back(self, name: str, dy: Tensor) -> Tensor:
        return self._matmuls.times_back(self.full(name), dy)

    def mix(self, name: str, a: Tensor, open_: Tensor) -> Tensor:
        return self._matmuls.attend(self.full(name), a)

    def mix_back(self, name: str, dy: Tensor, open_: Tensor) -> Tensor:
        return self._matmuls.attend_back(self.full(name), dy)

    dot, dot_back = mix, mix_back

    def vector(self, name: str) -> Tensor:
        return self._matmuls.given(self.full(name))

    columns = vector

    def add_vector_gradient(self, name: str, dy: Tensor) -> None:
        whole = self.vector(name)
        d = dy[..., -whole.shape[-1] :].sum(tuple(range(dy.dim() - 1)))
        self.add_whole_gradient(name, d.view(whole.shape))

    def add_whole_gradient(self, name: str, d: Tensor) -> None:
        """Add to the gradient of a weight, or of a memory tensor for as many sentences as ``d`` has."""
        self._matmuls.add_gradient(self.full(name), d)

    def sentences(self, name: str) -> Tensor:
        return self._matmuls.sentences(self.full(name), self._sentences)

    def add_gradient(self, name: str, d: Tensor) -> None:
        self.add_whole_gradient(name, d[0] if len(d) == 1 else d.sum(0))

    def look_up(self, rows: Tensor, name: str) -> Tensor:
        return functional.embedding(rows.squeeze(-1).to(torch.int64), self.vector(name))

    def number(self, number: float) -> Tensor:
        return torch.tensor(number)

    def zeros(self, width: int) -> Tensor:
        return torch.zeros(())

    def or_zeros(self, gradient: Tensor | None, width: int) -> Tensor:
        assert gradient is not None
        return gradient

    def split(self, a: Tensor, *blocks: int) -> Sequence[Tensor]:
        width = a.shape[-1] // sum(blocks)
        return torch.split(a, [width * block for block in blocks], -1)

    def every_step(self, of_sentence: Tensor, like: Tensor) -> Tensor:
        return of_sentence.expand(len(like), -1, -1)

    def accumulate(self, total: Tensor, a: Tensor) -> Tensor:
        return total.add_(a)

    def add_vector(self, a: Tensor, name: str) -> Tensor:
        vector = self.vector(name)
        a[..., -vector.shape[-1] :] += vector
        return a

    def tanh_back(self, t: Tensor, dt: Tensor) -> Tensor:
        return torch.addcmul(dt, dt * t, t, value=-1)

    def sigmoid(self, a: Tensor) -> Tensor:
        return a.neg().exp_().add_(1).reciprocal_()  # see pointwise.sigmoid_

    def sigmoid_back(self, s: Tensor, ds: Tensor) -> Tensor:
        return torch.addcmul(s, s, s, value=-1).mul_(ds)

    def relu(self, a: Tensor) -> Tensor:
        return torch.relu(a)

    def relu_back(self, r: Tensor, dr: Tensor) -> Tensor:
        return dr * (r > 0)

    def maxout_back(self, t: Tensor, do: Tensor) -> Tensor:
        is_first = t[..., 0::2] >= t[..., 1::2]
        return torch.stack([do * is_first, do * ~is_first], -1).flatten(-2)

    def normal(self, a: Tensor, gain: str, bias: str = "") -> tuple[Tensor, list[Tensor]]:
        y, *rows = torch.native_layer_norm(
            a, a.shape[-1:], self.vector(gain), self.vector(bias) if bias else None, EPSILON
        )
        return y, [a, *rows]

    def normal_back(self, saved: list[Tensor], dy: Tensor, gain: str) -> Tensor:
        """Compute by torch's reading of what ``kernels/README.md`` derives, in one pass."""
        a, mean, inverse = saved
        da, dgain, _ = torch.ops.aten.native_layer_norm_backward(
            dy, a, a.shape[-1:], mean, inverse, self.vector(gain), None, [True, True, False]
        )
        self.add_whole_gradient(gain, dgain)
        found: Tensor = da
        return found

    def softmax(self, e: Tensor, open_: Tensor, scale: float) -> Tensor:
        return torch.softmax((e * scale).masked_fill(open_, -torch.inf), -1)

    def softmax_back(self, a: Tensor, da: Tensor, open_: Tensor, scale: float) -> Tensor:
        return a * (da - (a * da).sum(-1, keepdim=True)) * scale

    def fuse(
        self, name: str, composition: Composition[Tensor], inputs: Sequence[Tensor], writes: Writes[Tensor]
    ) -> Sequence[Tensor]:
        first = inputs[0]
        if not self._matmuls.native(first) or not has(name):
            return composition(self, *inputs)
        outputs = [one if isinstance(one, Tensor) else first.new_empty(*first.shape[:2], one) for one in writes]  # type: ignore[arg-type]
        reads = [one.contiguous() for one in inputs if not any(one is other for other in outputs)]
        run_once(name, list(map(array_of, outputs)), list(map(array_of, reads)))
        return outputs

    def capped_exp(self, a: Tensor, largest: float) -> tuple[Tensor, Tensor]:
        value = torch.exp(a.clamp(max=largest))
        return value, value.masked_fill(a > largest, 0)

    def log_sigmoid(self, a: Tensor) -> Tensor:
        return functional.logsigmoid(a)

    def log_sigmoid_back(self, f: Tensor, df: Tensor) -> Tensor:
        return df * -torch.expm1(f)

    def row_sum(self, a: Tensor) -> Tensor:
        return a.sum(-1, keepdim=True)

    def sum_positions(self, a: Tensor) -> Tensor:
        return a.sum(-2)

    def places(self) -> Tensor:
        closed_BS = self.sentences("closed")
        return torch.arange(1, closed_BS.shape[1] + 1, device=closed_BS.device)

    def only_open(self, a: Tensor, open_: Tensor) -> Tensor:
        return a.masked_fill(open_, 0)

    def median(self, weights: Tensor) -> Tensor:
        so_far = weights.cumsum(-1)
        return ((2 * so_far < so_far[..., -1:]).sum(-1, keepdim=True) + 1).to(weights)

    def neighbours(self, a: Tensor, radius: int) -> Tensor:
        return functional.pad(a, (radius, radius)).unfold(-1, 2 * radius + 1, 1)

    def neighbours_back(self, d: Tensor, radius: int) -> Tensor:
        positions = d.shape[-2]
        da = d.new_zeros(*d.shape[:-2], positions + 2 * radius)
        for place in range(2 * radius + 1):
            da[..., place : place + positions] += d[..., place]
        return da[..., radius : radius + positions]

    def cut_or_pad(self, a: Tensor, width: int) -> Tensor:
        return functional.pad(a, (0, width - a.shape[-1]))

    def column(self, name: str, clock: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        columns_BCW = self.sentences(name)
        place_XB = (clock.squeeze(-1).long() - 1).clamp(0, columns_BCW.shape[1] - 1)
        places = torch.arange(len(columns_BCW), device=place_XB.device).expand_as(place_XB), place_XB
        return columns_BCW[places], places

    def column_back(self, name: str, places: Any, dy: Tensor) -> None:
        self._matmuls.gradient(self.full(name), dy.shape[1]).index_put_(places, dy, accumulate=True)
