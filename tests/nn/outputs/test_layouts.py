"""How outputs lay a vocabulary out by its counts: classes, trees, clusters, chances."""

import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from anaphora.errors import ConfigError
from anaphora.nn.outputs.adaptive import Adaptive
from anaphora.nn.outputs.class_factored import ClassFactored, bin_by_mass
from anaphora.nn.outputs.hierarchical import Hierarchical
from anaphora.nn.outputs.noise_contrastive import NoiseContrastive
from anaphora.nn.outputs.sampled import LogUniform, Unigram
from anaphora.nn.weights import Xavier
from anaphora.protocols import VocabularyInfo

COUNTS = torch.tensor([0, 2, 0, 500, 40, 300, 40, 1, 1, 90, 7, 25])
EMBEDDING, TEXT = nn.Embedding(12, 8), VocabularyInfo(12, 0, 1, 2, 3)


MASSES = st.lists(st.integers(1, 1000), min_size=1, max_size=60)


@given(MASSES.flatmap(lambda masses: st.tuples(st.just(masses), st.integers(1, len(masses)), st.integers(1, 9))))
def test_every_class_has_words_none_of_them_more_frequent_than_those_before(drawn: tuple[list[int], int, int]) -> None:
    masses, classes, later = drawn
    class_V = bin_by_mass(torch.tensor(masses), classes).tolist()
    of_class = [[mass for mass, c in zip(masses, class_V, strict=True) if c == k] for k in range(classes)]
    assert all(of_class)
    assert all(min(first) >= max(second) for first, second in pairwise(of_class))
    # words that come later are in the last class and leave the others alone
    assert bin_by_mass(torch.tensor(masses + [0] * later), classes).tolist() == class_V + [classes - 1] * later


def test_the_classes_of_given_counts_are_the_same_for_ever() -> None:
    # stored runs know what their weights mean by this alone
    assert bin_by_mass(COUNTS + 1, 4).tolist() == [3, 3, 3, 0, 3, 1, 3, 3, 3, 2, 3, 3]
    assert bin_by_mass((COUNTS + 1).double().sqrt(), 4).tolist() == [3, 3, 3, 0, 2, 1, 2, 3, 3, 2, 3, 3]


def test_the_number_of_classes_is_the_root_of_the_vocabulary_unless_it_is_given() -> None:
    assert len(ClassFactored().build(EMBEDDING, 8, TEXT).class_weight) == 4
    assert len(ClassFactored(classes=7).build(EMBEDDING, 8, TEXT).class_weight) == 7
    for classes in 1, 12:
        with pytest.raises(ConfigError, match=f"0 or from 2 to 11, but is {classes}"):
            ClassFactored(classes=classes).build(EMBEDDING, 8, TEXT)


def test_frequent_words_have_short_ways_and_stand_in_the_head() -> None:
    tree, adaptive = Hierarchical().build(EMBEDDING, 8, TEXT), Adaptive(cutoffs=(2, 6)).build(EMBEDDING, 8, TEXT)
    for output in tree, adaptive:
        output.counts.set_token_counts(COUNTS)
    assert tree.tree.lengths_V[3] == 1 and tree.tree.lengths_V[0] >= 6
    assert {int(adaptive.ranks[3]), int(adaptive.ranks[5])} == {0, 1}


@pytest.mark.parametrize(("width", "factor", "widths"), [(64, 4.0, [16, 4]), (8, 4.0, [2, 1]), (8, 1.0, [8, 8])])
def test_every_tail_is_narrower_by_the_factor(width: int, factor: float, widths: list[int]) -> None:
    weights = Adaptive(factor=factor).build(EMBEDDING, width, VocabularyInfo(100, 0, 1, 2, 3)).weights.tensors()
    assert [len(weights[f"tail{n}.project"]) for n in range(2)] == widths
    assert [len(weights[f"{name}.weight"]) for name in ("head", "tail0", "tail1")] == [12, 40, 50]


@pytest.mark.parametrize("cutoffs", [(0, 3), (5, 5), (7, 3), (3, 12)])
def test_cutoffs_have_to_ascend_within_the_vocabulary(cutoffs: tuple[int, ...]) -> None:
    with pytest.raises(ConfigError, match="should ascend between 0 and 12 words"):
        Adaptive(cutoffs=cutoffs).build(EMBEDDING, 8, TEXT)


@given(st.integers(2, 50))
def test_chances_are_those_of_a_distribution(size: int) -> None:
    counts_V = torch.arange(size) ** 2 + 1
    for proposal in LogUniform(), Unigram():
        q_V: Tensor = proposal.chances(counts_V)
        assert q_V.sum().item() == pytest.approx(1, rel=1e-12)
        assert (q_V.diff() > 0).all()  # as the masses do


def test_noise_starts_against_scores_that_sum_to_about_1() -> None:
    output = NoiseContrastive().build(EMBEDDING, 8, TEXT)
    output.initialise(Xavier(), torch.Generator())
    assert output.bias.exp().sum().item() == pytest.approx(1)
    assert output.bias[0].item() == pytest.approx(-math.log(12))
