"""Words from their characters: the naive reading, and what a word's neighbours cannot change."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from anaphora.errors import ShapeError
from anaphora.kernels.pointwise import sigmoid_
from anaphora.kernels.spelling import Shape, spelt
from tests.kernels.naive import spelling as naive_spelling

SHAPES = {f"{shape.widths}-{shape.highways}": shape for shape in (Shape(1, 0), Shape(3, 0), Shape(3, 1), Shape(2, 2))}


def weights_of(shape: Shape, size: int, characters: int = 9) -> dict[str, Tensor]:
    """Weights with gradients; ``size`` numbers of a character and filters of a width."""
    source = torch.Generator().manual_seed(size + 10 * shape.widths + 3 * shape.highways)
    filters = shape.widths * size
    shapes = {"characters.weight": (characters, size)}
    for width in range(1, shape.widths + 1):
        shapes |= {f"width{width}.weight": (size, width * size), f"width{width}.bias": (size,)}
    for layer in range(shape.highways):
        for kind in "transform", "hidden":
            shapes |= {f"{kind}{layer}.weight": (filters, filters), f"{kind}{layer}.bias": (filters,)}
    assert list(shapes) == shape.names()
    leaves = {name: torch.randn(of, generator=source, dtype=torch.float64) for name, of in shapes.items()}
    return {name: leaf.div_(leaf.shape[-1] ** 0.5).requires_grad_() for name, leaf in leaves.items()}


def words(count: int, longest: int, characters: int = 9) -> tuple[Tensor, Tensor]:
    source = torch.Generator().manual_seed(count + longest)
    lengths_N = torch.randint(1, longest + 1, (count,), generator=source)
    lengths_N[-1] = longest
    return torch.randint(characters, (count, longest), generator=source), lengths_N


def readings(shape: Shape) -> list[Callable[..., Tensor]]:
    """Both as functions of the weights; behind the ends of words stands character 8, and in one what is none."""
    characters, lengths = words(6, 4, 8)
    behind = torch.arange(4) >= lengths.unsqueeze(1)
    characters.masked_fill_(behind, 8)[0].masked_fill_(behind[0], -(10**6))

    def named(reading: Callable[..., Tensor]) -> Callable[..., Tensor]:
        return lambda *weights: reading(characters, lengths, dict(zip(shape.names(), weights, strict=True)), shape)

    return [named(spelt), named(naive_spelling.spelt)]


def gradients(vectors: Tensor, weights: dict[str, Tensor]) -> tuple[Tensor, ...]:
    factors = torch.randn(vectors.shape, generator=torch.Generator().manual_seed(2), dtype=vectors.dtype)
    return torch.autograd.grad((vectors * factors).sum(), list(weights.values()))


@settings(max_examples=25)
@given(st.integers(1, 6), st.integers(0, 2), st.integers(1, 6), st.integers(1, 7))
def test_vectors_and_gradients_equal_the_naive_ones(widths: int, highways: int, count: int, longest: int) -> None:
    shape = Shape(widths, highways)
    weights, (characters, lengths) = weights_of(shape, 3), words(count, longest)
    fast = spelt(characters, lengths, weights, shape)
    slow = naive_spelling.spelt(characters, lengths, weights, shape)
    assert_close(fast, slow, rtol=0, atol=1e-12)
    assert_close(gradients(fast, weights), gradients(slow, weights), rtol=0, atol=1e-11)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_word_has_the_same_bits_alone_and_among_others_of_any_length(shape: Shape) -> None:
    weights = {name: weight.detach().float() for name, weight in weights_of(shape, 13).items()}
    characters, lengths = words(40, 9)
    together = spelt(characters, lengths, weights, shape)
    assert torch.equal(spelt(characters.flip(0), lengths.flip(0), weights, shape), together.flip(0))
    for word, length in enumerate(lengths.tolist()):
        alone = spelt(characters[word : word + 1, :length], lengths[word : word + 1], weights, shape)
        assert torch.equal(alone[0], together[word])


def test_lengths_of_other_words_are_refused() -> None:
    shape = Shape(1, 0)
    with pytest.raises(ShapeError, match="lengths_N has N=3, but characters_NL has N=4"):
        spelt(torch.zeros(4, 2, dtype=torch.int64), torch.ones(3, dtype=torch.int64), weights_of(shape, 2), shape)


def test_it_is_0_and_1_far_out() -> None:
    far = torch.tensor([-torch.inf, -1e4, 1e4, torch.inf])
    assert sigmoid_(far.clone()).tolist() == [0, 0, 1, 1]


@given(start=st.integers(0, 99), count=st.integers(1, 99))
def test_a_number_has_the_same_bits_wherever_it_stands(start: int, count: int) -> None:
    x = torch.randn(100, generator=torch.Generator().manual_seed(0))
    assert torch.equal(sigmoid_(x[start : start + count].clone()), sigmoid_(x.clone())[start : start + count])
