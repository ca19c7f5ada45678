"""Words from their characters: the derived gradients, the naive reading, and what a word's neighbours cannot change."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from anaphora.errors import ShapeError
from anaphora.kernels.naive import spelling as naive_spelling
from anaphora.kernels.spelling import Shape, spelt
from tests.runtimes import updating

SHAPES = pytest.mark.parametrize(
    "shape", [Shape(1, 0), Shape(3, 0), Shape(3, 1), Shape(2, 2)], ids=lambda shape: f"{shape.widths}-{shape.highways}"
)


def weights_of(shape: Shape, size: int, characters: int = 9) -> dict[str, Tensor]:
    """Weights with gradients; ``size`` numbers of a character and filters of a width."""
    source = torch.Generator().manual_seed(size + 10 * shape.widths + shape.highways)
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


def gradients(vectors: Tensor, weights: dict[str, Tensor]) -> tuple[Tensor, ...]:
    factors = torch.randn(vectors.shape, generator=torch.Generator().manual_seed(2), dtype=vectors.dtype)
    return torch.autograd.grad((vectors * factors).sum(), list(weights.values()))


@pytest.mark.parametrize(
    ("shape", "size"),
    [(Shape(3, 1), 1), (Shape(2, 2), 1), (Shape(3, 0), 7), (Shape(1, 2), 7)],
    ids=["convolutions-1", "highways-1", "convolutions-7", "highways-7"],
)
def test_the_derived_gradients_are_those_of_finite_differences(shape: Shape, size: int) -> None:
    weights, (characters, lengths) = weights_of(shape, size, 4), words(3, 4, 4)

    def run(*given: Tensor) -> Tensor:
        return spelt(characters, lengths, dict(zip(weights, given, strict=True)), shape)

    assert torch.autograd.gradcheck(run, tuple(weights.values()))


def test_the_derived_gradients_are_right_at_a_large_odd_size() -> None:
    shape = Shape(3, 1)
    weights, (characters, lengths) = weights_of(shape, 21, 63), words(63, 11, 63)

    def run(*given: Tensor) -> Tensor:
        return spelt(characters, lengths, dict(zip(weights, given, strict=True)), shape)

    assert torch.autograd.gradcheck(run, tuple(weights.values()), fast_mode=True)


@settings(max_examples=25)
@given(st.integers(1, 6), st.integers(0, 2), st.integers(1, 6), st.integers(1, 7))
def test_vectors_and_gradients_are_those_of_the_naive_reading(
    widths: int, highways: int, count: int, longest: int
) -> None:
    shape = Shape(widths, highways)
    weights, (characters, lengths) = weights_of(shape, 3), words(count, longest)
    fast = spelt(characters, lengths, weights, shape)
    slow = naive_spelling.spelt(characters, lengths, weights, shape)
    assert_close(fast, slow, rtol=0, atol=1e-12)
    assert_close(gradients(fast, weights), gradients(slow, weights), rtol=0, atol=1e-11)


@SHAPES
def test_what_stands_behind_the_end_of_a_word_is_never_looked_at(shape: Shape) -> None:
    weights, (characters, lengths) = weights_of(shape, 5), words(6, 5)
    weights["characters.weight"].data[8] = torch.nan
    characters.clamp_(max=7)
    behind = torch.arange(5) >= lengths.unsqueeze(1)
    results = []
    for padding in 0, 8, -(10**6):
        vectors = spelt(characters.masked_fill(behind, padding), lengths, weights, shape)
        results.append((vectors, *gradients(vectors, weights)))
    for other in results[1:]:
        assert_close(other, results[0], rtol=0, atol=0)
    assert not results[0][1][8].any()


@SHAPES
def test_a_word_has_the_same_bits_alone_and_among_others_of_any_length(shape: Shape) -> None:
    weights = {name: weight.detach().float() for name, weight in weights_of(shape, 13).items()}
    characters, lengths = words(40, 9)
    together = spelt(characters, lengths, weights, shape)
    assert torch.equal(spelt(characters.flip(0), lengths.flip(0), weights, shape), together.flip(0))
    for word, length in enumerate(lengths.tolist()):
        alone = spelt(characters[word : word + 1, :length], lengths[word : word + 1], weights, shape)
        assert torch.equal(alone[0], together[word])


@pytest.mark.parametrize("backend", ["gemm", "bf16"])
def test_every_backend_gives_about_the_same(backend: str) -> None:
    shape = Shape(3, 1)
    weights = {name: weight.detach().float().requires_grad_() for name, weight in weights_of(shape, 8).items()}
    characters, lengths = words(30, 6)
    expected = spelt(characters, lengths, weights, shape)
    with updating(backend=backend):  # type: ignore[arg-type]
        vectors = spelt(characters, lengths, weights, shape)
        found = gradients(vectors, weights)
    tolerance = 0.05 if backend == "bf16" else 1e-5
    assert_close(vectors, expected, rtol=0, atol=tolerance)
    for ours, theirs in zip(found, gradients(expected, weights), strict=True):
        assert (ours - theirs).norm() < 2 * tolerance * (1 + theirs.norm())


def test_double_backward_is_refused() -> None:
    shape = Shape(2, 1)
    weights = weights_of(shape, 3)
    vectors = spelt(*words(4, 3), weights, shape)
    with pytest.raises(NotImplementedError, match="gradients of gradients are not available"):
        torch.autograd.grad(vectors.sum(), list(weights.values()), create_graph=True)


def test_lengths_of_other_words_are_refused() -> None:
    shape = Shape(1, 0)
    with pytest.raises(ShapeError, match="lengths_N has N=3, but characters_NL has N=4"):
        spelt(torch.zeros(4, 2, dtype=torch.int64), torch.ones(3, dtype=torch.int64), weights_of(shape, 2), shape)
