"""Scheduled sampling: chances by the equations, and words that are the decoder's own exactly as often as they say."""

import math

import pytest
import torch
from torch import Tensor

from anaphora.nn.scheduled_sampling import (
    ExponentialSampling,
    InverseSigmoidSampling,
    LinearSampling,
    Sampling,
    mix_words,
)

TRUE = torch.randint(4, 9, (30, 40), generator=torch.Generator().manual_seed(1))


def always_nine(ids_B: Tensor) -> Tensor:
    return torch.full((len(ids_B), 10), -50.0).index_fill(1, torch.tensor([9]), 0.0)


@pytest.mark.parametrize(
    ("sampling", "chances"),
    [
        (LinearSampling(kind="linear", updates=10, min_probability=0.3), {1: 0.9, 5: 0.5, 8: 0.3, 10_000: 0.3}),
        (ExponentialSampling(kind="exponential", k=0.5), {1: 0.5, 3: 0.125, 100_000: 0.0}),
        (InverseSigmoidSampling(kind="inverse-sigmoid", k=2), {1: 2 / (2 + math.exp(0.5)), 10**9: 0.0}),
    ],
    ids=["linear", "exponential", "inverse-sigmoid"],
)
def test_the_chance_of_a_true_word_falls_as_the_equation_says(sampling: Sampling, chances: dict[int, float]) -> None:
    assert {update: sampling.chance(update) for update in chances} == pytest.approx(chances)
    falling = [sampling.chance(update) for update in range(1, 200)]
    assert falling == sorted(falling, reverse=True)


@pytest.mark.parametrize("shares_TB", [None, torch.full(TRUE.shape, 0.5)], ids=["likeliest", "sample"])
def test_words_that_are_not_kept_are_its_own_but_for_the_first(shares_TB: Tensor | None) -> None:
    kept_TB = torch.rand(TRUE.shape, generator=torch.Generator().manual_seed(2)) < 0.5
    read = mix_words(TRUE, always_nine, kept_TB, shares_TB)
    kept_TB[0] = True
    assert torch.equal(read, TRUE.masked_fill(~kept_TB, 9))


def test_words_are_drawn_as_often_as_they_are_predicted() -> None:
    shares = torch.tensor([0.0, 0.5, 0.2, 0.3])
    none_TB = torch.zeros(80, 50, dtype=torch.bool)
    drawn_TB = torch.rand(80, 50, generator=torch.Generator().manual_seed(2))
    read = mix_words(none_TB.long(), lambda ids: shares.log().expand(len(ids), -1), none_TB, drawn_TB)
    counts = torch.bincount(read[1:].flatten(), minlength=4) / read[1:].numel()
    torch.testing.assert_close(counts, shares, rtol=0, atol=0.03)


@pytest.mark.parametrize("share", [0.0, 1 - 1e-12])
def test_a_draw_at_the_edge_is_a_word_of_the_vocabulary(share: float) -> None:
    true_TB = torch.zeros(2, 1, dtype=torch.long)
    even = torch.full((1, 30_000), -math.log(30_000))
    read = mix_words(true_TB, lambda ids: even, true_TB.bool(), torch.full((2, 1), share, dtype=torch.float64))
    assert 0 <= read[1, 0] < 30_000


def test_what_is_read_next_follows_what_was_read() -> None:
    def one_more(ids_B: Tensor) -> Tensor:
        return torch.nn.functional.one_hot(ids_B + 1, 40).float()

    read = mix_words(torch.full((5, 2), 7), one_more, torch.zeros(5, 2, dtype=torch.bool))
    assert read.T.tolist() == [[7, 8, 9, 10, 11]] * 2
