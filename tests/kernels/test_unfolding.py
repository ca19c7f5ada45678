"""N-grams of a sentence and their unfolding: exact gradients, the naive reading, and nothing but the sentence."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from anaphora.errors import ShapeError
from anaphora.kernels.convolution import ngrams, unfolded
from anaphora.kernels.naive import convolution as naive

from .exactness import leaves_of

WIDEST, FOLDS = 3, 2
LENGTHS = (4, 9, 1, 2, 7, 12)
WANTED = (5, 4, 3, 1, 9, 9)


def names(widest: int) -> list[str]:
    """Of all kernels up to the widest."""
    kinds = (("fold", 2), ("close", 1), ("unfold", 2), ("open", 1))
    return [f"{what}{width}" for what, least in kinds for width in range(least, widest + 1)]


def leaves(size: int, lengths: tuple[int, ...] = LENGTHS, widest: int = WIDEST) -> list[Tensor]:
    """Sentences (S x B x D) and all kernels."""
    return leaves_of((max(lengths) + 1, len(lengths), size), *((size, int(name[-1])) for name in names(widest)))


def fast(
    x_SBD: Tensor,
    *kernels: Tensor,
    lengths: tuple[int, ...] = LENGTHS,
    wanted: tuple[int, ...] = WANTED,
    widest: int = WIDEST,
    folds: int = FOLDS,
) -> Tensor:
    """Folded to n-grams and unfolded from there, T x B x D."""
    named, wanted_B = dict(zip(names(widest), kernels, strict=True)), torch.tensor(wanted)
    grams = ngrams(x_SBD, named, widest, folds, torch.tensor(lengths), wanted_B)
    return unfolded(grams.x_SBD, named, widest, grams.lengths_B, wanted_B)


def slow(
    x_SBD: Tensor,
    *kernels: Tensor,
    lengths: tuple[int, ...] = LENGTHS,
    wanted: tuple[int, ...] = WANTED,
    widest: int = WIDEST,
    folds: int = FOLDS,
) -> Tensor:
    named, columns = dict(zip(names(widest), kernels, strict=True)), []
    for sentence, (length, target) in enumerate(zip(lengths, wanted, strict=True)):
        grams_DN = naive.ngrams(x_SBD[:length, sentence].T, named, widest, folds, target)
        columns.append(naive.unfolded(grams_DN, named, widest, target).T)
    return torch.nn.utils.rnn.pad_sequence(columns)


@settings(max_examples=60, deadline=None)
@given(
    pairs=st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=5),
    widest=st.integers(2, 7),
    folds=st.integers(1, 4),
)
def test_sentences_of_all_lengths_unfold_to_translations_of_all_lengths(
    pairs: list[tuple[int, int]], widest: int, folds: int
) -> None:
    lengths, wanted = (tuple(side) for side in zip(*pairs, strict=True))
    inputs, options = leaves(4, lengths, widest), {"lengths": lengths, "wanted": wanted, "widest": widest}
    columns = fast(*inputs, **options, folds=folds)  # type: ignore[arg-type]
    assert columns.shape == (max(wanted), len(wanted), 4)
    assert_close(columns, slow(*inputs, **options, folds=folds), rtol=0, atol=1e-12)  # type: ignore[arg-type]


def test_what_comes_back_behind_the_end_of_a_sentence_goes_nowhere() -> None:
    inputs = leaves(7)
    columns_TBD = fast(*inputs)
    told = torch.ones_like(columns_TBD)
    closed_TB = torch.arange(len(columns_TBD)).unsqueeze(1) >= torch.tensor(WANTED)
    clean = torch.autograd.grad(columns_TBD, inputs, told, retain_graph=True)
    spoilt = torch.autograd.grad(columns_TBD, inputs, told.masked_fill(closed_TB.unsqueeze(-1), 1e9))
    assert_close(spoilt, clean, rtol=0, atol=0)


@pytest.mark.parametrize("size", [20, 33])
def test_a_sentence_has_the_same_bits_alone_and_in_any_batch(size: int) -> None:
    x_SBD, *kernels = (leaf.detach().float() for leaf in leaves(size))
    together = fast(x_SBD, *kernels)
    for rows in ([0], [3], [4, 1], [5, 0, 2]):
        lengths, wanted = (tuple(side[row] for row in rows) for side in (LENGTHS, WANTED))
        some = fast(x_SBD[:, rows], *kernels, lengths=lengths, wanted=wanted)
        assert torch.equal(some, together[: max(wanted), rows])


def test_fewer_columns_than_there_are_cannot_be_unfolded() -> None:
    x_SBD, *kernels = leaves(7)
    named = dict(zip(names(WIDEST), kernels, strict=True))
    with pytest.raises(ShapeError, match=r"cannot unfold \[3, 5\] columns to fewer, \[4, 2\]"):
        unfolded(x_SBD[:, :2], named, WIDEST, torch.tensor([3, 5]), torch.tensor([4, 2]))
