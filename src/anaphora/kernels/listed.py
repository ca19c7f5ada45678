"""The parts of a step as one list of operations: what single steps and whole greedy searches share."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import cast

import torch

from anaphora.kernels.lowering import Lowering, Native, Value
from anaphora.kernels.parts import Part
from anaphora.kernels.rows import Rows


def lowered(ops: Lowering, parts: Sequence[Part], given: Mapping[str, Value]) -> dict[str, Value]:
    """Note what parts with a native body do at one step; returns what was ``given`` and all that they write."""
    values = dict(given)
    for part in parts:
        written, _ = cast(Native, part).lower(ops, tuple(values[read] for read in part.reads))
        values.update(zip(part.writes, written, strict=True))
    return values


@lru_cache(maxsize=64)
def one_step(count: int) -> Rows:
    """A single step of so many rows."""
    return Rows(torch.ones(count, dtype=torch.int64), 1, torch.device("cpu"))
