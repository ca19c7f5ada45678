"""The greatest log-probabilities of rows: ties go to the lower id."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from anaphora.kernels.log_probs import top_k

KINDS = {"in C": np.float32, "in numpy": np.float64, "tensors": np.float32}


def made(values: Any, kind: str) -> Any:
    array = np.array(values, dtype=KINDS[kind])
    return torch.from_numpy(array) if kind == "tensors" else array


@given(
    st.integers(1, 12), st.integers(1, 300), st.integers(2, 1000), st.sampled_from(list(KINDS)), st.integers(0, 10**6)
)
def test_ties_always_go_to_the_lower_id(k: int, size: int, values_of: int, kind: str, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, values_of, (7, size))
    best, ids = top_k(made(values, kind), k)
    for row, row_best, row_ids in zip(values.tolist(), best.tolist(), ids.tolist(), strict=True):
        expected = sorted(range(size), key=lambda i: (-row[i], i))[:k]
        assert row_ids[:k] == expected
        assert row_best[:k] == [row[i] for i in expected]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_impossible_comes_last(kind: str) -> None:
    values, ids = top_k(made([[-np.inf, 0.0, -np.inf, -1.0, -np.inf]], kind), 3)
    assert ids[0, :2].tolist() == [1, 3]
    assert values[0].tolist() == [0.0, -1.0, -np.inf]
