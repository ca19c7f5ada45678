"""Pointwise functions: right at both ends, and blind to where a number stands."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from anaphora.kernels.pointwise import sigmoid_, sigmoid_back_, tanh_back_


def test_it_is_the_logistic_function() -> None:
    x = torch.linspace(-30, 30, 101, dtype=torch.float64)
    assert_close(sigmoid_(x.clone()), torch.sigmoid(x), rtol=1e-14, atol=0)


def test_it_is_0_and_1_far_out() -> None:
    far = torch.tensor([-torch.inf, -1e4, 1e4, torch.inf])
    assert sigmoid_(far.clone()).tolist() == [0, 0, 1, 1]


@given(start=st.integers(0, 99), count=st.integers(1, 99))
def test_a_number_has_the_same_bits_wherever_it_stands(start: int, count: int) -> None:
    x = torch.randn(100, generator=torch.Generator().manual_seed(0))
    assert torch.equal(sigmoid_(x[start : start + count].clone()), sigmoid_(x.clone())[start : start + count])


def test_it_works_in_place_on_a_slice() -> None:
    block = torch.zeros(2, 4)
    sigmoid_(block[:, 1:3])
    assert block.tolist() == [[0, 0.5, 0.5, 0]] * 2


def test_the_gradients_are_those_of_torch() -> None:
    a = torch.linspace(-5, 5, 101, dtype=torch.float64, requires_grad=True)
    dy = torch.randn(101, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for function, back in ((torch.sigmoid, sigmoid_back_), (torch.tanh, tanh_back_)):
        y = function(a)
        (expected,) = torch.autograd.grad(y, a, dy)
        given = dy.clone()
        assert back(given, y.detach()) is given
        assert_close(given, expected, rtol=0, atol=1e-15)
