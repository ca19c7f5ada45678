"""How outputs lay a vocabulary out by its counts: classes, trees, clusters, chances."""

import math

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
EMBEDDING = nn.Embedding(12, 8)


MASSES = st.lists(st.integers(1, 1000), min_size=1, max_size=60)


@given(MASSES.flatmap(lambda masses: st.tuples(st.just(masses), st.integers(1, len(masses)))))
def test_every_class_has_words_and_no_word_of_a_later_class_is_more_frequent(drawn: tuple[list[int], int]) -> None:
    masses, classes = drawn
    class_V = bin_by_mass(torch.tensor(masses), classes)
    assert sorted(set(class_V.tolist())) == list(range(classes))
    lightest = [min(mass for mass, c in zip(masses, class_V.tolist(), strict=True) if c == k) for k in range(classes)]
    heaviest = [max(mass for mass, c in zip(masses, class_V.tolist(), strict=True) if c == k) for k in range(classes)]
    assert all(low >= high for low, high in zip(lightest, heaviest[1:], strict=False))


@given(MASSES.flatmap(lambda masses: st.tuples(st.just(masses), st.integers(1, len(masses)), st.integers(1, 9))))
def test_words_that_came_later_are_in_the_last_class_and_leave_the_others_alone(
    drawn: tuple[list[int], int, int],
) -> None:
    masses, classes, later = drawn
    class_V = bin_by_mass(torch.tensor(masses + [0] * later), classes).tolist()
    assert class_V == bin_by_mass(torch.tensor(masses), classes).tolist() + [classes - 1] * later


def test_the_classes_of_given_counts_are_the_same_for_ever() -> None:
    # stored runs know what their weights mean by this alone
    assert bin_by_mass(COUNTS + 1, 4).tolist() == [3, 3, 3, 0, 3, 1, 3, 3, 3, 2, 3, 3]
    assert bin_by_mass((COUNTS + 1).double().sqrt(), 4).tolist() == [3, 3, 3, 0, 2, 1, 2, 3, 3, 2, 3, 3]


def test_the_number_of_classes_is_the_root_of_the_vocabulary_unless_it_is_given() -> None:
    assert len(ClassFactored().build(EMBEDDING, 8, VocabularyInfo(12, 0, 1, 2, 3)).class_weight) == 4
    assert len(ClassFactored(classes=7).build(EMBEDDING, 8, VocabularyInfo(12, 0, 1, 2, 3)).class_weight) == 7
    for classes in 1, 12:
        with pytest.raises(ConfigError, match=f"0 or from 2 to 11, but is {classes}"):
            ClassFactored(classes=classes).build(EMBEDDING, 8, VocabularyInfo(12, 0, 1, 2, 3))


def test_frequent_words_have_short_ways_and_stand_in_the_head() -> None:
    tree, adaptive = (
        Hierarchical().build(EMBEDDING, 8, VocabularyInfo(12, 0, 1, 2, 3)),
        Adaptive(cutoffs=(2, 6)).build(EMBEDDING, 8, VocabularyInfo(12, 0, 1, 2, 3)),
    )
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
        Adaptive(cutoffs=cutoffs).build(EMBEDDING, 8, VocabularyInfo(12, 0, 1, 2, 3))


@given(st.integers(2, 50))
def test_chances_are_those_of_a_distribution(size: int) -> None:
    counts_V = torch.arange(size) ** 2 + 1
    for proposal in LogUniform(), Unigram():
        q_V: Tensor = proposal.chances(counts_V)
        assert q_V.sum().item() == pytest.approx(1, rel=1e-12)
        assert (q_V.diff() > 0).all()  # as the masses do


def test_noise_starts_against_scores_that_sum_to_about_1() -> None:
    output = NoiseContrastive().build(EMBEDDING, 8, VocabularyInfo(12, 0, 1, 2, 3))
    output.initialise(Xavier(), torch.Generator())
    assert output.bias.exp().sum().item() == pytest.approx(1)
    assert output.bias[0].item() == pytest.approx(-math.log(12))
