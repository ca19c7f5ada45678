import torch
from hypothesis import given
from hypothesis import strategies as st

from anaphora.search.selection import top_k


@given(st.integers(1, 12), st.integers(1, 300), st.integers(2, 1000), st.booleans(), st.integers(0, 10**6))
def test_ties_always_go_to_the_lower_id(k: int, size: int, values_of: int, by_torch: bool, seed: int) -> None:
    values = torch.randint(0, values_of, (7, size), generator=torch.Generator().manual_seed(seed))
    values = values.double() if by_torch else values.float()
    best, ids = top_k(values, k)
    for row, row_best, row_ids in zip(values.tolist(), best.tolist(), ids.tolist(), strict=True):
        expected = sorted(range(size), key=lambda i: (-row[i], i))[:k]
        assert row_ids[:k] == expected
        assert row_best[:k] == [row[i] for i in expected]


def test_what_is_impossible_comes_last() -> None:
    values, ids = top_k(torch.tensor([[-torch.inf, 0.0, -torch.inf, -1.0, -torch.inf]]), 3)
    assert ids[0, :2].tolist() == [1, 3]
    assert values[0].tolist() == [0.0, -1.0, -torch.inf]
