"""The matmul backends: what makes the matrix products of a network, chosen by what the processor has.

    torch    torch's own product; everywhere, and always in double precision
    onednn   fp32 through oneDNN, the weight packed for it; where the processor has AVX-512
    gemm     fp32 through compiled/gemm.c, the weight packed for it; where the processor has AVX2 alone
    mixed    where that was not built: in training, onednn for products of few rows with a large weight, as in a time
             loop; else torch
    bf16     operands rounded to bf16, sums in fp32, the result rounded to bf16 and widened again. Weights, memory
             cells, softmax and optimizer stay in fp32. Where the processor has no such instructions the same roundings
             are made around a product in fp32

Training packs a weight once for each pass. Search and evaluation pack it once for each of its values (``prepared.py``);
they take onednn where the processor has AVX-512, where it is twice as fast as torch, else torch, and bf16 where they
are asked to.
"""

from collections.abc import Callable
from functools import cache, cached_property
from typing import Literal, Protocol

import torch
from torch import Tensor
from torch.nn import functional

from anaphora.kernels import compiled

Precision = Literal["auto", "fp32", "bf16"]
Backend = Literal["torch", "onednn", "gemm", "mixed", "bf16"]

FEW_ROWS, LARGE_WEIGHT = 128, 1 << 18
"""The most rows of a product, and the fewest numbers of its weight, that are packed by "mixed"."""

_PACKED_ROWS = 64
"""Rows that oneDNN packs a weight of inference for; a row has the same bits whatever this is."""


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
    """The backend of training in a precision; of processors on this one, or one that ``has`` some features."""
    has = has or _processor_has
    if _rounds(precision, device, has):
        return "bf16"
    if device != "cpu":
        return "torch"
    if has("avx512_f") and has_packing():
        return "onednn"
    if has("avx2") and has("fma3") and compiled.has_gemm():
        return "gemm"
    return "mixed" if has("avx2") and has_packing() else "torch"


def inference_backend_for(
    precision: Precision, device: str = "cpu", has: Callable[[str], bool] | None = None
) -> Backend:
    """The backend of search and evaluation in a precision; with ``has`` as above."""
    found = backend_for(precision, device, has)
    return found if found in ("onednn", "bf16") else "torch"


def for_training(backend: Backend, weight_NK: Tensor, rows: int) -> Prepared:
    """The weight ready for one pass of training with its gradients, for products of about so many ``rows``."""
    if backend == "torch" or weight_NK.dtype != torch.float32:
        return _Torch(weight_NK)
    if backend == "bf16":
        return _Rounded(weight_NK)
    if backend == "onednn":
        return _OneDnn(weight_NK, rows)
    if backend == "gemm":
        return PackedWeight(weight_NK) if compiled.suits(weight_NK) else _Torch(weight_NK)
    suits = rows <= FEW_ROWS and weight_NK.numel() >= LARGE_WEIGHT
    return _OneDnnWeight(weight_NK, rows) if suits else _Torch(weight_NK)


def for_inference(backend: Backend, weight_NK: Tensor, lasting: bool) -> Multiplication:
    """The weight ready for products of any number of rows; packed where it is ``lasting``, or has to be."""
    if weight_NK.dtype != torch.float32:
        return _Torch(weight_NK)
    if backend == "bf16":
        return _Rounded(weight_NK)
    if backend == "onednn" and weight_NK.is_cpu:
        return _OneDnnWeight(weight_NK, _PACKED_ROWS) if lasting else _Unpacked(weight_NK)
    if backend == "gemm" and compiled.suits(weight_NK):
        return PackedWeight(weight_NK)
    return _Torch(weight_NK)


@cache
def has_packing() -> bool:
    """Whether this build of torch has the two operations of oneDNN that packed products need (they are not public)."""
    try:
        weight_NK, a_RK = torch.eye(8), torch.ones(8, 8)
        return torch.equal(_OneDnn(weight_NK, 8).times(a_RK), a_RK)
    except (AttributeError, RuntimeError):
        return False


def _rounds(precision: Precision, device: str, has: Callable[[str], bool]) -> bool:
    if precision == "auto":
        return device == "cpu" and (has("avx512_bf16") or has("amx_bf16"))
    return precision == "bf16"


@cache
def _processor_has(feature: str) -> bool:
    capabilities: Callable[[], dict[str, bool]] = getattr(torch.cpu, "get_capabilities", dict)  # newer torch alone
    return bool(capabilities().get(feature, False))


class _Torch:
    """torch's own products."""

    def __init__(self, weight_NK: Tensor) -> None:
        self._weight_NK = weight_NK.detach()

    def times(self, a_XK: Tensor) -> Tensor:
        return functional.linear(a_XK, self._weight_NK)

    def back(self, dy_XN: Tensor) -> Tensor:
        return dy_XN @ self._weight_NK

    def outer(self, dy_RN: Tensor, a_RK: Tensor) -> Tensor:
        return dy_RN.T @ a_RK


class _Unpacked(_Torch):
    """The first product through oneDNN, with the bits of ``_OneDnnWeight``, of a weight that packing is not worth."""

    def __init__(self, weight_NK: Tensor) -> None:
        super().__init__(weight_NK.contiguous())

    def times(self, a_XK: Tensor) -> Tensor:
        return _through_onednn(a_XK, self._weight_NK)


class _OneDnnWeight(_Torch):
    """The two products with the weight through oneDNN, that over many rows by torch."""

    def __init__(self, weight_NK: Tensor, rows: int) -> None:
        super().__init__(weight_NK)
        self._rows = rows
        self._there = torch.ops.mkldnn._reorder_linear_weight(self._weight_NK, rows)
        self._back: Tensor | None = None

    def times(self, a_XK: Tensor) -> Tensor:
        return _through_onednn(a_XK, self._there)

    def back(self, dy_XN: Tensor) -> Tensor:
        if self._back is None:
            self._back = torch.ops.mkldnn._reorder_linear_weight(self._weight_NK.T.contiguous(), self._rows)
        return _through_onednn(dy_XN, self._back)


class _OneDnn(_OneDnnWeight):
    """All three through oneDNN."""

    def outer(self, dy_RN: Tensor, a_RK: Tensor) -> Tensor:
        return _through_onednn(dy_RN.T.contiguous(), a_RK.T.contiguous())


class PackedWeight:
    """All three by the packed GEMM in C."""

    def __init__(self, weight_NK: Tensor) -> None:
        """``weight_NK``: of single precision, on the processor."""
        self._weight_NK = weight_NK.detach()
        self.forward = compiled.pack_rows(self._weight_NK)
        """The right side of a W'."""

    @cached_property
    def backward(self) -> compiled.Packed:
        """The right side of dy W."""
        return compiled.pack_columns(self._weight_NK)

    def times(self, a_XK: Tensor) -> Tensor:
        """W a."""
        return compiled.gemm(a_XK, self.forward)

    def back(self, dy_XN: Tensor) -> Tensor:
        """W' dy."""
        return compiled.gemm(dy_XN, self.backward)

    def outer(self, dy_RN: Tensor, a_RK: Tensor) -> Tensor:
        """Sum dy a' over the rows."""
        return compiled.gemm_of_columns(dy_RN, compiled.pack_columns(a_RK))


def _through_onednn(a_XK: Tensor, weight_NK: Tensor) -> Tensor:
    y: Tensor = torch.ops.mkldnn._linear_pointwise(a_XK.contiguous(), weight_NK, None, "none", [], "")
    return y


class _Rounded:
    """All three of operands in bf16."""

    def __init__(self, weight_NK: Tensor) -> None:
        self._weight_NK = _round(weight_NK.detach())

    def times(self, a_XK: Tensor) -> Tensor:
        a_RK = _round(a_XK).reshape(-1, a_XK.shape[-1])  # of three dimensions torch may make many products
        return _widen(functional.linear(a_RK, self._weight_NK)).view(*a_XK.shape[:-1], -1)

    def back(self, dy_XN: Tensor) -> Tensor:
        return _widen(_round(dy_XN) @ self._weight_NK)

    def outer(self, dy_RN: Tensor, a_RK: Tensor) -> Tensor:
        return _widen(_round(dy_RN).T @ _round(a_RK))


def _round(x: Tensor) -> Tensor:
    """To bf16; on a processor without the instructions for it, to the fp32 number of the same value."""
    rounded = x.to(torch.bfloat16)
    return rounded if x.device.type != "cpu" or backend_for("auto") == "bf16" else rounded.to(torch.float32)


def _widen(y: Tensor) -> Tensor:
    return y.to(torch.bfloat16).to(torch.float32)
