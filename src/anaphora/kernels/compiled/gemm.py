"""Packed GEMM: products whose right matrix is laid out in panels first: see ``gemm.h``."""

from functools import cache
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from anaphora.kernels.compiled.library import call, has, run

PackedPrecision = Literal["fp32", "bf16"]
_NUMBERS: dict[PackedPrecision, int] = {"fp32": 0, "bf16": 1}
"""Of the precisions in ``gemm.h``."""


class Packed(NamedTuple):
    """A matrix b (K x N), laid out as the right side of products."""

    numbers: Tensor
    K: int
    N: int
    precision: PackedPrecision

    @property
    def description(self) -> Tensor:
        """The numbers of ``Packed`` in ``gemm.h``: they say where the panels lie, which must live as long."""
        return torch.tensor([_NUMBERS[self.precision], self.N, self.K, self.numbers.data_ptr()])


@cache
def has_gemm(precision: PackedPrecision = "fp32") -> bool:
    """Whether the library was built and this processor can multiply in a precision: AVX2, or AVX-512 with bf16."""
    return has("gemm") and bool(call("gemm_supports", _NUMBERS[precision]))


def pack_rows(b_NK: Tensor, precision: PackedPrecision = "fp32") -> Packed:
    """b from its columns, one after another."""
    N, K = b_NK.shape
    return _packed("pack_rows", b_NK, K, N, precision)


def pack_columns(b_KN: Tensor, precision: PackedPrecision = "fp32") -> Packed:
    """b from its rows, one after another."""
    K, N = b_KN.shape
    return _packed("pack_columns", b_KN, K, N, precision)


def gemm(a_XK: Tensor, b: Packed) -> Tensor:
    """a b, ... x N: each row with the same bits whatever stands beside it, and with any number of threads."""
    out = a_XK.new_empty(*a_XK.shape[:-1], b.N)
    run("gemm", *_sizes(a_XK.shape[:-1].numel(), b), a_XK.contiguous(), b.numbers, out)
    return out


def gemm_of_columns(a_KM: Tensor, b: Packed) -> Tensor:
    """a' b, M x N."""
    out = a_KM.new_empty(a_KM.shape[1], b.N)
    run("gemm_of_columns", *_sizes(a_KM.shape[1], b), a_KM.contiguous(), b.numbers, out)
    return out


def _sizes(M: int, b: Packed) -> tuple[int, ...]:
    return _NUMBERS[b.precision], M, b.N, b.K


def _packed(way: str, b: Tensor, K: int, N: int, precision: PackedPrecision) -> Packed:
    number = _NUMBERS[precision]
    numbers = torch.empty(call("packed_bytes", number, N, K) // 4)
    run(way, number, N, K, b.detach().contiguous(), numbers)
    return Packed(numbers, K, N, precision)
