"""In which arithmetic the matrix products of training are made, chosen by what the processor has.

    plain    torch's own product; everywhere, and always in double precision
    packed   fp32 through oneDNN, the weight laid out for it once a pass; where the processor has AVX-512
    panels   fp32 through compiled/panels.c, the weight laid out for it once a pass; where the processor has AVX2 alone
    mixed    where that was not built: packed where a product has few rows and a large weight, as in a time loop, else
             plain
    bf16     operands rounded to bf16, sums in fp32, the result rounded to bf16 and widened again. Weights, memory
             cells, softmax and optimizer stay in fp32. Where the processor has no such instructions the same roundings
             are made around a product in fp32

Only training rounds. Search and evaluation ask for no arithmetic and get ``product``: fp32 through oneDNN where the
processor has AVX-512, which is twice as fast there, else plain.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Literal, Protocol

import torch
from torch import Tensor
from torch.nn import functional

from anaphora.kernels import compiled

Precision = Literal["auto", "fp32", "bf16"]
Arithmetic = Literal["plain", "packed", "panels", "mixed", "bf16"]

FEW_ROWS, LARGE_WEIGHT = 128, 1 << 18
"""Up to how many rows, and from how many numbers, a product is packed in "mixed"."""

_current: ContextVar[Arithmetic | None] = ContextVar("arithmetic", default=None)


class Prepared(Protocol):
    """A weight W (N x K), made ready for many products."""

    def times(self, a_XK: Tensor) -> Tensor:
        """W a for every row."""

    def back(self, dy_XN: Tensor) -> Tensor:
        """W' dy for every row."""

    def outer(self, dy_RN: Tensor, a_RK: Tensor) -> Tensor:
        """The gradient of W, sum dy a' over the rows."""


@contextmanager
def products_in(arithmetic: Arithmetic) -> Iterator[None]:
    """Within it, products of single precision are made in this arithmetic."""
    token = _current.set(arithmetic)
    try:
        yield
    finally:
        _current.reset(token)


def arithmetic_for(precision: Precision, device: str = "cpu", has: Callable[[str], bool] | None = None) -> Arithmetic:
    """The arithmetic of a ``precision`` on a device; of processors on this one, or one that ``has`` some features."""
    if device != "cpu":
        return "bf16" if precision == "bf16" else "plain"
    has = has or _processor_has
    if precision == "bf16" or (precision == "auto" and (has("avx512_bf16") or has("amx_bf16"))):
        return "bf16"
    if has("avx512_f") and has_packing():
        return "packed"
    if has("avx2") and has("fma3") and compiled.has_products():
        return "panels"
    return "mixed" if has("avx2") and has_packing() else "plain"


def product(a_XK: Tensor, weight_NK: Tensor) -> Tensor:
    """W a for every row, outside of training and without a gradient."""
    if weight_NK.dtype == torch.float32 and weight_NK.device.type == "cpu" and arithmetic_for("fp32") == "packed":
        return _through_onednn(a_XK, weight_NK.contiguous())
    return functional.linear(a_XK, weight_NK)


def is_training() -> bool:
    """Whether this is within ``products_in``, even if it asks for plain products."""
    return _current.get() is not None


def prepare(weight_NK: Tensor, rows: int) -> Prepared:
    """The weight in the current arithmetic; ``rows``: about how many rows a product will have."""
    arithmetic = _current.get()
    if arithmetic is None:
        return _Exact(weight_NK)
    if arithmetic == "plain" or weight_NK.dtype != torch.float32:
        return _Plain(weight_NK)
    if arithmetic == "bf16":
        return _Rounded(weight_NK)
    if arithmetic == "packed":
        return _Packed(weight_NK, rows)
    if arithmetic == "panels":
        return _InPanels(weight_NK) if compiled.suits(weight_NK) else _Plain(weight_NK)
    suits = rows <= FEW_ROWS and weight_NK.numel() >= LARGE_WEIGHT
    return _PackedWeight(weight_NK, rows) if suits else _Plain(weight_NK)


@cache
def has_packing() -> bool:
    """Whether this build of torch has the two operations of oneDNN that packed products need (they are not public)."""
    try:
        weight_NK, a_RK = torch.eye(8), torch.ones(8, 8)
        return torch.equal(_Packed(weight_NK, 8).times(a_RK), a_RK)
    except (AttributeError, RuntimeError):
        return False


@cache
def _processor_has(feature: str) -> bool:
    capabilities: Callable[[], dict[str, bool]] = getattr(torch.cpu, "get_capabilities", dict)  # newer torch alone
    return bool(capabilities().get(feature, False))


class _Plain:
    def __init__(self, weight_NK: Tensor) -> None:
        self._weight_NK = weight_NK

    def times(self, a_XK: Tensor) -> Tensor:
        return functional.linear(a_XK, self._weight_NK)

    def back(self, dy_XN: Tensor) -> Tensor:
        return dy_XN @ self._weight_NK

    def outer(self, dy_RN: Tensor, a_RK: Tensor) -> Tensor:
        return dy_RN.T @ a_RK


class _Exact(_Plain):
    """What search and evaluation multiply by."""

    def times(self, a_XK: Tensor) -> Tensor:
        return product(a_XK, self._weight_NK)


class _PackedWeight(_Plain):
    """The two products with the weight packed, that over many rows plain."""

    def __init__(self, weight_NK: Tensor, rows: int) -> None:
        super().__init__(weight_NK.detach())
        self._rows = rows
        self._there = torch.ops.mkldnn._reorder_linear_weight(self._weight_NK, rows)
        self._back: Tensor | None = None

    def times(self, a_XK: Tensor) -> Tensor:
        return _through_onednn(a_XK, self._there)

    def back(self, dy_XN: Tensor) -> Tensor:
        if self._back is None:
            self._back = torch.ops.mkldnn._reorder_linear_weight(self._weight_NK.T.contiguous(), self._rows)
        return _through_onednn(dy_XN, self._back)


class _Packed(_PackedWeight):
    """All three through oneDNN."""

    def outer(self, dy_RN: Tensor, a_RK: Tensor) -> Tensor:
        return _through_onednn(dy_RN.T.contiguous(), a_RK.T.contiguous())


class _InPanels:
    def __init__(self, weight_NK: Tensor) -> None:
        self._weight_NK = weight_NK
        self._there = compiled.panels_of_rows(weight_NK)
        self._back: compiled.Panels | None = None

    def times(self, a_XK: Tensor) -> Tensor:
        return compiled.product(a_XK, self._there)

    def back(self, dy_XN: Tensor) -> Tensor:
        if self._back is None:
            self._back = compiled.panels_of_columns(self._weight_NK)
        return compiled.product(dy_XN, self._back)

    def outer(self, dy_RN: Tensor, a_RK: Tensor) -> Tensor:
        return compiled.product_of_columns(dy_RN, compiled.panels_of_columns(a_RK))


def _through_onednn(a_XK: Tensor, weight_NK: Tensor) -> Tensor:
    y: Tensor = torch.ops.mkldnn._linear_pointwise(a_XK.contiguous(), weight_NK, None, "none", [], "")
    return y


class _Rounded:
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
    return rounded if x.device.type != "cpu" or arithmetic_for("auto") == "bf16" else rounded.to(torch.float32)


def _widen(y: Tensor) -> Tensor:
    return y.to(torch.bfloat16).to(torch.float32)
