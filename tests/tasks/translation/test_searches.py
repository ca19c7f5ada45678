"""Translators under every search: n-best lists, samples, minimum risk, rankings and refused lines."""

from itertools import product
from math import inf, log
from typing import Any

import pytest
from sacrebleu.metrics.chrf import CHRF

from anaphora.errors import AnaphoraError, DataError
from anaphora.prediction.options import SearchOptions
from anaphora.search.sampling import Sampling
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.translation import Translation, expected_chrf, probabilities

from ..conftest import same, sentences

SEARCHES: dict[str, dict[str, Any]] = {
    "greedy": {"beam": 1},
    "n-best": {"beam": 6, "alternatives": 5},
    "per token": {"beam": 4, "per_token": True, "alternatives": 2},
    "coverage": {"beam": 4, "length_penalty": 0.6, "coverage_penalty": 0.2, "alternatives": 2},
    "diverse": {"beam": 6, "groups": 3, "alternatives": 5},
    "restrained": {"beam": 4, "min_length": 5, "no_repeat_ngram": 2, "alternatives": 1},
    "samples": {"sampling": Sampling(seed=3), "alternatives": 3},
    "sampled from few": {"sampling": Sampling(0.8, 5, 0.9), "alternatives": 5},
    "minimum risk": {"beam": 6, "minimum_risk": 6, "alternatives": 1},
    "minimum risk of samples": {"sampling": Sampling(seed=3), "minimum_risk": 5, "alternatives": 4},
}


def read(found: Translation) -> list[tuple[str, float, float]]:
    return [(one.text, one.score, one.rank) for one in (found, *found.alternatives)]


@pytest.mark.parametrize("name", SEARCHES)
def test_what_is_found_depends_on_the_sentence_alone_and_has_the_score_of_forced_decoding(
    untrained_translator: TranslationPredictor, name: str
) -> None:
    texts, asked, compared = sentences(4, most=8, seed=27), SEARCHES[name], 0
    together = untrained_translator.translate(texts, attention=True, **asked)
    turned = untrained_translator.translate(texts[::-1], attention=True, **asked)[::-1]
    [alone] = untrained_translator.translate(texts[3:4], attention=True, **asked)
    for one, found in [*zip(turned, together, strict=True), (alone, together[3])]:
        assert same(one, found) and read(one) == read(found)
        assert all(map(same, one.alternatives, found.alternatives))
    assert any(one.alternatives for one in together) or "alternatives" not in asked
    for text, found in zip(texts, together, strict=True):
        for one in (found, *found.alternatives):
            [forced] = untrained_translator.score_pairs([text], [one.text], attention=True)
            if one.finished and forced.target_pieces == one.target_pieces:  # a text can be segmented in other ways
                assert forced.score == pytest.approx(one.score, rel=1e-9)
                assert forced.links() == one.links()
                compared += 1
    assert compared > 0


def test_the_n_best_are_those_of_the_whole_beam(untrained_translator: TranslationPredictor) -> None:
    texts = sentences(5, most=8, seed=23)
    many = untrained_translator.translate(texts, beam=5, alternatives=30)
    for found in map(read, many):
        listed, scores, _ = zip(*found, strict=True)
        assert len(set(listed)) == len(listed) and list(scores) == sorted(scores, reverse=True)
    assert any(one.alternatives for one in many)
    for n in 1, 3, 10:
        few = untrained_translator.translate(texts, beam=5, alternatives=n)
        assert [read(one) for one in few] == [read(one)[: n + 1] for one in many]


def test_minimum_risk_takes_the_greatest_expected_chrf(untrained_translator: TranslationPredictor) -> None:
    texts, others = sentences(10, most=8, seed=24), 0
    plain = untrained_translator.translate(texts, beam=6, alternatives=5)
    for found, listed in zip(
        untrained_translator.translate(texts, beam=6, minimum_risk=6, alternatives=5), plain, strict=True
    ):
        every = [listed, *listed.alternatives]
        gains = expected_chrf([one.text for one in every], probabilities([one.score for one in every]))
        assert found.rank == pytest.approx(max(gains)) and found.text == every[gains.index(max(gains))].text
        others += found.text != listed.text
        ranks = [one.rank for one in (found, *found.alternatives)]
        assert ranks == sorted(ranks, reverse=True)
    assert others


def test_minimum_risk_weighs_samples_by_how_often_they_were_drawn(untrained_translator: TranslationPredictor) -> None:
    texts, count, weighed = sentences(12, most=8, seed=28), 6, 0
    drawn = {"sampling": Sampling(0.2, seed=4), "alternatives": count - 1}
    sampled = untrained_translator.translate(texts, **drawn)
    for found, plain in zip(untrained_translator.translate(texts, minimum_risk=count, **drawn), sampled, strict=True):
        ranks = {one.text: one.rank for one in (found, *found.alternatives)}
        listed = [one.text for one in (plain, *plain.alternatives)]
        assert sorted(listed) == sorted(ranks)
        # every way in which the texts may have been drawn: the one that was gives their expected chrF
        ways = [of for of in product(range(1, count + 1), repeat=len(listed)) if sum(of) == count]
        gains = {of: expected_chrf(listed, of) for of in ways}
        right = [of for of, gain in gains.items() if gain == pytest.approx([ranks[text] for text in listed])]
        assert right and found.rank == max(ranks.values())
        weighed += len({*right[0]}) > 1
    assert weighed


def test_samples_differ_by_seed_and_number(untrained_translator: TranslationPredictor) -> None:
    texts = sentences(3, most=8, seed=25)
    one, other = (
        untrained_translator.translate(texts, sampling=Sampling(seed=seed), alternatives=4) for seed in (1, 2)
    )
    assert all(len(found.alternatives) >= 3 for found in one)
    assert [found.text for found in one] != [found.text for found in other]
    first = untrained_translator.translate(texts, sampling=Sampling(seed=1))
    assert [found.text for found in first] == [found.text for found in one]


def test_a_refused_line_keeps_its_place_and_the_others_come_out(untrained_translator: TranslationPredictor) -> None:
    lines = ["the man walks", "a " * 60, "", "a dog", "a " * 10_001, "the end"]
    refused: list[tuple[int, AnaphoraError]] = []
    options = SearchOptions(beam=2, max_tokens=30)
    found = list(
        untrained_translator.stream(
            lines, options, split=False, refused=lambda number, error: refused.append((number, error))
        )
    )
    assert [number for number, _ in refused] == [2, 5]
    assert all(f"Line {number} should have at most 30 tokens" in str(error) for number, error in refused)
    assert [one.text for one in found][1::3] == ["", ""]
    kept = [line for number, line in enumerate(lines, 1) if number not in (2, 5)]
    expected = untrained_translator.translate(kept, options)
    assert [one for number, one in enumerate(found, 1) if number not in (2, 5)] == expected
    with pytest.raises(DataError, match="Line 2 should have at most 30 tokens"):
        untrained_translator.translate(lines, options)


def test_the_expected_chrf_is_the_weighted_mean_over_all_texts() -> None:
    texts, weights = ["the man walks", "the man walked", "a dog"], [0.5, 0.3, 0.2]
    for text, gain in zip(texts, expected_chrf(texts, weights), strict=True):
        scores = [CHRF().sentence_score(text, [other]).score for other in texts]
        assert gain == pytest.approx(sum(w * s for w, s in zip(weights, scores, strict=True)))
    # the text that is most like the others wins over the most probable one
    dog, *walking = expected_chrf(["a dog", "the man walks", "the man walked"], [0.4, 0.3, 0.3])
    assert dog < max(walking)
    assert expected_chrf(["", "a"], [1.0, 1.0]) == pytest.approx([0.0, 50.0], abs=1e-6)


def test_probabilities_are_those_of_the_scores() -> None:
    first, second, third = probabilities([log(0.1), log(0.2), -inf])
    assert second == 1.0 and first == pytest.approx(0.5) and third == 0.0
    assert probabilities([-inf, -inf]) == [1.0, 1.0]
    assert probabilities([-2000.0, -2001.0])[1] > 0
