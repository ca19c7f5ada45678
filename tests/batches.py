"""Rows of ids as the batches that models and searches are handed."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from anaphora.batch import Batch, Constraints, Ids, pad

Rows = Sequence[Sequence[int]]


def pair_batch(
    sources: Rows,
    targets: Rows | None = None,
    example_ids: Sequence[int] = (),
    *,
    multiple: int = 16,
    value: int = 0,
    candidates: Rows | None = None,
    prefixes: Rows | None = None,
) -> Batch:
    """Sources whose width their length alone decides, with what is given of their targets and of a search."""
    return Batch(
        pad(sources, value=value, multiple=multiple),
        None if targets is None else pad(targets, value=value),
        np.array(example_ids or range(len(sources))),
        np.zeros(len(sources), dtype=np.bool_),
        constraints=Constraints(
            candidates=None if candidates is None else pad(candidates),
            prefixes=None if prefixes is None else pad(prefixes, value=value),
        ),
    )


def text_batch(ids: Any, continues: Any = False, lengths: Sequence[int] | None = None) -> Batch:
    """Windows of running text: what is read, and the same one place later."""
    ids_BL = np.asarray(ids)
    lengths_B = np.array(lengths or [ids_BL.shape[1] - 1] * len(ids_BL))
    carry_mask_B = np.array(np.broadcast_to(np.asarray(continues), len(ids_BL)))
    rows = Ids(ids_BL[:, :-1], lengths_B), Ids(ids_BL[:, 1:], lengths_B)
    return Batch(*rows, np.arange(len(ids_BL)), carry_mask_B)
