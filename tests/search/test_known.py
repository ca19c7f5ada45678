"""A search that may write no unknown word."""

from collections.abc import Callable
from typing import Any

import torch

from anaphora.protocols import Batch
from anaphora.search.beam import beam
from anaphora.search.known import Known

SOURCES = [[4, 7], [5], [3, 3, 9, 2], [8, 1, 1], [6, 6], [2]]


def test_the_unknown_word_is_never_written_and_what_had_none_stays(
    automaton: Callable[..., Any], batch: Callable[..., Batch]
) -> None:
    unknown = 0
    for seed in range(5):
        model = automaton(seed=seed)
        for size in (1, 4):
            usual, known = (
                [found[0] for found in beam(one, batch(SOURCES), size=size, max_length=12)]
                for one in (model, Known(model))
            )
            unknown += sum(model.unk in one.ids for one in usual)
            assert all(model.unk not in one.ids and one.score > -torch.inf for one in known)
            if size == 1:
                same = [(one, other) for one, other in zip(usual, known, strict=True) if model.unk not in one.ids]
                assert all((one.ids, one.score) == (other.ids, other.score) for one, other in same)
    assert unknown
