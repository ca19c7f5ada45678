"""Sentences folded and unfolded, both ways: the naive reading, and nothing but the sentence.

Their gradients are proven with those of other kernels (``test_single_kernels.py``).
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional
from torch.testing import assert_close

from anaphora.errors import ShapeError
from anaphora.kernels.convolution import convolution, ngrams, unfold_columns
from anaphora.kernels.gated_convolution import gated_convolution
from tests.kernels.naive import convolution as naive

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
OPENING = [*NAMES, *(name.replace("fold", "unfold").replace("close", "open") for name in NAMES)]


def opened(lengths_B: Tensor, weights: Sequence[Tensor]) -> tuple[dict[str, Tensor], Tensor]:
    """Kernels by name, and columns to unfold to: more than there are, as many, or fewer."""
    return dict(zip(OPENING, weights, strict=True)), (lengths_B * 5 + 3) % 11 + 1


def unfolding(
    x_SBD: Tensor, lengths_B: Tensor, kernels: dict[str, Tensor], wanted_B: Tensor, widest: int, folds: int
) -> Tensor:
    """Folded to n-grams, and unfolded to B x T x D, zero past the last column."""
    grams = ngrams(x_SBD, kernels, widest, folds, lengths_B, wanted_B)
    found_TBD = unfold_columns(grams.x_SBD, kernels, widest, grams.lengths_B, wanted_B)
    return functional.pad(found_TBD, (0, 0, 0, 0, 0, 30 - len(found_TBD))).transpose(0, 1)


def unfolding_slow(
    x_SBD: Tensor, lengths_B: Tensor, kernels: dict[str, Tensor], wanted_B: Tensor, widest: int, folds: int
) -> Tensor:
    columns = []
    for sentence, (length, target) in enumerate(zip(lengths_B.tolist(), wanted_B.tolist(), strict=True)):
        grams_DN = naive.ngrams(x_SBD[:length, sentence].T, kernels, widest, folds, target)
        found_TD = naive.unfold_columns(grams_DN, kernels, widest, target).T
        columns.append(functional.pad(found_TD, (0, 0, 0, 30 - target)))
    return torch.stack(columns)


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
    "unfolded": Folding(
        lambda x, lengths, *weights: unfolding(x, lengths, *opened(lengths, weights), WIDEST, 2),
        lambda x, lengths, *weights: unfolding_slow(x, lengths, *opened(lengths, weights), WIDEST, 2),
        lambda size: leaves_of(*((size, int(name[-1])) for name in OPENING)),
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


@settings(max_examples=20)
@given(lengths=st.lists(st.integers(1, 20), min_size=1, max_size=5))
def test_sentences_of_all_lengths_fold_to_their_naive_vectors(lengths: list[int]) -> None:
    for folding in (one for name, one in FOLDINGS.items() if name != "unfolded"):
        x_SBD, lengths_B = sentences(4, tuple(lengths))
        weights = folding.weights(4)
        assert_close(
            folding.fast(x_SBD, lengths_B, *weights), folding.slow(x_SBD, lengths_B, *weights), rtol=0, atol=1e-12
        )


@settings(max_examples=30)
@given(
    pairs=st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=5),
    widest=st.integers(2, 7),
    folds=st.integers(1, 4),
)
def test_sentences_unfold_to_translations_of_any_length(pairs: list[tuple[int, int]], widest: int, folds: int) -> None:
    (x_SBD, lengths_B), wanted_B = sentences(4, tuple(length for length, _ in pairs)), torch.tensor(pairs)[:, 1]
    kinds = ("fold", 2), ("close", 1), ("unfold", 2), ("open", 1)
    names = [f"{what}{width}" for what, least in kinds for width in range(least, widest + 1)]
    kernels = dict(zip(names, leaves_of(*((4, int(name[-1])) for name in names)), strict=True))
    options = (x_SBD, lengths_B, kernels, wanted_B, widest, folds)
    assert_close(unfolding(*options), unfolding_slow(*options), rtol=0, atol=1e-12)


@pytest.mark.parametrize("size", [20, 33])
def test_a_sentence_has_the_same_bits_alone_and_in_any_batch(folding: Folding, size: int) -> None:
    x_SBD, lengths_B = sentences(size)
    single, weights = x_SBD.detach().float(), [weight.detach().float() for weight in folding.weights(size)]
    together = folding.fast(single, lengths_B, *weights)
    for rows in ([0], [3], [4, 1], [5, 0, 2]):
        assert torch.equal(folding.fast(single[:, rows], lengths_B[rows], *weights), together[rows])


def test_what_comes_back_behind_the_last_column_goes_nowhere() -> None:
    x_SBD, lengths_B = sentences(7)
    kernels, wanted_B = opened(lengths_B, FOLDINGS["unfolded"].weights(7))
    columns_TBD = unfold_columns(x_SBD[:1], kernels, WIDEST, torch.ones_like(lengths_B), wanted_B)
    told, closed_TB = torch.ones_like(columns_TBD), torch.arange(len(columns_TBD)).unsqueeze(1) >= wanted_B
    clean = torch.autograd.grad(columns_TBD, x_SBD, told, retain_graph=True)
    spoilt = torch.autograd.grad(columns_TBD, x_SBD, told.masked_fill(closed_TB.unsqueeze(-1), 1e9))
    assert_close(spoilt, clean, rtol=0, atol=0)


def test_fewer_columns_than_there_are_cannot_be_unfolded() -> None:
    (x_SBD, lengths_B), weights = sentences(7), FOLDINGS["unfolded"].weights(7)
    with pytest.raises(ShapeError, match=r"cannot unfold \[3, 5\] columns to fewer, \[4, 2\]"):
        unfold_columns(x_SBD[:, :2], opened(lengths_B, weights)[0], WIDEST, torch.tensor([3, 5]), torch.tensor([4, 2]))


@pytest.mark.parametrize("lengths", [(0, 3), (3, 9)])
def test_lengths_outside_the_grid_are_refused(folding: Folding, lengths: tuple[int, ...]) -> None:
    x_SBD = torch.zeros(8, 2, 7, dtype=torch.float64)
    with pytest.raises(ShapeError, match="lengths should be between 1 and T=8"):
        folding.fast(x_SBD, torch.tensor(lengths), *folding.weights(7))
