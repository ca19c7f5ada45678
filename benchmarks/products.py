"""Packed products beside those of oneDNN and torch, one thread, in processor time: ``python -m benchmarks.products``.

The weight is packed beforehand on every side that packs, and so is its conversion to bf16; that of the rows is timed.
"""

import time
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

from anaphora.kernels.compiled.gemm import gemm, has_gemm, pack_rows

SHAPES = ((64, 512, 512), (40, 256, 768), (20, 200, 800), (5, 512, 2048), (5, 256, 10016), (1, 256, 768))
"""Rows, inner and columns of products in a time loop, and in search."""
LARGE = ((512, 512, 512), (1500, 1024, 2048), (1024, 512, 8000))
"""Those of products outside of it."""
ROUNDS, WORK = 15, 1e8
"""How often a side is timed, and about how many operations each time has."""

Way = Callable[[], object]


def ways(rows: int, inner: int, columns: int) -> dict[str, Way]:
    """Each side's product of the same numbers."""
    source = torch.Generator().manual_seed(1)
    a, weight = (torch.randn(size, inner, generator=source) for size in (rows, columns))
    rounded, packs = weight.bfloat16(), torch.ops.mkldnn._reorder_linear_weight
    packed = {kind: packs(w, rows) for kind, w in (("fp32", weight), ("bf16", rounded))}

    def onednn(left: Tensor, right: Tensor) -> Tensor:
        y: Tensor = torch.ops.mkldnn._linear_pointwise(left, right, None, "none", [], "")
        return y

    found: dict[str, Way] = {
        "fp32 oneDNN": lambda: onednn(a, packed["fp32"]),
        "fp32 torch": lambda: functional.linear(a, weight),
        "bf16 oneDNN": lambda: onednn(a.bfloat16(), packed["bf16"]).float(),
        "bf16 torch": lambda: functional.linear(a.bfloat16(), rounded).float(),
    }
    own: dict[str, Way] = {
        f"{kind} own": partial(gemm, a.numpy(), pack_rows(weight.numpy(), kind))
        for kind in ("fp32", "bf16", "int8")
        if has_gemm(kind)
    }
    return own | found


def rates(sides: dict[str, Way], operations: float) -> dict[str, float]:
    """Billions of operations a second of each side, by its best round; the sides take turns."""
    best, repetitions = dict.fromkeys(sides, float("inf")), max(1, int(WORK / operations))
    for _ in range(ROUNDS):
        for name, side in sides.items():
            begin = time.process_time()
            for _ in range(repetitions):
                side()
            best[name] = min(best[name], (time.process_time() - begin) / repetitions)
    return {name: operations / seconds / 1e9 for name, seconds in best.items()}


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    names = list(ways(1, 1, 1))
    print(f"| rows x inner x columns | {' | '.join(names)} |\n| --- |{' --: |' * len(names)}")
    with torch.inference_mode():
        for rows, inner, columns in SHAPES + LARGE:
            found = rates(ways(rows, inner, columns), 2.0 * rows * inner * columns)
            shown = " | ".join(f"{found[name]:,.0f}" for name in names)
            print(f"| {rows:,} x {inner:,} x {columns:,} | {shown} |")


if __name__ == "__main__":
    main()
