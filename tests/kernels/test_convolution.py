"""Sentences folded to one vector, both ways: exact gradients, the naive reading, and nothing but the sentence."""

from collections.abc import Callable
from typing import NamedTuple

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from anaphora.errors import ShapeError
from anaphora.kernels.convolution import convolution
from anaphora.kernels.gated_convolution import gated_convolution
from anaphora.kernels.naive import convolution as naive

from .exactness import leaves_of

LENGTHS = (3, 6, 1, 2, 7, 5)
WIDEST = 3


class Folding(NamedTuple):
    """Both readings of a folding as functions of the sentences (S x B x width), the lengths and the weights."""

    fast: Callable[..., Tensor]
    slow: Callable[..., Tensor]
    weights: Callable[[int], list[Tensor]]


def gated_slow(h_SBH: Tensor, lengths_B: Tensor, weight_NH: Tensor, bias_C: Tensor) -> Tensor:
    size = h_SBH.shape[-1]
    matrices = dict(zip(("W_l", "W_r", "G_l", "G_r"), weight_NH.split([size, size, 3, 3]), strict=True))
    biases = dict(zip("bd", bias_C.split([size, 3]), strict=True)) if bias_C.numel() else {}
    return naive.gated_convolution(h_SBH, matrices | biases, lengths_B)


NAMES = [
    f"{what}{width}" for width in range(1, WIDEST + 1) for what in ("fold", "close") if (what, width) != ("fold", 1)
]
FOLDINGS = {
    "gated": Folding(
        lambda x, lengths, *weights: gated_convolution(x, *weights, lengths),
        gated_slow,
        lambda size: leaves_of((2 * size + 6, size), (size + 3,)),
    ),
    "gated-unbiased": Folding(
        lambda x, lengths, weight: gated_convolution(x, weight, weight.new_empty(0), lengths),
        lambda x, lengths, weight: gated_slow(x, lengths, weight, weight.new_empty(0)),
        lambda size: leaves_of((2 * size + 6, size)),
    ),
    "plain": Folding(
        lambda x, lengths, *weights: convolution(x, dict(zip(NAMES, weights, strict=True)), WIDEST, lengths),
        lambda x, lengths, *weights: naive.convolution(x, dict(zip(NAMES, weights, strict=True)), WIDEST, lengths),
        lambda size: leaves_of(*((size, int(name[-1])) for name in NAMES)),
    ),
}


@pytest.fixture(params=FOLDINGS)
def folding(request: pytest.FixtureRequest) -> Folding:
    return FOLDINGS[request.param]


def sentences(size: int, lengths: tuple[int, ...] = LENGTHS) -> tuple[Tensor, Tensor]:
    return leaves_of((max(lengths) + 1, len(lengths), size))[0], torch.tensor(lengths)


@settings(max_examples=20, deadline=None)
@given(lengths=st.lists(st.integers(1, 20), min_size=1, max_size=5))
def test_sentences_of_all_lengths_fold_to_their_naive_vectors(lengths: list[int]) -> None:
    for folding in FOLDINGS.values():
        x_SBD, lengths_B = sentences(4, tuple(lengths))
        weights = folding.weights(4)
        assert_close(
            folding.fast(x_SBD, lengths_B, *weights), folding.slow(x_SBD, lengths_B, *weights), rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("size", [20, 33])
def test_a_sentence_has_the_same_bits_alone_and_in_any_batch(folding: Folding, size: int) -> None:
    x_SBD, lengths_B = sentences(size)
    single, weights = x_SBD.detach().float(), [weight.detach().float() for weight in folding.weights(size)]
    together = folding.fast(single, lengths_B, *weights)
    for rows in ([0], [3], [4, 1], [5, 0, 2]):
        assert torch.equal(folding.fast(single[:, rows], lengths_B[rows], *weights), together[rows])


def test_a_sentence_of_one_position_is_left_as_it_is_by_the_gated_folding() -> None:
    x_SBD, lengths_B = sentences(7, (1, 1))
    weight_NH, bias_C = FOLDINGS["gated"].weights(7)
    assert torch.equal(gated_convolution(x_SBD, weight_NH, bias_C, lengths_B), x_SBD[0])


@pytest.mark.parametrize("lengths", [(0, 3), (3, 9)])
def test_lengths_outside_the_grid_are_refused(folding: Folding, lengths: tuple[int, ...]) -> None:
    x_SBD = torch.zeros(8, 2, 7, dtype=torch.float64)
    with pytest.raises(ShapeError, match="lengths should be between 1 and T=8"):
        folding.fast(x_SBD, torch.tensor(lengths), *folding.weights(7))
