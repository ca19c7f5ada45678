"""Losses over a large vocabulary: equal to torch where it has them, right on average where they are trained by chance.

Their gradients are proven with those of other kernels (``test_single_kernels.py``).
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from anaphora.errors import ShapeError
from anaphora.kernels import softmax
from anaphora.kernels.outputs import class_factored, hierarchical, shared_words
from anaphora.kernels.outputs.adaptive import adaptive_log_probs, adaptive_loss
from anaphora.kernels.outputs.class_factored import Classes, class_factored_loss
from anaphora.kernels.outputs.hierarchical import hierarchical_loss, huffman_tree
from anaphora.kernels.outputs.noise_contrastive import noise_contrastive_loss
from anaphora.kernels.outputs.sampled import sampled_softmax_loss
from anaphora.kernels.softmax import softmax_loss
from tests.kernels.naive import cross_entropy
from tests.kernels.naive import outputs as naive

from ..exactness import assert_same_bits, doubles, leaves_of

Leaves = list[Tensor]


@dataclass(frozen=True)
class Output:
    """One kind of loss over V words, in both readings."""

    shapes: Callable[[int, int], list[tuple[int, ...]]]
    """Of its weights, for H and V; biases have one dimension."""
    fast: Callable[..., Tensor]
    """The loss by h, the weights, targets, and weights of rows."""
    of_row: Callable[..., Tensor]
    """The naive reading by the h of one row, its target, and the weights."""

    def naive(self, *leaves: Tensor) -> Tensor:
        """The same as ``fast`` by the readings of all rows."""
        h, *weights, y, w = leaves
        return naive.sum_weighted(lambda h_H, t: self.of_row(h_H, t, *weights), h, y, w)


def masses(size: int) -> Tensor:
    """How often every word is met: some often, some rarely, in no order."""
    ranks = torch.randperm(size, generator=torch.Generator().manual_seed(2))
    return 1 + 100 // (1 + ranks)


def paths(masses: list[int]) -> list[tuple[tuple[int, int], ...]]:
    """Inner nodes and turns on the way to each word through the tree of Huffman."""
    tree = huffman_tree(masses)
    steps = list(zip(tree.nodes_P.tolist(), tree.signs_P.tolist(), strict=True))
    found = zip(tree.starts_V.tolist(), tree.lengths_V.tolist(), strict=True)
    return [tuple(steps[start : start + length]) for start, length in found]


def classes(size: int) -> Classes:
    """Three classes of words in no order, one of them of a single word; fewer where there are fewer words."""
    class_V = torch.arange(size) % 2
    class_V[-1] = 2
    return Classes.of(class_V)


def of_softmax(smoothing: float) -> Output:
    return Output(
        lambda H, V: [(V, H), (V,)],
        lambda h, W, b, y, w: softmax_loss(h, W, b, y, smoothing, w),
        lambda h_H, t, W, b: cross_entropy(h_H[None], W, b, torch.tensor([t]), smoothing),
    )


def of_unbiased_softmax(smoothing: float) -> Output:
    return Output(
        lambda H, V: [(V, H)],
        lambda h, W, y, w: softmax_loss(h, W, h.new_empty(0), y, smoothing, w),
        lambda h_H, t, W: cross_entropy(h_H[None], W, None, torch.tensor([t]), smoothing),
    )


def chosen(b_V: Tensor) -> Tensor:
    """Every second word."""
    return torch.arange(0, len(b_V), 2)


def chances(b_V: Tensor) -> Tensor:
    return masses(len(b_V)).to(b_V) / 200


def noise(b_V: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Words, how often each was drawn, and q."""
    q_V = masses(len(b_V)).to(b_V)
    return chosen(b_V), 1.0 + torch.arange(len(chosen(b_V))) % 3, q_V / q_V.sum()


def contrastive(h: Tensor, W: Tensor, b: Tensor, y: Tensor, w: Tensor | None) -> Tensor:
    words_C, times_C, q_V = noise(b)
    return noise_contrastive_loss(h, W, b, y, words_C, times_C.to(q_V), (times_C.sum() * q_V).log(), w)


def naive_contrastive(h_H: Tensor, t: int, W: Tensor, b: Tensor) -> Tensor:
    words_C, times_C, q_V = noise(b)
    return naive.noise_contrastive(h_H, t, W, b, words_C.repeat_interleave(times_C.long()).tolist(), q_V)


OUTPUTS = {
    "softmax": of_softmax(0.0),
    "softmax-smoothed": of_softmax(0.1),
    "softmax-unbiased": of_unbiased_softmax(0.0),
    "softmax-unbiased-smoothed": of_unbiased_softmax(0.1),
    "class-factored": Output(
        lambda H, V: [(3, H), (3,), (V, H), (V,)],
        lambda h, C, d, W, b, y, w: class_factored_loss(h, C, d, W, b, y, classes(len(W)), w),
        lambda h_H, t, C, d, W, b: -naive.class_factored(h_H, C, d, W, b, classes(len(W)).class_V)[t].log(),
    ),
    "hierarchical": Output(
        lambda H, V: [(V - 1, H), (V - 1,)],
        lambda h, N, b, y, w: hierarchical_loss(h, N, b, y, huffman_tree(masses(len(b) + 1).tolist()), w),
        lambda h_H, t, N, b: -naive.hierarchical(h_H, N, b, [paths(masses(len(b) + 1).tolist())[t]])[0].log(),
    ),
    "sampled": Output(
        lambda H, V: [(V, H), (V,)],
        lambda h, W, b, y, w: sampled_softmax_loss(h, W, b, y, chosen(b), chances(b).log(), w),
        lambda h_H, t, W, b: naive.sampled_softmax(h_H, t, W, b, chosen(b).tolist(), chances(b)),
    ),
    "noise-contrastive": Output(lambda H, V: [(V, H), (V,)], contrastive, naive_contrastive),
    "adaptive": Output(
        lambda H, V: [(4, H), (4,), (H, H), (2, H), (2,), (1, H), (V - 4, 1), (V - 4,)],
        lambda h, A, a, P, B, b, Q, C, c, y, w: adaptive_loss(
            h, (A, a), ((P, B, b), (Q, C, c)), y, (2, 4, 4 + len(C)), w
        ),
        lambda h_H, t, A, a, P, B, b, Q, C, c: -naive.adaptive(h_H, (A, a), ((P, B, b), (Q, C, c)))[t].log(),
    ),
}


@pytest.fixture(params=OUTPUTS.values(), ids=OUTPUTS.keys())
def output(request: pytest.FixtureRequest) -> Output:
    return request.param


def tensors(output: Output, rows: int, hidden: int, size: int) -> tuple[Leaves, Tensor]:
    """h and the weights with gradients; targets."""
    leaves = leaves_of((rows, hidden), *output.shapes(hidden, size))
    return leaves, torch.randint(size, (rows,), generator=torch.Generator().manual_seed(rows))


def gradients(loss: Tensor, leaves: Leaves) -> tuple[Tensor, ...]:
    return torch.autograd.grad(3 * loss, leaves)


@pytest.mark.parametrize("chunk", [1, 100])
def test_losses_are_the_same_in_chunks_of_any_size(output: Output, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in softmax, class_factored, hierarchical, shared_words:
        monkeypatch.setattr(module, "CHUNK", chunk)
    leaves, targets = tensors(output, 29, 5, 13)
    weights = torch.arange(29) / 29.0
    fast, slow = output.fast(*leaves, targets, weights.double()), output.naive(*leaves, targets, weights)
    assert_close(fast, slow, rtol=1e-12, atol=0)
    assert_close(gradients(fast, leaves), gradients(slow, leaves), rtol=0, atol=1e-11)


def test_scores_of_thousands_still_give_a_finite_loss_and_gradient(output: Output) -> None:
    leaves, targets = tensors(output, 11, 7, 9)
    large = [(leaf.detach() * 1e2).requires_grad_() for leaf in leaves]
    loss = output.fast(*large, targets, None)
    assert all(t.isfinite().all() for t in (loss, *gradients(loss, large)))


def test_autocast_around_the_loss_changes_nothing(output: Output) -> None:
    leaves, targets = tensors(output, 11, 7, 9)
    single = [leaf.detach().float().requires_grad_() for leaf in leaves]
    expected = output.fast(*single, targets, None)
    with torch.autocast("cpu", torch.bfloat16):
        loss = output.fast(*single, targets, None)
        inside = gradients(loss, single)
    assert_same_bits(loss, expected)
    assert_same_bits(inside, gradients(expected, single))


def test_states_that_do_not_fit_the_weights_are_refused(output: Output) -> None:
    (h, *weights), targets = tensors(output, 5, 3, 9)
    with pytest.raises(ShapeError, match="H=3, but hidden_NH has H=2"):
        output.fast(h[:, :2], *weights, targets, None)


P = torch.tensor([0.5, 0.2, 0.2, 0.1], dtype=torch.float64)
"""What is to be learnt, and as many chances of being drawn."""
Q = torch.tensor([0.1, 0.4, 0.3, 0.2], dtype=torch.float64)


def of_bias(*arguments: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """States and words of nothing: the bias alone decides."""
    (bias_V,) = arguments
    return torch.zeros(1, 1, dtype=torch.float64), torch.zeros(len(bias_V), 1, dtype=torch.float64), bias_V


@pytest.mark.parametrize("cutoffs", [[3, 7], [1, 2, 9]])
@pytest.mark.parametrize("bias", [True, False])
def test_the_adaptive_softmax_is_that_of_torch(cutoffs: list[int], bias: bool) -> None:
    theirs = torch.nn.AdaptiveLogSoftmaxWithLoss(16, 13, cutoffs, div_value=2.0, head_bias=bias).double()
    h, ranks = doubles(40, 16).requires_grad_(), torch.arange(40) % 13
    none = torch.empty(0, dtype=torch.float64)
    head = theirs.head.weight, theirs.head.bias if bias else none
    tails = tuple((tail[0].weight, tail[1].weight, none) for tail in theirs.tail)
    loss = adaptive_loss(h, head, tails, ranks, (*cutoffs, 13))
    expected = theirs(h, ranks).loss * 40
    assert_close(loss, expected)
    leaves = [h, *theirs.parameters()]
    for ours, other in zip(torch.autograd.grad(loss, leaves), torch.autograd.grad(expected, leaves), strict=True):
        assert_close(ours, other)
    scores = h @ head[0].T + (head[1] if bias else 0)
    log_probs = adaptive_log_probs(scores, tuple(h @ project.T @ words.T for project, words, _ in tails))
    assert_close(log_probs, theirs.log_prob(h))
    assert [len(tail[1]) for tail in tails] == [high - low for low, high in pairwise((*cutoffs, 13))]


def test_a_sample_of_every_word_is_the_full_softmax() -> None:
    h, weight, bias, targets = doubles(9, 3), doubles(7, 3), doubles(7), torch.arange(9) % 7
    every, nothing = torch.arange(7), torch.empty(0, dtype=torch.float64)
    assert_close(sampled_softmax_loss(h, weight, bias, targets, every, nothing), softmax_loss(h, weight, bias, targets))
    alike = torch.full((7,), -3.0, dtype=torch.float64)  # drawn with the same probability, whichever that is
    assert_close(sampled_softmax_loss(h, weight, bias, targets, every, alike), softmax_loss(h, weight, bias, targets))


def test_a_target_that_was_not_drawn_is_told_from_the_sample_all_the_same() -> None:
    bias, words = doubles(7), torch.tensor([1, 4])
    loss = sampled_softmax_loss(*of_bias(bias), torch.tensor([2]), words, torch.empty(0))
    assert_close(loss, softmax_loss(*of_bias(bias[[1, 4, 2]]), torch.tensor([2])))


def test_on_average_over_samples_the_sampled_loss_is_least_at_the_true_probabilities() -> None:
    bias = P.log().requires_grad_()
    mean = sum(
        P[y] * Q[v] * sampled_softmax_loss(*of_bias(bias), torch.tensor([y]), torch.tensor([v]), Q.log())
        for y in range(4)
        for v in range(4)
    )
    assert isinstance(mean, Tensor)
    assert_close(torch.autograd.grad(mean, bias)[0], torch.zeros(4, dtype=torch.float64), rtol=0, atol=1e-15)


@pytest.mark.parametrize("k", [1.0, 25.0])
def test_on_average_over_noise_the_contrastive_loss_is_least_at_the_true_probabilities(k: float) -> None:
    bias, every = P.log().requires_grad_(), torch.arange(4)
    mean = sum(
        P[y] * noise_contrastive_loss(*of_bias(bias), torch.tensor([y]), every, k * Q, (k * Q).log()) for y in range(4)
    )
    assert isinstance(mean, Tensor)
    assert_close(torch.autograd.grad(mean, bias)[0], torch.zeros(4, dtype=torch.float64), rtol=0, atol=1e-14)


MASSES = st.lists(st.integers(1, 1000), min_size=2, max_size=40)


@given(MASSES)
def test_every_way_starts_at_the_root_and_leads_to_a_leaf_of_its_own(masses: list[int]) -> None:
    found = paths(masses)
    assert len(set(found)) == len(masses)
    assert all(path[0][0] == 0 and {sign for _, sign in path} <= {1, -1} for path in found)
    assert not any(a != b and a == b[: len(a)] for a in found for b in found)
    assert {node for path in found for node, _ in path} == set(range(len(masses) - 1))
    assert sum(0.5 ** len(path) for path in found) == 1


@given(MASSES)
def test_the_ways_are_as_short_on_average_as_any(masses: list[int]) -> None:
    heap, cost = list(masses), 0
    heapq.heapify(heap)
    while len(heap) > 1:
        merged = heapq.heappop(heap) + heapq.heappop(heap)
        cost += merged
        heapq.heappush(heap, merged)
    assert sum(mass * len(path) for mass, path in zip(masses, paths(masses), strict=True)) == cost


@given(MASSES)
def test_inner_nodes_are_numbered_level_by_level(masses: list[int]) -> None:
    depth = {node: place for path in paths(masses) for place, (node, _) in enumerate(path)}
    assert [depth[node] for node in range(len(masses) - 1)] == sorted(depth.values())


def test_the_tree_of_given_counts_is_the_same_for_ever() -> None:
    # stored runs know what their weights mean by this alone
    tree = huffman_tree([3, 1, 1, 9, 2, 2, 3])
    assert tree.lengths_V.tolist() == [3, 4, 4, 1, 4, 4, 3]
    assert tree.leaf_V.tolist() == [5, 8, 9, 0, 10, 11, 6]
    assert tree.nodes_P.tolist()[:7] == [0, 1, 2, 0, 1, 2, 4]
    assert tree.signs_P.dtype == torch.int8
