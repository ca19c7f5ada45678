"""The HMM of links against its reading: every alignment of a small pair, one after the other."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.data.ragged import Ragged
from anaphora.inference.alignment.groups import LONGEST, Group, groups
from anaphora.inference.alignment.hidden_markov import REACH, hidden_markov
from anaphora.inference.alignment.lexicon import Floats

EMPTY, EVEN = 0.3, 0.2


def drawn(seed: int, width: int, heights: list[int]) -> tuple[Group, Floats, Floats]:
    """A group of pairs with translation probabilities and jump weights drawn at random."""
    random = np.random.default_rng(seed)
    sources = Ragged.of([[4] * width for _ in heights])
    [group] = groups(sources, Ragged.of([[5] * height for height in heights]))
    probs = random.uniform(0.01, 1, (len(heights), max(heights), width + 1))
    return group, probs, random.uniform(0.1, 1, 2 * REACH + 1)


def every_alignment(probs: Floats, jumps: Floats) -> tuple[Floats, Floats, float]:
    """Posteriors, expected jumps and ln p of one pair, T x (S + 1), by equations 1 to 3 alone."""
    steps, width = probs.shape[0], probs.shape[1] - 1
    posteriors, expected, total = np.zeros_like(probs), np.zeros(len(jumps)), 0.0
    for alignment in itertools.product(range(width + 1), repeat=steps):
        p, before, taken = 1.0, -1, []
        for t, i in enumerate(alignment):
            p *= probs[t, i]
            if i == width:
                p *= EMPTY
                continue
            shares = jumps[np.arange(width) - before + REACH]
            p *= (1 - EMPTY) * ((1 - EVEN) * shares[i] / shares.sum() + EVEN / width)
            taken.append(i - before + REACH)
            before = i
        total += p
        posteriors[np.arange(steps), alignment] += p
        np.add.at(expected, taken, p)
    return posteriors / total, expected / total, float(np.log(total))


@pytest.mark.parametrize(("width", "height"), [(1, 1), (1, 3), (3, 1), (3, 4), (4, 3)])
def test_posteriors_jumps_and_likelihood_are_those_of_all_alignments_together(width: int, height: int) -> None:
    group, probs, jumps = drawn(width + 7 * height, width, [height])
    links = hidden_markov(group, probs, jumps, EMPTY, EVEN)
    posteriors, expected, log_prob = every_alignment(probs[0], jumps)
    np.testing.assert_allclose(links.posteriors_RTS[0], posteriors, rtol=1e-10)
    np.testing.assert_allclose(links.jumps, expected, rtol=1e-10, atol=1e-14)
    assert links.log_probs_R[0] == pytest.approx(log_prob, rel=1e-10)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(1, 5))
@settings(max_examples=30)
def test_a_pair_has_the_same_links_alone_and_beside_others(heights: list[int], width: int) -> None:
    group, probs, jumps = drawn(3, width, sorted(heights, reverse=True))
    together = hidden_markov(group, probs, jumps, EMPTY, EVEN)
    expected = np.zeros_like(together.jumps)
    for row, height in enumerate(sorted(heights, reverse=True)):
        [single] = groups(Ragged.of([[4] * width]), Ragged.of([[5] * height]))
        alone = hidden_markov(single, probs[row : row + 1, :height], jumps, EMPTY, EVEN)
        np.testing.assert_allclose(alone.posteriors_RTS[0], together.posteriors_RTS[row, :height], rtol=1e-10)
        assert alone.log_probs_R[0] == pytest.approx(together.log_probs_R[row], rel=1e-10)
        assert not together.posteriors_RTS[row, height:].any()
        expected += alone.jumps
    np.testing.assert_allclose(together.jumps, expected, rtol=1e-10, atol=1e-14)


def test_far_jumps_count_as_the_furthest() -> None:
    group, probs, jumps = drawn(1, REACH + 5, [1])
    jumps[-1] = 1000.0
    links = hidden_markov(group, np.ones_like(probs), jumps, EMPTY, EVEN)
    near, far = links.posteriors_RTS[0, 0, 0], links.posteriors_RTS[0, 0, REACH - 1 : REACH + 5]
    assert (far > 10 * near).all() and np.ptp(far) < 1e-12


def test_a_pair_of_thousands_of_words_has_the_posteriors_of_any_scale() -> None:
    group, probs, jumps = drawn(3, 4, [LONGEST])
    whole, small = (hidden_markov(group, probs * scale, jumps, EMPTY, EVEN) for scale in (1.0, 1e-4))
    np.testing.assert_allclose(small.posteriors_RTS, whole.posteriors_RTS, rtol=1e-8)
    np.testing.assert_allclose(whole.posteriors_RTS.sum(2), 1, rtol=1e-12)
    assert small.log_probs_R[0] == pytest.approx(whole.log_probs_R[0] + LONGEST * np.log(1e-4), rel=1e-12)
