"""The matmul backends: what makes the matrix products of a network, chosen by what the processor has.

    torch      torch's own product; everywhere, and always in double precision
    gemm       fp32 through compiled/gemm.c, the weight packed for it; where the processor has AVX2
    bf16       operands rounded to bf16, sums in fp32, the result rounded to bf16 and widened again: by torch. Weights,
               memory cells, softmax and optimizer stay in fp32. Where the processor has no such instructions the same
               roundings are made around a product in fp32
    gemm-bf16  the same through compiled/gemm.c, the weight packed for it; where the processor has AMX, or AVX-512 with
               bf16

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

Precision = Literal["auto", "fp32", "bf16"]
Backend = Literal["torch", "gemm", "bf16", "gemm-bf16"]

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


class Prepared(Multiplication, Protocol):
    """A weight W (N x K) made ready for products and their gradients."""

    def back(self, dy_XN: Tensor) -> Tensor:
        """W' dy for every row."""

    def outer(self, dy_RN: Tensor, a_RK: Tensor) -> Tensor:
        """The gradient of W, sum dy a' over the rows."""


def backend_for(precision: Precision, device: str = "cpu", has: Callable[[str], bool] | None = None) -> Backend:
    """The backend of a precision; of processors on this one, or one that ``has`` some features."""
    has = has or _processor_has
    if precision == "bf16" or (precision == "auto" and device == "cpu" and has_bf16(has)):
        return "gemm-bf16" if device == "cpu" and has_bf16(has) and compiled.has_gemm("bf16") else "bf16"
    return "gemm" if device == "cpu" and has("avx2") and has("fma3") and compiled.has_gemm() else "torch"


def without_c(backend: Backend) -> Backend:
    """What computes the same without C."""
    plain: dict[Backend, Backend] = {"gemm": "torch", "gemm-bf16": "bf16"}
    return plain.get(backend, backend)


def for_training(backend: Backend, weight_NK: Tensor) -> Prepared:
    """The weight ready for one pass of training with its gradients."""
    return _ready(backend, weight_NK, functional.linear)


def for_inference(backend: Backend, weight_NK: Tensor) -> Multiplication:
    """The weight ready for products in which a row has the same bits in any batch."""
    return _ready(backend, weight_NK, steady_linear)


def steady_linear(a_XK: Tensor, weight_NK: Tensor) -> Tensor:
    """torch's product, padded with zeros to fixed numbers of rows and columns: a row has the same bits in any batch."""
    shape = a_XK.shape[:-1]
    columns, width = weight_NK.shape
    narrow = columns == 1 or (columns < _COLUMNS and width % _RUN != 0)
    wide_NK = functional.pad(weight_NK, (0, 0, 0, _COLUMNS - columns)) if narrow else weight_NK
    y = functional.linear(padded(a_XK.reshape(-1, width), 0), wide_NK)
    return y[: shape.numel(), :columns].contiguous().view(*shape, columns)


def padded(block: Tensor, dimension: int) -> Tensor:
    """The block with zeros after it, up to a multiple of ``ROWS`` along ``dimension``."""
    missing = -block.shape[dimension] % ROWS
    if not missing:
        return block
    zeros = block.new_zeros([missing if d == dimension else size for d, size in enumerate(block.shape)])
    return torch.cat([block, zeros], dimension)


def has_bf16(has: Callable[[str], bool] | None = None) -> bool:
    """Whether this processor, or one that ``has`` some features, has instructions for bf16."""
    has = has or _processor_has
    return has("avx512_bf16") or has("amx_bf16")


@cache
def _processor_has(feature: str) -> bool:
    capabilities: Callable[[], dict[str, bool]] = getattr(torch.cpu, "get_capabilities", dict)  # newer torch alone
    return bool(capabilities().get(feature, False))


_Product = Callable[[Tensor, Tensor], Tensor]
"""a W' from a and W."""


def _ready(backend: Backend, weight_NK: Tensor, product: _Product) -> Prepared:
    """``product``: torch's way, where the backend does not pack."""
    if weight_NK.dtype != torch.float32:
        return _Torch(weight_NK, product)
    precision: Literal["fp32", "bf16"] = "bf16" if backend in ("bf16", "gemm-bf16") else "fp32"
    if backend != without_c(backend) and compiled.suits(weight_NK) and compiled.has_gemm(precision):
        return PackedWeight(weight_NK, precision)
    return _Rounded(weight_NK, product) if precision == "bf16" else _Torch(weight_NK, product)


class _Torch:
    """torch's own products."""

    def __init__(self, weight_NK: Tensor, product: _Product) -> None:
        self._weight_NK, self._product = weight_NK.detach(), product

    def times(self, a_XK: Tensor) -> Tensor:
        return self._product(a_XK, self._weight_NK)

    def back(self, dy_XN: Tensor) -> Tensor:
        return dy_XN @ self._weight_NK

    def outer(self, dy_RN: Tensor, a_RK: Tensor) -> Tensor:
        return dy_RN.T @ a_RK


class PackedWeight:
    """All three by the packed GEMM in C."""

    def __init__(self, weight_NK: Tensor, precision: Literal["fp32", "bf16"]) -> None:
        """``weight_NK``: of single precision, on the processor."""
        self._weight_NK, self._precision = weight_NK.detach(), precision
        self.forward = compiled.pack_rows(self._weight_NK, precision)
        """The right side of a W'."""

    @cached_property
    def backward(self) -> compiled.Packed:
        """The right side of dy W."""
        return compiled.pack_columns(self._weight_NK, self._precision)

    def times(self, a_XK: Tensor) -> Tensor:
        """W a."""
        return compiled.gemm(a_XK, self.forward)

    def back(self, dy_XN: Tensor) -> Tensor:
        """W' dy."""
        return compiled.gemm(dy_XN, self.backward)

    def outer(self, dy_RN: Tensor, a_RK: Tensor) -> Tensor:
        """Sum dy a' over the rows."""
        return compiled.gemm_of_columns(dy_RN, compiled.pack_columns(a_RK, self._precision))


class _Rounded:
    """All three by torch, of operands in bf16."""

    def __init__(self, weight_NK: Tensor, product: _Product) -> None:
        self._weight_NK, self._product = _round(weight_NK.detach()), product

    def times(self, a_XK: Tensor) -> Tensor:
        a_RK = _round(a_XK).reshape(-1, a_XK.shape[-1])  # of three dimensions torch may make many products
        return _widen(self._product(a_RK, self._weight_NK)).view(*a_XK.shape[:-1], -1)

    def back(self, dy_XN: Tensor) -> Tensor:
        return _widen(_round(dy_XN) @ self._weight_NK)

    def outer(self, dy_RN: Tensor, a_RK: Tensor) -> Tensor:
        return _widen(_round(dy_RN).T @ _round(a_RK))


def _round(x: Tensor) -> Tensor:
    """To bf16; on a processor without the instructions for it, to the fp32 number of the same value."""
    rounded = x.to(torch.bfloat16)
    return rounded if x.device.type != "cpu" or has_bf16() else rounded.to(torch.float32)


def _widen(y: Tensor) -> Tensor:
    return y.to(torch.bfloat16).to(torch.float32)
