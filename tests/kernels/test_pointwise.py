"""The logistic function: right at both ends, and blind to where a number stands."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from anaphora.kernels.pointwise import sigmoid_


def test_it_is_0_and_1_far_out() -> None:
    far = torch.tensor([-torch.inf, -1e4, 1e4, torch.inf])
    assert sigmoid_(far.clone()).tolist() == [0, 0, 1, 1]


@given(start=st.integers(0, 99), count=st.integers(1, 99))
def test_a_number_has_the_same_bits_wherever_it_stands(start: int, count: int) -> None:
    x = torch.randn(100, generator=torch.Generator().manual_seed(0))
    assert torch.equal(sigmoid_(x[start : start + count].clone()), sigmoid_(x.clone())[start : start + count])
