"""The matmul backends over tensors, in training and without a gradient: see ``backends.py``.

A product outside of every loop is ``linear``:

    1  y  = W a
    1' da = W' dy,   dW = sum dy a'

In training all three are made by its backend, like those of the loop. Elsewhere a row has the same bits in any batch,
and the gradient is left to autograd.
"""

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn import functional

from anaphora.kernels.autograd_bridge import apply_derived
from anaphora.kernels.backends import Backend, has_bf16, packs, precision_of
from anaphora.kernels.compiled.gemm import PackedMatrix, PackedPrecision, gemm, gemm_of_columns, pack_columns, pack_rows
from anaphora.kernels.prepared import array_of, is_kept, packed
from anaphora.kernels.runtime import Runtime, current

ROWS = 16
"""torch's product of 16, 32, 48, .. rows gives each row the same bits in any batch; one of 1 to 7 does
not, nor, on processors with AMX, one of 8."""

_COLUMNS, _RUN = 12, 4
"""A product by torch less wide than this, over a width that is no multiple of that, does not either (measured with
MKL); nor does one of a single column (with oneDNN, as in bf16)."""


Multiplication: TypeAlias = "PackedWeight | TorchWeight | _RoundedWeight | _QuantizedWeight"
"""A weight W (N x K) made ready for products without a gradient: ``times``, W a for every row."""

PreparedWeight: TypeAlias = "PackedWeight | TorchWeight | _RoundedWeight"
"""A weight made ready for products and their gradients: ``back``, W' dy for every row, and ``outer``, the sum of dy a'
over the rows, added to ``onto_NK`` where that is given."""


def linear(a_XK: Tensor, weight_NK: Tensor, lengths_B: Tensor | None = None) -> Tensor:
    """y = W a, ... x N, for every row of ... x K.

    With ``lengths_B``, a is B x S x K and what lies past the end of a sentence is of no consequence: in training, zero.
    """
    wants_gradient = torch.is_grad_enabled() and (a_XK.requires_grad or weight_NK.requires_grad)
    runtime = current()
    if wants_gradient and runtime.training:
        return _train_product(a_XK, weight_NK, None if lengths_B is None else _rows_within(lengths_B, a_XK))
    return steady_linear(a_XK, weight_NK) if wants_gradient else prepare_for_inference(weight_NK, runtime).times(a_XK)


def _train_product(a_XK: Tensor, weight_NK: Tensor, rows_R: Tensor | None) -> Tensor:
    weight, shape = prepare(weight_NK), a_XK.shape[:-1]
    wants_a, wants_weight = a_XK.requires_grad, weight_NK.requires_grad

    def forward(recording: bool, a_XK: Tensor, weight_NK: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        a_RK = _take(a_XK, rows_R)
        return _scatter(weight.times(a_RK), rows_R, shape), (a_RK, weight_NK)  # 1

    def backward(saved: Sequence[Tensor], dy_XN: Tensor) -> tuple[Tensor | None, ...]:
        dy_RN = _take(dy_XN, rows_R)
        da_XK = _scatter(weight.back(dy_RN), rows_R, shape) if wants_a else None  # 1'
        return da_XK, weight.outer(dy_RN, saved[0]) if wants_weight else None

    return apply_derived(forward, backward, a_XK, weight_NK)


def _rows_within(lengths_B: Tensor, a_BSK: Tensor) -> Tensor:
    """Return the rows of the positions that sentences have."""
    places_S = torch.arange(a_BSK.shape[1], device=lengths_B.device)
    return (places_S < lengths_B.unsqueeze(1)).flatten().nonzero().squeeze(1).to(a_BSK.device)


def _take(block_XW: Tensor, rows_R: Tensor | None) -> Tensor:
    """Return some rows of a block, or all of them, without gaps."""
    flat = block_XW.flatten(0, -2)
    return flat.contiguous() if rows_R is None else flat.index_select(0, rows_R)


def _scatter(block_RW: Tensor, rows_R: Tensor | None, shape: torch.Size) -> Tensor:
    """Return the block of such a shape with these rows, and zeros elsewhere."""
    if rows_R is None:
        return block_RW.view(*shape, -1)
    flat = block_RW.new_zeros(shape.numel(), block_RW.shape[-1])
    return flat.index_copy_(0, rows_R, block_RW).view(*shape, -1)


def prepare(weight_NK: Tensor, runtime: Runtime | None = None) -> PreparedWeight:
    """Return a weight for products and their gradients in a runtime, the current one where none is given."""
    runtime = runtime or current()
    if runtime.training:
        return for_training(runtime.training_backend, weight_NK)
    return _EvaluationWeight(weight_NK, runtime)


def prepare_for_inference(weight_NK: Tensor, runtime: Runtime) -> Multiplication:
    """Return a weight for products without a gradient in a runtime; a parameter's is kept by its owner."""
    backend = runtime.inference_backend
    if packs(backend, weight_NK):
        return PackedWeight(weight_NK, packed(weight_NK, runtime))
    if not runtime.prepared or not is_kept(weight_NK):
        return for_inference(backend, weight_NK)
    with torch.inference_mode(False), torch.no_grad():  # it outlives this pass
        return runtime.prepared.keep(weight_NK, "product", backend, partial(for_inference, backend, weight_NK))


def for_training(backend: Backend, weight_NK: Tensor) -> PreparedWeight:
    """Return the weight ready for one pass of training with its gradients.

    Raises ValueError for a backend of int8, which training does not use.
    """
    precision = precision_of(backend)
    if precision == "int8":
        raise ValueError("Training multiplies in fp32 or bf16, not in int8.")
    if packs(backend, weight_NK):
        return PackedWeight(weight_NK, pack_rows(array_of(weight_NK), precision))
    return _plain(precision, weight_NK, functional.linear)


def for_inference(backend: Backend, weight_NK: Tensor) -> Multiplication:
    """Return the weight ready for products in which a row has the same bits in any batch."""
    precision = precision_of(backend)
    if packs(backend, weight_NK):
        return PackedWeight(weight_NK, pack_rows(array_of(weight_NK), precision))
    if precision == "int8" and weight_NK.dtype == torch.float32:
        return _QuantizedWeight(weight_NK)
    return _plain(precision, weight_NK, steady_linear)


def steady_linear(a_XK: Tensor, weight_NK: Tensor) -> Tensor:
    """torch's product, padded with zeros to fixed numbers of rows and columns: a row has the same bits in any batch."""
    shape = a_XK.shape[:-1]
    columns, width = weight_NK.shape
    narrow = columns == 1 or (columns < _COLUMNS and width % _RUN != 0)
    wide_NK = functional.pad(weight_NK, (0, 0, 0, _COLUMNS - columns)) if narrow else weight_NK
    y = functional.linear(pad_rows(a_XK.reshape(-1, width), 0), wide_NK)
    return y[: shape.numel(), :columns].contiguous().view(*shape, columns)


def pad_rows(block: Tensor, dimension: int) -> Tensor:
    """Return the block with zeros after it, up to a multiple of ``ROWS`` along ``dimension``."""
    missing = -block.shape[dimension] % ROWS
    if not missing:
        return block
    zeros = block.new_zeros([missing if d == dimension else size for d, size in enumerate(block.shape)])
    return torch.cat([block, zeros], dimension)


_Product = Callable[[Tensor, Tensor], Tensor]
"""a W' from a and W."""


def _plain(precision: PackedPrecision, weight_NK: Tensor, product: _Product) -> PreparedWeight:
    """``product``: torch's way."""
    rounds = precision == "bf16" and weight_NK.dtype == torch.float32
    return _RoundedWeight(weight_NK, product) if rounds else TorchWeight(weight_NK, product)


class TorchWeight:
    """torch's own products."""

    def __init__(self, weight_NK: Tensor, product: _Product) -> None:
        self._weight_NK, self._product = weight_NK.detach(), product

    def times(self, a_XK: Tensor) -> Tensor:
        return self._product(a_XK, self._weight_NK)

    def back(self, dy_XN: Tensor) -> Tensor:
        return dy_XN @ self._weight_NK

    def outer(self, dy_RN: Tensor, a_RK: Tensor, onto_NK: Tensor | None = None) -> Tensor:
        return dy_RN.T @ a_RK if onto_NK is None else onto_NK.addmm_(dy_RN.T, a_RK)


class PackedWeight:
    """All three by the packed GEMM in C; of int8 the first."""

    def __init__(self, weight_NK: Tensor, forward: PackedMatrix) -> None:
        """``weight_NK``: of single precision, on the processor; ``forward`` is the right side of a W'."""
        self._weight_NK, self.forward = weight_NK, forward

    def times(self, a_XK: Tensor) -> Tensor:
        """W a."""
        return torch.from_numpy(gemm(array_of(a_XK), self.forward))

    @cached_property
    def backward(self) -> PackedMatrix:
        """The right side of dy W."""
        return pack_columns(array_of(self._weight_NK), self.forward.precision)

    def back(self, dy_XN: Tensor) -> Tensor:
        """W' dy."""
        return torch.from_numpy(gemm(array_of(dy_XN), self.backward))

    def outer(self, dy_RN: Tensor, a_RK: Tensor, onto_NK: Tensor | None = None) -> Tensor:
        """Sum dy a' over the rows."""
        onto = None if onto_NK is None else array_of(onto_NK)
        a = pack_columns(array_of(a_RK), self.forward.precision)
        return torch.from_numpy(gemm_of_columns(array_of(dy_RN), a, onto))


class _RoundedWeight(TorchWeight):
    """All three by torch, of operands in bf16."""

    def __init__(self, weight_NK: Tensor, product: _Product) -> None:
        super().__init__(_round(weight_NK.detach()), product)

    def times(self, a_XK: Tensor) -> Tensor:
        a_RK = _round(a_XK).reshape(-1, a_XK.shape[-1])  # of three dimensions torch may make many products
        return _widen(self._product(a_RK, self._weight_NK)).view(*a_XK.shape[:-1], -1)

    def back(self, dy_XN: Tensor) -> Tensor:
        return _widen(_round(dy_XN) @ self._weight_NK)

    def outer(self, dy_RN: Tensor, a_RK: Tensor, onto_NK: Tensor | None = None) -> Tensor:
        found_NK = _widen(_round(dy_RN).T @ _round(a_RK))
        return found_NK if onto_NK is None else onto_NK.add_(found_NK)


class _QuantizedWeight:
    """The first by torch, of operands in int8: the bits of ``compiled/gemm.c``."""

    def __init__(self, weight_NK: Tensor) -> None:
        self._numbers_NK, scales_N1 = _quantize(weight_NK.detach())
        self._scales_N = scales_N1.squeeze(1)

    def times(self, a_XK: Tensor) -> Tensor:
        numbers_XK, scales_X1 = _quantize(a_XK)
        sums_XN = steady_linear(numbers_XK, self._numbers_NK)  # exact, in whatever order
        return sums_XN.to(torch.float32) * (self._scales_N * scales_X1)


def _quantize(x_RK: Tensor) -> tuple[Tensor, Tensor]:
    """Rows of whole numbers from -128 to 127, in double precision, and what each is multiplied with to be x again."""
    if not x_RK.shape[-1]:
        return x_RK.double(), x_RK.new_zeros(*x_RK.shape[:-1], 1)
    largest_R1 = x_RK.abs().amax(-1, keepdim=True)
    scales_R1 = torch.where(largest_R1.isfinite(), largest_R1 / 127, torch.nan)
    inverses_R1 = torch.where(scales_R1 >= torch.finfo(torch.float32).tiny, scales_R1.reciprocal(), 0.0)
    return (x_RK * inverses_R1).nan_to_num(-128.0).round().clamp(-128, 127).double(), scales_R1


def _round(x: Tensor) -> Tensor:
    """Round to bf16; on a processor without the instructions for it, to the fp32 number of the same value."""
    rounded = x.to(torch.bfloat16)
    return rounded if x.device.type != "cpu" or has_bf16() else rounded.to(torch.float32)


def _widen(y: Tensor) -> Tensor:
    return y.to(torch.bfloat16).to(torch.float32)


class _EvaluationWeight(TorchWeight):
    """A weight outside of training: the first product as in inference, the others by torch."""

    def __init__(self, weight_NK: Tensor, runtime: Runtime) -> None:
        super().__init__(weight_NK, functional.linear)
        self._forward = prepare_for_inference(weight_NK, runtime)

    def times(self, a_XK: Tensor) -> Tensor:
        return self._forward.times(a_XK)
