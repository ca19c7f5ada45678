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
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from anaphora.kernels.compiled.gemm import INT8_LONGEST, PackedPrecision, has_gemm
from anaphora.kernels.compiled.library import call, has, suits
from anaphora.kernels.compiled.library import obstacle as library_obstacle

if TYPE_CHECKING:
    from anaphora.kernels.prepared import Weight

Precision = Literal["auto", "fp32", "bf16"]
"""Precision of training."""
InferencePrecision = Literal["auto", "fp32", "bf16", "int8"]
Backend = Literal["torch", "gemm", "bf16", "gemm-bf16", "int8", "gemm-int8"]


def backend_for(
    precision: InferencePrecision, device: str = "cpu", has: Callable[[str], bool] | None = None
) -> Backend:
    """Return the backend of a precision; of processors on this one, or one that ``has`` some features."""
    has = has or _processor_has
    if precision == "int8":
        return "gemm-int8" if device == "cpu" and has_gemm("int8") else "int8"
    if precision == "bf16" or (precision == "auto" and device == "cpu" and has_bf16(has)):
        return "gemm-bf16" if device == "cpu" and has_bf16(has) and has_gemm("bf16") else "bf16"
    return "gemm" if device == "cpu" and has("avx2") and has("fma3") and has_gemm() else "torch"


def without_c(backend: Backend) -> Backend:
    """Return the backend that computes the same without C."""
    plain: dict[Backend, Backend] = {"gemm": "torch", "gemm-bf16": "bf16", "gemm-int8": "int8"}
    return plain.get(backend, backend)


def precision_of(backend: Backend) -> PackedPrecision:
    """Return the precision that a backend multiplies in."""
    return "bf16" if backend in ("bf16", "gemm-bf16") else "int8" if backend in ("int8", "gemm-int8") else "fp32"


def runs_in_c(backend: Backend) -> bool:
    """True if a backend is that of the packed GEMM, and it is there."""
    return backend != without_c(backend) and has_gemm(precision_of(backend))


def obstacle(backend: Backend) -> str:
    """Return why the library in C cannot compute in the precision of a backend, with a remedy; nothing if it can."""
    precision = precision_of(backend)
    if library_obstacle() or has_gemm(precision):
        return library_obstacle()
    if not has_gemm("int8"):
        return "multiplies on x86-64 processors alone"
    needed = "AVX2" if precision == "fp32" else "AVX-512 with bf16"
    return f"needs {needed} for {precision}, which this processor lacks: use int8"


def packs(backend: Backend, weight_NK: "Weight") -> bool:
    """True if products with a weight are made in C."""
    fits = precision_of(backend) != "int8" or weight_NK.shape[1] <= INT8_LONGEST
    return fits and runs_in_c(backend) and suits(weight_NK)


def has_bf16(has: Callable[[str], bool] | None = None) -> bool:
    """True if this processor, or one that ``has`` some features, has instructions for bf16."""
    has = has or _processor_has
    return has("avx512_bf16") or has("amx_bf16")


_INSTRUCTIONS = {"avx2": 1, "fma3": 1, "avx512_bf16": 4, "amx_bf16": 5}
"""Number of the first of the instructions in ``compiled/processor.h`` that has a feature."""


@cache
def _processor_has(feature: str) -> bool:
    if has("instructions"):
        return call("instructions") >= _INSTRUCTIONS[feature]
    if find_spec("torch") is None:
        return False
    import torch

    capabilities: Callable[[], dict[str, bool]] = getattr(torch.cpu, "get_capabilities", dict)  # newer torch alone
    return bool(capabilities().get(feature, False))
