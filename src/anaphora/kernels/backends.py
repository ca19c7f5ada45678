"""The matmul backends: what makes the matrix products of a network, chosen by what the processor has.

    torch      torch's own product; everywhere, and always in double precision
    gemm       fp32 through compiled/gemm.c, the weight packed for it; where the processor has AVX2
    bf16       operands rounded to bf16, sums in fp32, the result rounded to bf16 and widened again: by torch. Weights,
               memory cells, softmax and optimizer stay in fp32. Where the processor has no such instructions the same
               roundings are made around a product in fp32
    gemm-bf16  the same through compiled/gemm.c, the weight packed for it; where the processor has AMX, or AVX-512 with
               bf16
    int8       of inference alone: each row of the weight and each row that it is multiplied with is scaled so that its
               largest number becomes 127, and rounded; sums are exact and scaled back in fp32: by torch
    gemm-int8  the same bits through compiled/gemm.c, the weight packed for it; fast where the processor has AMX, or
               AVX-512 with VNNI

A row is scaled by its own largest number, and not by one measured before: it has the same bits in any batch, and a
model needs no text to be prepared with.

Training packs a weight once for each pass, search and evaluation once for each of its values (``prepared.py``). All of
them give a row of a product without a gradient the same bits in any batch.
"""

from collections.abc import Callable
from functools import cache, cached_property
from typing import Literal, Protocol

import torch
from torch import Tensor
from torch.nn import functional

from anaphora.kernels import compiled
from anaphora.kernels.compiled.gemm import INT8_LONGEST, PackedMatrix, PackedPrecision

Precision = Literal["auto", "fp32", "bf16"]
"""Of training."""
InferencePrecision = Literal["auto", "fp32", "bf16", "int8"]
Backend = Literal["torch", "gemm", "bf16", "gemm-bf16", "int8", "gemm-int8"]

ROWS = 16
"""torch's product of 16, 32, 48, .. rows gives each row the same bits in any batch; one of 1 to 7 does
not, nor, on processors with AMX, one of 8."""

_COLUMNS, _RUN = 12, 4
"""A product by torch less wide than this, over a width that is no multiple of that, does not either (measured with
MKL); nor does one of a single column (with oneDNN, as in bf16)."""


class Multiplication(Protocol):
    """A weight W (N x K) made ready for products without a gradient."""

    def times(self, a_XK: Tensor) -> Tensor:
        """W a for every row."""


class PreparedWeight(Multiplication, Protocol):
    """A weight W (N x K) made ready for products and their gradients."""

    def back(self, dy_XN: Tensor) -> Tensor:
        """W' dy for every row."""

    def outer(self, dy_RN: Tensor, a_RK: Tensor, onto_NK: Tensor | None = None) -> Tensor:
        """Return the gradient of W, sum dy a' over the rows; added to ``onto_NK`` where that is given."""


def backend_for(
    precision: InferencePrecision, device: str = "cpu", has: Callable[[str], bool] | None = None
) -> Backend:
    """Return the backend of a precision; of processors on this one, or one that ``has`` some features."""
    has = has or _processor_has
    if precision == "int8":
        return "gemm-int8" if device == "cpu" and compiled.has_gemm("int8") else "int8"
    if precision == "bf16" or (precision == "auto" and device == "cpu" and has_bf16(has)):
        return "gemm-bf16" if device == "cpu" and has_bf16(has) and compiled.has_gemm("bf16") else "bf16"
    return "gemm" if device == "cpu" and has("avx2") and has("fma3") and compiled.has_gemm() else "torch"


def without_c(backend: Backend) -> Backend:
    """Return the backend that computes the same without C."""
    plain: dict[Backend, Backend] = {"gemm": "torch", "gemm-bf16": "bf16", "gemm-int8": "int8"}
    return plain.get(backend, backend)


def precision_of(backend: Backend) -> PackedPrecision:
    """Return the precision that a backend multiplies in."""
    return "bf16" if backend in ("bf16", "gemm-bf16") else "int8" if backend in ("int8", "gemm-int8") else "fp32"


def runs_in_c(backend: Backend) -> bool:
    """True if a backend is that of the packed GEMM, and it is there."""
    return backend != without_c(backend) and compiled.has_gemm(precision_of(backend))


def for_training(backend: Backend, weight_NK: Tensor) -> PreparedWeight:
    """Return the weight ready for one pass of training with its gradients.

    Raises ValueError for a backend of int8, which training does not use.
    """
    precision = precision_of(backend)
    if precision == "int8":
        raise ValueError("Training multiplies in fp32 or bf16, not in int8.")
    if _packs(backend, weight_NK):
        return PackedWeight(weight_NK, precision)
    return _plain(precision, weight_NK, functional.linear)


def for_inference(backend: Backend, weight_NK: Tensor) -> Multiplication:
    """Return the weight ready for products in which a row has the same bits in any batch."""
    precision = precision_of(backend)
    if _packs(backend, weight_NK):
        return PackedForward(weight_NK, precision)
    if precision == "int8":
        return (
            _QuantizedWeight(weight_NK) if weight_NK.dtype == torch.float32 else TorchWeight(weight_NK, steady_linear)
        )
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


def has_bf16(has: Callable[[str], bool] | None = None) -> bool:
    """True if this processor, or one that ``has`` some features, has instructions for bf16."""
    has = has or _processor_has
    return has("avx512_bf16") or has("amx_bf16")


@cache
def _processor_has(feature: str) -> bool:
    capabilities: Callable[[], dict[str, bool]] = getattr(torch.cpu, "get_capabilities", dict)  # newer torch alone
    return bool(capabilities().get(feature, False))


_Product = Callable[[Tensor, Tensor], Tensor]
"""a W' from a and W."""


def _packs(backend: Backend, weight_NK: Tensor) -> bool:
    """True if products with a weight are made in C."""
    fits = precision_of(backend) != "int8" or weight_NK.shape[1] <= INT8_LONGEST
    return fits and runs_in_c(backend) and compiled.suits(weight_NK)


def _plain(precision: Literal["fp32", "bf16"], weight_NK: Tensor, product: _Product) -> PreparedWeight:
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


class PackedForward:
    """The product without a gradient by the packed GEMM in C."""

    def __init__(self, weight_NK: Tensor, precision: PackedPrecision) -> None:
        """``weight_NK``: of single precision, on the processor."""
        self.forward = compiled.pack_rows(weight_NK.detach(), precision)
        """The right side of a W'."""

    def times(self, a_XK: Tensor) -> Tensor:
        """W a."""
        return compiled.gemm(a_XK, self.forward)


class PackedWeight(PackedForward):
    """All three by the packed GEMM in C."""

    def __init__(self, weight_NK: Tensor, precision: Literal["fp32", "bf16"]) -> None:
        """``weight_NK``: of single precision, on the processor."""
        super().__init__(weight_NK, precision)
        self._weight_NK, self._precision = weight_NK.detach(), precision

    @cached_property
    def backward(self) -> PackedMatrix:
        """The right side of dy W."""
        return compiled.pack_columns(self._weight_NK, self._precision)

    def back(self, dy_XN: Tensor) -> Tensor:
        """W' dy."""
        return compiled.gemm(dy_XN, self.backward)

    def outer(self, dy_RN: Tensor, a_RK: Tensor, onto_NK: Tensor | None = None) -> Tensor:
        """Sum dy a' over the rows."""
        return compiled.gemm_of_columns(dy_RN, compiled.pack_columns(a_RK, self._precision), onto_NK)


class _RoundedWeight:
    """All three by torch, of operands in bf16."""

    def __init__(self, weight_NK: Tensor, product: _Product) -> None:
        self._weight_NK, self._product = _round(weight_NK.detach()), product

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
    """To bf16; on a processor without the instructions for it, to the fp32 number of the same value."""
    rounded = x.to(torch.bfloat16)
    return rounded if x.device.type != "cpu" or has_bf16() else rounded.to(torch.float32)


def _widen(y: Tensor) -> Tensor:
    return y.to(torch.bfloat16).to(torch.float32)
