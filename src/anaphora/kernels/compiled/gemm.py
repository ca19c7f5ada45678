"""Packed GEMM: products of single precision whose right matrix is laid out in panels first: see ``gemm.c``."""

from functools import cache
from typing import NamedTuple

from torch import Tensor

from anaphora.kernels.compiled.library import has, run

WIDTH = 16
"""Columns of a panel."""


class Packed(NamedTuple):
    """A matrix b (K x N), laid out as the right side of products."""

    numbers: Tensor
    K: int
    N: int


@cache
def has_gemm() -> bool:
    """Whether the library has the packed GEMM; the processor needs AVX2 and FMA to run it."""
    return has("gemm")


def pack_rows(b_NK: Tensor) -> Packed:
    """b from its columns, one after another."""
    N, K = b_NK.shape
    return _packed("pack_rows", b_NK, K, N)


def pack_columns(b_KN: Tensor) -> Packed:
    """b from its rows, one after another."""
    K, N = b_KN.shape
    return _packed("pack_columns", b_KN, K, N)


def gemm(a_XK: Tensor, b: Packed) -> Tensor:
    """a b, ... x N: each row with the same bits whatever stands beside it, and with any number of threads."""
    out = a_XK.new_empty(*a_XK.shape[:-1], b.N)
    run("gemm", a_XK.shape[:-1].numel(), b.N, b.K, a_XK.contiguous(), b.numbers, out)
    return out


def gemm_of_columns(a_KM: Tensor, b: Packed) -> Tensor:
    """a' b, M x N."""
    out = a_KM.new_empty(a_KM.shape[1], b.N)
    run("gemm_of_columns", a_KM.shape[1], b.N, b.K, a_KM.contiguous(), b.numbers, out)
    return out


def _packed(way: str, b: Tensor, K: int, N: int) -> Packed:
    numbers = b.new_empty(-(-N // WIDTH) * WIDTH * K)
    run(way, N, K, b.detach().contiguous(), numbers)
    return Packed(numbers, K, N)
