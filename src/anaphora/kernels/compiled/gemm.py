"""Packed GEMM: products whose right matrix is laid out in panels first: see ``gemm.h``."""

import math
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

import numpy as np

from anaphora.errors import ShapeError
from anaphora.kernels.compiled.library import Array, call, empty, has, run

PackedPrecision = Literal["fp32", "bf16", "int8"]
_NUMBERS: dict[PackedPrecision, int] = {"fp32": 0, "bf16": 1, "int8": 2}
"""Numbers of the precisions in ``gemm.h``."""

INT8_LONGEST = 65536
"""The most terms of a sum of int8."""


@dataclass(frozen=True, eq=False)
class PackedMatrix:
    """A matrix b (K x N), laid out as the right side of products."""

    numbers: Array
    K: int
    N: int
    precision: PackedPrecision

    @cached_property
    def description(self) -> Array:
        """The numbers of ``PackedMatrix`` in ``gemm.h``: they say where the panels lie, which must live as long."""
        return np.array([_NUMBERS[self.precision], self.N, self.K, self.numbers.ctypes.data])


@cache
def has_gemm(precision: PackedPrecision = "fp32") -> bool:
    """True if the library was built and this processor can multiply in a precision.

    It needs AVX2 in fp32, AVX-512 with bf16 in bf16, and is fast in int8 with AVX-512 and VNNI or with AMX.
    """
    return has("gemm") and bool(call("gemm_supports", _NUMBERS[precision]))


def pack_rows(b_NK: Array, precision: PackedPrecision = "fp32") -> PackedMatrix:
    """b from its columns, one after another.

    In int8, each column and each row of the left side is scaled so that its largest number becomes 127. Raises
    ValueError where sums of int8 would have more terms than ``INT8_LONGEST``.
    """
    N, K = b_NK.shape
    if precision == "int8" and K > INT8_LONGEST:
        raise ValueError(f"A sum of int8 has at most {INT8_LONGEST} terms, not {K}: multiply in bf16.")
    return _pack("pack_rows", b_NK, K, N, precision)


def pack_columns(b_KN: Array, precision: PackedPrecision = "fp32") -> PackedMatrix:
    """b from its rows, one after another; not in int8, which training does not use."""
    K, N = b_KN.shape
    return _pack("pack_columns", b_KN, K, N, precision)


def gemm(a_XK: Array, b: PackedMatrix) -> Array:
    """a b, ... x N: each row with the same bits in any batch and with any number of threads.

    Raises ShapeError for rows that are not as long as b is high.
    """
    if a_XK.shape[-1] != b.K:
        raise ShapeError(f"A matrix of {b.K} x {b.N} multiplies rows of {b.K} numbers, not of {a_XK.shape[-1]}.")
    out = empty(*a_XK.shape[:-1], b.N)
    run("gemm", *_sizes(math.prod(a_XK.shape[:-1]), b), np.ascontiguousarray(a_XK, np.float32), b.numbers, out)
    return out


def gemm_of_columns(a_KM: Array, b: PackedMatrix, onto_MN: Array | None = None) -> Array:
    """a' b, M x N; added to ``onto_MN`` where that is given, in fp32 with the bits of one product of all rows.

    Raises ValueError where b is in int8, which training does not use.
    """
    if b.precision == "int8":
        raise ValueError("A product of columns is made in fp32 or bf16, not in int8.")
    out = empty(a_KM.shape[1], b.N) if onto_MN is None else onto_MN
    a_KM = np.ascontiguousarray(a_KM)
    run("gemm_of_columns", *_sizes(a_KM.shape[1], b), a_KM, b.numbers, out, int(onto_MN is not None))
    return out


def _sizes(M: int, b: PackedMatrix) -> tuple[int, ...]:
    return _NUMBERS[b.precision], M, b.N, b.K


def _pack(way: str, b: Array, K: int, N: int, precision: PackedPrecision) -> PackedMatrix:
    number = _NUMBERS[precision]
    numbers = empty(call("packed_bytes", number, N, K) // 4)
    run(way, number, N, K, np.ascontiguousarray(b, np.float32), numbers)
    return PackedMatrix(numbers, K, N, precision)
