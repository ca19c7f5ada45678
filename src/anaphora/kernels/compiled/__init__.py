"""Packed GEMM, the pointwise steps of the commonest parts, the time loop around both, and searches, in C.

A pointwise step is one pass over a row where torch makes one for each operation; a product keeps every thread
busy, even where it has few rows.

The ``*.c`` files beside this one follow the numbering of the parts that call them; each has its ``*.py`` with the
arrays it takes. They are built when the package is installed on a machine with a C compiler, and nothing is missing
without one: then, in double precision, and on other devices, a part makes the same steps of torch operations.
"""

from anaphora.kernels.compiled.gemm import gemm, gemm_of_columns, has_gemm, pack_columns, pack_rows
from anaphora.kernels.compiled.library import Array, available, empty, has, suits, thread_count
from anaphora.kernels.compiled.loop import ADDS, has_loop, loop, run_once
from anaphora.kernels.compiled.softmax import log_softmax_rows, softmax_rows
from anaphora.kernels.compiled.topk import top_k

__all__ = [
    "ADDS",
    "Array",
    "available",
    "empty",
    "gemm",
    "gemm_of_columns",
    "has",
    "has_gemm",
    "has_loop",
    "log_softmax_rows",
    "loop",
    "pack_columns",
    "pack_rows",
    "run_once",
    "softmax_rows",
    "suits",
    "thread_count",
    "top_k",
]
