"""What holds for every loss over a large vocabulary; their gradients: ``test_single_kernels.py``."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor
from torch.nn import functional
from torch.testing import assert_close

from anaphora.errors import ShapeError
from anaphora.kernels import softmax
from anaphora.kernels.outputs import class_factored, hierarchical, shared_words
from anaphora.kernels.outputs.adaptive import adaptive_log_probs, adaptive_loss
from anaphora.kernels.outputs.class_factored import Classes, class_factored_log_probs, class_factored_loss
from anaphora.kernels.outputs.hierarchical import hierarchical_log_probs, hierarchical_loss, huffman_tree
from anaphora.kernels.outputs.noise_contrastive import noise_contrastive_loss
from anaphora.kernels.outputs.sampled import sampled_softmax_loss
from anaphora.kernels.softmax import softmax_loss
from tests.kernels.naive import cross_entropy
from tests.kernels.naive import outputs as naive

from ..exactness import assert_same_bits, doubles
from .test_huffman import paths

Leaves = list[Tensor]


@dataclass(frozen=True)
class Output:
    """One kind of loss over V words, in both readings."""

    shapes: Callable[[int, int], list[tuple[int, ...]]]
    """Of its weights, for H and V; biases have one dimension."""
    loss: Callable[[Leaves, Tensor, Tensor | None], Tensor]
    """The fast reading of leaves (h first), targets and weights."""
    naive: Callable[[Leaves, Tensor, Tensor], Tensor]
    log_probs: Callable[[Leaves], Tensor] | None = None
    """ln p of every word, where the loss is that of a distribution."""


def masses(size: int) -> Tensor:
    """How often every word is met: some often, some rarely, in no order."""
    ranks = torch.randperm(size, generator=torch.Generator().manual_seed(2))
    return 1 + 100 // (1 + ranks)


def classes(size: int) -> Classes:
    """Three classes of words in no order, one of them of a single word; fewer where there are fewer words."""
    class_V = torch.arange(size) % 2
    class_V[-1] = 2
    return Classes.of(class_V)


def of_softmax(biased: bool, smoothing: float) -> Output:
    def split(leaves: Leaves) -> tuple[Tensor, Tensor, Tensor | None]:
        return leaves[0], leaves[1], leaves[2] if biased else None

    def fast(leaves: Leaves, y: Tensor, w: Tensor | None) -> Tensor:
        h, W, b = split(leaves)
        return softmax_loss(h, W, h.new_empty(0) if b is None else b, y, smoothing, w)

    def slow(leaves: Leaves, y: Tensor, w: Tensor) -> Tensor:
        h, W, b = split(leaves)
        return naive.sum_weighted(lambda h_H, t: cross_entropy(h_H[None], W, b, torch.tensor([t]), smoothing), h, y, w)

    def log_probs(leaves: Leaves) -> Tensor:
        return torch.log_softmax(functional.linear(*split(leaves)), 1)

    return Output(lambda H, V: [(V, H), (V,)][: 1 + biased], fast, slow, None if smoothing else log_probs)


def of_class_factored() -> Output:
    def parts(leaves: Leaves) -> tuple[Leaves, Classes]:
        return leaves, classes(len(leaves[3]))

    def log_probs(leaves: Leaves) -> Tensor:
        h, C, d, W, b = leaves
        return class_factored_log_probs(h @ C.T + d, h @ W.T + b, classes(len(W)))

    def slow(leaves: Leaves, y: Tensor, w: Tensor) -> Tensor:
        h, *weights = leaves
        class_V = classes(len(leaves[3])).class_V
        return naive.sum_weighted(lambda h_H, t: -naive.class_factored(h_H, *weights, class_V)[t].log(), h, y, w)

    return Output(
        lambda H, V: [(3, H), (3,), (V, H), (V,)],
        lambda leaves, y, w: class_factored_loss(*leaves, y, classes(len(leaves[3])), w),
        slow,
        log_probs,
    )


def of_hierarchical() -> Output:
    def tree(leaves: Leaves) -> hierarchical.Tree:
        return huffman_tree(masses(len(leaves[1]) + 1).tolist())

    def slow(leaves: Leaves, y: Tensor, w: Tensor) -> Tensor:
        h, nodes, b = leaves
        ways = paths(masses(len(b) + 1).tolist())
        return naive.sum_weighted(lambda h_H, t: -naive.hierarchical(h_H, nodes, b, [ways[t]])[0].log(), h, y, w)

    return Output(
        lambda H, V: [(V - 1, H), (V - 1,)],
        lambda leaves, y, w: hierarchical_loss(*leaves, y, tree(leaves), w),
        slow,
        lambda leaves: hierarchical_log_probs(leaves[0] @ leaves[1].T + leaves[2], tree(leaves)),
    )


def chosen(size: int) -> Tensor:
    """Every second word."""
    return torch.arange(0, size, 2)


def of_sampled() -> Output:
    def drawn(leaves: Leaves) -> Tensor:
        return masses(len(leaves[2])).to(leaves[0]) / 200

    def slow(leaves: Leaves, y: Tensor, w: Tensor) -> Tensor:
        h, W, b = leaves
        words = chosen(len(b)).tolist()
        return naive.sum_weighted(lambda h_H, t: naive.sampled_softmax(h_H, t, W, b, words, drawn(leaves)), h, y, w)

    return Output(
        lambda H, V: [(V, H), (V,)],
        lambda leaves, y, w: sampled_softmax_loss(*leaves, y, chosen(len(leaves[2])), drawn(leaves).log(), w),
        slow,
    )


def of_noise_contrastive() -> Output:
    def noise(leaves: Leaves) -> tuple[Tensor, Tensor, Tensor]:
        """Words, how often each was drawn, and q."""
        words_C = chosen(len(leaves[2]))
        q_V = masses(len(leaves[2])).to(leaves[0])
        return words_C, 1.0 + torch.arange(len(words_C)) % 3, q_V / q_V.sum()

    def fast(leaves: Leaves, y: Tensor, w: Tensor | None) -> Tensor:
        words_C, times_C, q_V = noise(leaves)
        return noise_contrastive_loss(*leaves, y, words_C, times_C.to(q_V), (times_C.sum() * q_V).log(), w)

    def slow(leaves: Leaves, y: Tensor, w: Tensor) -> Tensor:
        h, W, b = leaves
        words_C, times_C, q_V = noise(leaves)
        drawn = words_C.repeat_interleave(times_C.long()).tolist()
        return naive.sum_weighted(lambda h_H, t: naive.noise_contrastive(h_H, t, W, b, drawn, q_V), h, y, w)

    return Output(lambda H, V: [(V, H), (V,)], fast, slow)


def of_adaptive() -> Output:
    def cutoffs(leaves: Leaves) -> tuple[int, ...]:
        return 2, 4, 4 + len(leaves[7])

    def tails(leaves: Leaves) -> tuple[tuple[Tensor, Tensor, Tensor], ...]:
        return (leaves[3], leaves[4], leaves[5]), (leaves[6], leaves[7], leaves[8])

    def slow(leaves: Leaves, y: Tensor, w: Tensor) -> Tensor:
        head = leaves[1], leaves[2]
        return naive.sum_weighted(lambda h_H, t: -naive.adaptive(h_H, head, tails(leaves))[t].log(), leaves[0], y, w)

    def log_probs(leaves: Leaves) -> Tensor:
        h, A, a = leaves[:3]
        return adaptive_log_probs(h @ A.T + a, tuple(h @ P.T @ B.T + b for P, B, b in tails(leaves)))

    return Output(
        lambda H, V: [(4, H), (4,), (H, H), (2, H), (2,), (1, H), (V - 4, 1), (V - 4,)],
        lambda leaves, y, w: adaptive_loss(leaves[0], (leaves[1], leaves[2]), tails(leaves), y, cutoffs(leaves), w),
        slow,
        log_probs,
    )


OUTPUTS = {
    "softmax": of_softmax(biased=True, smoothing=0.0),
    "softmax-smoothed": of_softmax(biased=True, smoothing=0.1),
    "softmax-unbiased": of_softmax(biased=False, smoothing=0.0),
    "softmax-unbiased-smoothed": of_softmax(biased=False, smoothing=0.1),
    "class-factored": of_class_factored(),
    "hierarchical": of_hierarchical(),
    "sampled": of_sampled(),
    "noise-contrastive": of_noise_contrastive(),
    "adaptive": of_adaptive(),
}
EXACT = {name: output for name, output in OUTPUTS.items() if output.log_probs}


@pytest.fixture(params=OUTPUTS.values(), ids=OUTPUTS.keys())
def output(request: pytest.FixtureRequest) -> Output:
    return request.param


def tensors(output: Output, rows: int, hidden: int, size: int) -> tuple[Leaves, Tensor]:
    """h and the weights with gradients; targets."""
    shapes = [(rows, hidden), *output.shapes(hidden, size)]
    leaves = [doubles(*shape, seed=seed).div_(shape[-1] ** 0.5).requires_grad_() for seed, shape in enumerate(shapes)]
    return leaves, torch.randint(size, (rows,), generator=torch.Generator().manual_seed(rows))


def gradients(loss: Tensor, leaves: Leaves) -> tuple[Tensor, ...]:
    return torch.autograd.grad(3 * loss, leaves)


@pytest.mark.parametrize("chunk", [1, 100])
def test_loss_and_gradients_are_the_same_in_chunks_of_any_size(
    output: Output, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in softmax, class_factored, hierarchical, shared_words:
        monkeypatch.setattr(module, "CHUNK", chunk)
    leaves, targets = tensors(output, 29, 5, 13)
    weights = torch.arange(29) / 29.0
    fast, slow = output.loss(leaves, targets, weights.double()), output.naive(leaves, targets, weights)
    assert_close(fast, slow, rtol=1e-12, atol=0)
    assert_close(gradients(fast, leaves), gradients(slow, leaves), rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", EXACT)
def test_the_probabilities_of_all_words_sum_to_1_and_the_loss_is_that_of_the_right_one(name: str) -> None:
    output = EXACT[name]
    leaves, targets = tensors(output, 11, 5, 23)
    assert output.log_probs is not None
    log_probs_NV = output.log_probs(leaves)
    assert_close(log_probs_NV.exp().sum(1), torch.ones(11, dtype=torch.float64), rtol=1e-13, atol=0)
    right_N = log_probs_NV[torch.arange(11), targets]
    assert_close(output.loss(leaves, targets, None), -right_N.sum(), rtol=1e-13, atol=0)


def test_scores_of_thousands_still_give_a_finite_loss_and_gradient(output: Output) -> None:
    leaves, targets = tensors(output, 11, 7, 9)
    large = [(leaf.detach() * 1e2).requires_grad_() for leaf in leaves]
    loss = output.loss(large, targets, None)
    assert all(t.isfinite().all() for t in (loss, *gradients(loss, large)))


def test_autocast_around_the_loss_changes_nothing(output: Output) -> None:
    leaves, targets = tensors(output, 11, 7, 9)
    single = [leaf.detach().float().requires_grad_() for leaf in leaves]
    expected = output.loss(single, targets, None)
    with torch.autocast("cpu", torch.bfloat16):
        loss = output.loss(single, targets, None)
        inside = gradients(loss, single)
    assert_same_bits(loss, expected)
    assert_same_bits(inside, gradients(expected, single))


def test_states_that_do_not_fit_the_weights_are_refused(output: Output) -> None:
    (h, *weights), targets = tensors(output, 5, 3, 9)
    with pytest.raises(ShapeError, match="H=3, but hidden_NH has H=2"):
        output.loss([h[:, :2], *weights], targets, None)
