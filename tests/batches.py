"""Rows of ids as the batches that models and searches are handed."""

from collections.abc import Sequence

import torch

from anaphora.batch import Batch, Constraints, pad

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
        torch.tensor(example_ids or range(len(sources))),
        torch.zeros(len(sources), dtype=torch.bool),
        constraints=Constraints(
            candidates=None if candidates is None else pad(candidates),
            prefixes=None if prefixes is None else pad(prefixes, value=value),
        ),
    )
