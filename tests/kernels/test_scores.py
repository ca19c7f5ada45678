"""Every score by itself, in an attention that all steps ask at once: exact gradients, and what a score refuses."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.errors import ConfigError
from anaphora.kernels import naive
from anaphora.kernels.parts import Attend
from anaphora.kernels.program import Program, stages
from anaphora.kernels.scan import scan
from anaphora.kernels.scores import Concat, Dot, General, Score

STEPS, SENTENCES, SPAN = 3, 3, 4
POSITIONS = torch.tensor([3, 4, 1])
LENGTHS = torch.tensor([2, 3, 1])
Attention = tuple[Callable[..., tuple[Tensor, Tensor]], Callable[..., tuple[Tensor, Tensor]], list[Tensor]]


def attention(score: Score, query: int) -> Attention:
    """Both readings of context and weights as functions of the leaves: queries, memory, and the score's weights."""
    memory, scoring = (query, query) if query == 1 or score.weights(query, query, 1) == {} else (query + 1, query - 3)
    shapes = score.weights(query, memory, scoring)
    generator = torch.Generator().manual_seed(1)

    def leaf(*shape: int) -> Tensor:
        return (torch.randn(shape, generator=generator, dtype=torch.float64) / shape[-1] ** 0.5).requires_grad_()

    leaves = [leaf(STEPS, SENTENCES, query), leaf(SENTENCES, SPAN, memory), *(leaf(*s) for s in shapes.values())]
    scale = score.width(query, scoring) ** -0.5 if score.scaled else 1.0
    program = Program((Attend("attention", score, scale, "q"),), ("context", "weights"))
    assert not stages(program)[0].loops

    def fast(queries_TBQ: Tensor, memory_BSM: Tensor, *weights: Tensor) -> tuple[Tensor, Tensor]:
        named = dict(zip(shapes, weights, strict=True))
        tensors = {
            "attention.keys": score.prepare(memory_BSM, named),
            "attention.values": memory_BSM,
            "attention.closed": torch.arange(SPAN) >= POSITIONS.unsqueeze(1),
        }
        full = {f"attention.{name}": weight for name, weight in named.items()}
        outputs = scan(program, {"q": queries_TBQ}, {}, full, tensors, LENGTHS).outputs
        return outputs["context"], outputs["weights"]

    def slow(queries_TBQ: Tensor, memory_BSM: Tensor, *weights: Tensor) -> tuple[Tensor, Tensor]:
        named = dict(zip(shapes, weights, strict=True))
        steps = [naive.attention(score, query_BQ, memory_BSM, POSITIONS, named) for query_BQ in queries_TBQ]
        open_TB1 = (torch.arange(STEPS).unsqueeze(1) < LENGTHS).unsqueeze(-1)
        context, weights_ = (torch.stack(both) for both in zip(*steps, strict=True))
        return torch.where(open_TB1, context, 0), torch.where(open_TB1, weights_, 0)

    return fast, slow, leaves


def gradients(outputs: tuple[Tensor, ...], leaves: list[Tensor]) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(2)
    probes = [torch.randn(t.shape, generator=generator, dtype=t.dtype) for t in outputs]
    return torch.autograd.grad(outputs, leaves, probes)


@pytest.mark.parametrize("query", [1, 7])
def test_the_derived_gradients_are_those_of_finite_differences(score: Score, query: int) -> None:
    fast, _, leaves = attention(score, query)
    assert torch.autograd.gradcheck(fast, leaves)


def test_the_derived_gradients_are_right_at_a_large_odd_size(score: Score) -> None:
    fast, _, leaves = attention(score, 63)
    assert torch.autograd.gradcheck(fast, leaves, fast_mode=True)


@pytest.mark.parametrize("query", [1, 7, 63])
def test_values_and_gradients_equal_the_naive_reading(score: Score, query: int) -> None:
    fast, slow, leaves = attention(score, query)
    got, expected = fast(*leaves), slow(*leaves)
    assert_close(got, expected, rtol=0, atol=1e-12)
    derived = gradients(got, leaves)
    assert_close(derived, gradients(expected, leaves), rtol=0, atol=1e-10)
    assert all(gradient.abs().sum() > 0 for gradient in derived)


def test_weights_are_a_distribution_over_the_open_positions(score: Score) -> None:
    fast, _, leaves = attention(score, 7)
    _, weights_TBS = fast(*leaves)
    open_BS = torch.arange(SPAN) < POSITIONS.unsqueeze(1)
    still_there_TB = torch.arange(STEPS).unsqueeze(1) < LENGTHS
    assert_close(weights_TBS.sum(-1), still_there_TB.double())
    assert weights_TBS[:, ~open_BS].count_nonzero() == 0
    assert (weights_TBS > 0).sum() == (still_there_TB * POSITIONS).sum()


def test_what_stands_behind_the_end_of_a_memory_never_matters(score: Score) -> None:
    fast, _, leaves = attention(score, 7)
    other = [leaf.detach().clone() for leaf in leaves]
    closed_BS = torch.arange(SPAN) >= POSITIONS.unsqueeze(1)
    other[1][closed_BS] = 1e3
    other = [leaf.requires_grad_() for leaf in other]
    outputs, changed = fast(*leaves), fast(*other)
    assert_close(changed, outputs, rtol=0, atol=0)
    derived = gradients(changed, other)
    assert_close(derived, gradients(outputs, leaves), rtol=0, atol=0)
    assert derived[1][closed_BS].count_nonzero() == 0


def test_a_score_of_thousands_still_gives_finite_weights_and_gradients(score: Score) -> None:
    fast, _, leaves = attention(score, 7)
    large = [(leaf.detach() * 1e3).requires_grad_() for leaf in leaves]
    outputs = fast(*large)
    assert all(t.isfinite().all() for t in (*outputs, *gradients(outputs, large)))


@pytest.mark.parametrize(
    ("score", "width"), [(Dot(), 6), (General(), 6), (Concat(), 5)], ids=["dot", "general", "concat"]
)
def test_the_width_that_scaling_goes_by_is_the_one_summed_over(score: Score, width: int) -> None:
    assert score.width(query=6, hidden=5) == width


def test_dot_refuses_a_query_and_a_memory_of_different_widths() -> None:
    with pytest.raises(ConfigError, match=r"6 units and an annotation 8: set decoder\.size = 8, or use .*general"):
        Dot().weights(query=6, memory=8, hidden=5)


def test_a_score_by_pencil(score: Any) -> None:
    query, memory = torch.tensor([[2.0, -1.0]]), torch.tensor([[[1.0, 0.0], [0.0, 3.0]]])
    matrix = torch.tensor([[1.0, 1.0], [0.0, 2.0]])
    weights = {"query": torch.eye(2), "memory": matrix, "v": torch.tensor([[1.0, 10.0]])}
    by_kind = {
        "dot": [2.0, -3.0],
        # W hs = (1, 0) and (3, 6)
        "general": [2.0, 0.0],
        # tanh(h + W hs) = tanh(3, -1) and tanh(5, 5)
        "concat": [0.9950548 - 7.6159416, 0.9999092 + 9.999092],
    }
    assert_close(naive.SCORES[type(score)](query, memory, weights), torch.tensor([by_kind[score.kind]]))
