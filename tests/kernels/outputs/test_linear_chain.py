"""The linear-chain output: log Z and the best tags by brute force, gradients by finite differences, barred moves."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from anaphora.errors import ShapeError
from anaphora.kernels.outputs import viterbi
from anaphora.kernels.outputs.linear_chain import Chain, linear_chain_loss
from tests.kernels.naive import outputs as naive

from ..exactness import Kernel, doubles, ended, leaves_of

LENGTHS_B = torch.tensor([4, 1, 3])


def best_tags(emissions_TBC: Tensor, scores: Chain, lengths_B: Tensor) -> Tensor:
    chain = (one.detach().double().numpy() for one in scores)
    return torch.from_numpy(viterbi.best_tags(emissions_TBC.detach().numpy(), lengths_B.numpy(), *chain))


def chain(tags: int, seed: int = 1) -> Chain:
    return Chain(doubles(tags, tags, seed=seed), doubles(tags, seed=seed + 1), doubles(tags, seed=seed + 2))


def barred(given: Chain) -> Chain:
    """No tag may follow itself but the first, and the last tag may not be the first of a sentence."""
    size = len(given.first_C)
    same_CC = torch.eye(size, dtype=torch.bool)
    same_CC[0, 0] = False
    first_C = torch.arange(size) == size - 1
    return Chain(
        given.transitions_CC.masked_fill(same_CC, -torch.inf),
        given.first_C.masked_fill(first_C, -torch.inf),
        given.last_C,
    )


def tagging(weights: Tensor | None) -> Kernel:
    """A sentence has 4, 1 and 3 tags of at most three kinds, so that all sequences can be written out."""
    tags_TB, lengths = torch.tensor([[1, 0, 1], [0, 1, 2], [2, 2, 0], [0, 1, 1]]), (4, 1, 3)

    def fast(e_TBC: Tensor, *chain: Tensor) -> Tensor:
        return linear_chain_loss(e_TBC, Chain(*chain), tags_TB % e_TBC.shape[2], torch.tensor(lengths), weights)

    def slow(e_TBC: Tensor, *chain: Tensor) -> Tensor:
        rows = []
        for b, (length, weight) in enumerate(zip(lengths, [1, 1, 1] if weights is None else weights, strict=True)):
            tags = tuple((tags_TB[:length, b] % e_TBC.shape[2]).tolist())
            rows.append(-weight * torch.log(naive.linear_chain(e_TBC[:length, b], *chain)[tags]))
        return torch.stack(rows).sum()

    def leaves(size: int) -> list[Tensor]:
        tags = min(size + 1, 3)
        return leaves_of((4, 3, tags), (tags, tags), (tags,), (tags,))

    return Kernel(fast, slow, leaves, lambda e_TBC: ended(e_TBC, torch.tensor(lengths)), filling=1e6)


@settings(max_examples=25)
@given(tags=st.integers(1, 3), steps=st.integers(1, 3), seed=st.integers(0, 10**6), with_bars=st.booleans())
def test_every_sequence_has_the_probability_of_brute_force(tags: int, steps: int, seed: int, with_bars: bool) -> None:
    emissions_TBC = doubles(steps, 1, tags, seed=seed)
    scores = barred(chain(tags, seed)) if with_bars and tags > 2 else chain(tags, seed)
    lengths_B = torch.tensor([steps])
    expected = naive.linear_chain(emissions_TBC[:, 0], *scores)
    for sequence, p in expected.items():
        loss = linear_chain_loss(emissions_TBC, scores, torch.tensor(sequence).unsqueeze(1), lengths_B)
        assert_close(torch.exp(-loss), p)
    best = tuple(best_tags(emissions_TBC, scores, lengths_B)[:, 0].tolist())
    assert_close(expected[best], max(expected.values()))


def test_a_barred_move_gets_no_probability_and_no_gradient() -> None:
    leaves = [tensor.requires_grad_() for tensor in (doubles(4, 3, 4, seed=2), *barred(chain(4)))]
    tags_TB = torch.tensor([[1, 0, 2], [0, 0, 1], [0, 0, 2], [3, 0, 0]])
    linear_chain_loss(leaves[0], Chain(*leaves[1:]), tags_TB, LENGTHS_B).backward()
    for leaf in leaves:
        assert leaf.grad is not None and torch.isfinite(leaf.grad).all()
        assert not leaf.grad[torch.isneginf(leaf)].any()
    found_TB = best_tags(leaves[0].detach(), Chain(*(leaf.detach() for leaf in leaves[1:])), LENGTHS_B)
    for row, length in enumerate(LENGTHS_B.tolist()):
        found = found_TB[:length, row].tolist()
        assert found[0] != 3
        assert all(a != b or a == 0 for a, b in pairwise(found))


@pytest.mark.parametrize(("steps", "with_bars"), [(300, False), pytest.param(5000, True, marks=pytest.mark.slow)])
def test_sequences_of_any_length_in_single_precision_are_as_exact_as_their_scores(steps: int, with_bars: bool) -> None:
    scores = barred(chain(5)) if with_bars else chain(5)
    single = [leaf.float().requires_grad_() for leaf in (doubles(steps, 1, 5), *scores)]
    transitions_CC, first_C, last_C = double = [leaf.detach().double().requires_grad_() for leaf in single[1:]]
    emissions = [e_C.detach().double().requires_grad_() for e_C in single[0][:, 0]]
    lengths_B = torch.tensor([steps])
    best_TB = best_tags(single[0].detach(), Chain(*(leaf.detach() for leaf in single[1:])), lengths_B)
    tags_T = best_TB[:, 0]

    alpha_C = first_C + emissions[0]
    for e_C in emissions[1:]:
        alpha_C = e_C + torch.logsumexp(alpha_C.unsqueeze(1) + transitions_CC, 0)
    moved, ends = transitions_CC[tags_T[:-1], tags_T[1:]].sum(), first_C[tags_T[0]] + last_C[tags_T[-1]]
    emitted = torch.stack(emissions).gather(1, tags_T.unsqueeze(1)).sum()
    expected = torch.logsumexp(alpha_C + last_C, 0) - (moved + ends + emitted)

    loss = linear_chain_loss(single[0], Chain(*single[1:]), best_TB, lengths_B)
    assert_close(loss.double(), expected, rtol=1e-6, atol=0)
    found = torch.autograd.grad(loss, single)
    *by_step, dtransitions_CC, dfirst_C, dlast_C = torch.autograd.grad(expected, [*emissions, *double])
    references = (torch.stack(by_step).unsqueeze(1), dtransitions_CC, dfirst_C, dlast_C)
    for one, other in zip(found, references, strict=True):
        assert_close(one.double(), other.nan_to_num(), rtol=1e-6, atol=1e-7)
    marginals_TC = found[0].squeeze(1) + torch.nn.functional.one_hot(tags_T, 5)
    assert_close(marginals_TC.sum(1), torch.ones(steps), rtol=0, atol=1e-6)


def test_the_best_tags_of_a_long_sequence_are_those_of_its_unrounded_sums() -> None:
    emissions_TBC, scores = 20 + doubles(5000, 1, 5).float(), Chain(*(leaf.float() for leaf in chain(5)))
    best_T = scores.first_C.double() + emissions_TBC[0, 0].double()
    for e_C in emissions_TBC[1:, 0].double():
        best_T = (best_T.unsqueeze(1) + scores.transitions_CC.double()).amax(0) + e_C
    tags_TB = best_tags(emissions_TBC, scores, torch.tensor([5000]))
    emitted, moved = emissions_TBC.gather(2, tags_TB.unsqueeze(2)), scores.transitions_CC[tags_TB[:-1], tags_TB[1:]]
    ends = scores.first_C.double()[tags_TB[0]] + scores.last_C.double()[tags_TB[-1]]
    found = emitted.sum(dtype=torch.float64) + moved.sum(dtype=torch.float64) + ends.sum()
    assert_close(found, (best_T + scores.last_C.double()).max(), rtol=1e-12, atol=0)


def test_shapes_that_do_not_agree_are_refused() -> None:
    with pytest.raises(ShapeError, match="transitions_CC has C=2"):
        linear_chain_loss(doubles(4, 3, 3), chain(2), torch.zeros(4, 3, dtype=torch.int64), LENGTHS_B)
