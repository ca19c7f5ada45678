"""Matrix products of single precision, the right one laid out in panels first: see ``panels.c``."""

from functools import cache
from typing import NamedTuple

from torch import Tensor

from anaphora.kernels.compiled.library import has, run

WIDTH = 16
"""Columns of a panel."""


class Panels(NamedTuple):
    """A matrix b (K x N), laid out as the right side of products."""

    numbers: Tensor
    K: int
    N: int


@cache
def has_products() -> bool:
    """Whether the library has them; the processor needs AVX2 and FMA to run them."""
    return has("product")


def panels_of_rows(b_NK: Tensor) -> Panels:
    """b from its columns, one after another."""
    N, K = b_NK.shape
    return _panels("panels_of_rows", b_NK, K, N)


def panels_of_columns(b_KN: Tensor) -> Panels:
    """b from its rows, one after another."""
    K, N = b_KN.shape
    return _panels("panels_of_columns", b_KN, K, N)


def product(a_XK: Tensor, b: Panels) -> Tensor:
    """a b, ... x N: each row with the same bits whatever stands beside it, and with any number of threads."""
    out = a_XK.new_empty(*a_XK.shape[:-1], b.N)
    run("product", a_XK.shape[:-1].numel(), b.N, b.K, a_XK.contiguous(), b.numbers, out)
    return out


def product_of_columns(a_KM: Tensor, b: Panels) -> Tensor:
    """a' b, M x N."""
    out = a_KM.new_empty(a_KM.shape[1], b.N)
    run("product_of_columns", a_KM.shape[1], b.N, b.K, a_KM.contiguous(), b.numbers, out)
    return out


def _panels(way: str, b: Tensor, K: int, N: int) -> Panels:
    numbers = b.new_empty(-(-N // WIDTH) * WIDTH * K)
    run(way, N, K, b.detach().contiguous(), numbers)
    return Panels(numbers, K, N)
