import random
from collections.abc import Iterable

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU

from anaphora.errors import DataError
from anaphora.evaluation.bleu import METRICS, MetricName, bleu, chrf, sentence_scores
from anaphora.evaluation.significance import SEED, paired_bootstrap

WORDS = [f"word{number}" for number in range(20)]


def corpora(sentences: int, spoilt: float, seed: int = 1) -> tuple[list[str], list[str]]:
    """Outputs and references; each word of an output is spoilt with the given chance."""
    draws = random.Random(seed)
    references = [draws.sample(WORDS, 12) for _ in range(sentences)]
    outputs = [["oops" if draws.random() < spoilt else word for word in words] for words in references]
    return [" ".join(words) for words in outputs], [" ".join(words) for words in references]


def spoilt(references: list[str], chance: float, seed: int) -> list[str]:
    """References each of whose words is spoilt with the given chance, whatever other outputs have wrong."""
    draws = random.Random(seed)
    return [" ".join("oops" if draws.random() < chance else word for word in line.split()) for line in references]


@pytest.mark.parametrize("name", METRICS)
def test_a_translator_never_differs_from_itself(name: MetricName) -> None:
    outputs, references = corpora(40, 0.2)
    found = paired_bootstrap(outputs, outputs, references, name, language="en", samples=50)
    assert (found.mean_difference, found.interval, found.p_value) == (0.0, (0.0, 0.0), 1.0)
    assert found.first == found.second


@pytest.mark.parametrize("name", METRICS)
def test_the_scores_compared_are_those_of_the_whole_text(name: MetricName) -> None:
    (first, references), (second, _) = corpora(40, 0.3), corpora(40, 0.1)
    found = paired_bootstrap(first, second, references, name, language="en", samples=10)
    score = bleu if name == "BLEU" else chrf
    assert found.first == pytest.approx(score(first, references, language="en").value)
    assert found.second == pytest.approx(score(second, references, language="en").value)
    assert found.signature == score(first, references, language="en").signature


def test_a_clear_difference_is_no_chance_and_has_the_sign_of_the_second() -> None:
    (worse, references), (better, _) = corpora(100, 0.4), corpora(100, 0.1)
    found = paired_bootstrap(worse, better, references, "BLEU", language="en", samples=200)
    low, high = found.interval
    assert 0 < low < found.mean_difference < high
    assert found.p_value == pytest.approx(1 / 201)
    turned = paired_bootstrap(better, worse, references, "BLEU", language="en", samples=200)
    assert turned.mean_difference == pytest.approx(-found.mean_difference)
    assert turned.interval == pytest.approx((-high, -low))
    assert "n = 200, seed 12345" in str(found) and "nrefs:1" in str(found)


def test_the_seed_alone_decides_the_draws() -> None:
    (first, references), (second, _) = corpora(30, 0.3), corpora(30, 0.2)
    found = [paired_bootstrap(first, second, references, "BLEU", language="en", samples=50, seed=s) for s in (1, 1, 2)]
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize(("chance", "low", "high"), [(0.23, 0.2, 0.8), (0.2, 0.05, 0.2)])
def test_the_p_value_counts_the_draws_as_far_from_their_mean_as_the_difference_is_from_none(
    chance: float, low: float, high: float
) -> None:
    _, references = corpora(60, 0.0)
    first, second = spoilt(references, 0.27, seed=1), spoilt(references, chance, seed=3)
    alone = [sentence_scores(outputs, references, language="en") for outputs in (first, second)]
    changes = [after["BLEU"] - before["BLEU"] for before, after in zip(*alone, strict=True)]
    assert min(sum(change > 0 for change in changes), sum(change < 0 for change in changes)) > 10

    def difference(drawn: Iterable[int]) -> float:
        before, after, correct = ([side[place] for place in drawn] for side in (first, second, references))
        return BLEU().corpus_score(after, [correct]).score - BLEU().corpus_score(before, [correct]).score

    draws = np.random.default_rng(SEED).integers(60, size=(100, 60)).tolist()
    differences = [difference(drawn) for drawn in draws]
    mean, real = sum(differences) / 100, difference(range(60))
    expected = (sum(abs(drawn - mean) >= abs(real) for drawn in differences) + 1) / 101
    assert low < expected < high
    assert paired_bootstrap(first, second, references, "BLEU", language="en", samples=100).p_value == expected


def test_outputs_of_different_texts_are_refused() -> None:
    outputs, references = corpora(5, 0.1)
    with pytest.raises(DataError, match="5 outputs of the first and 4 of the second"):
        paired_bootstrap(outputs, outputs[:4], references, "BLEU", language="en")


def test_the_difference_that_is_printed_is_that_of_the_figures_beside_it() -> None:
    found = paired_bootstrap(["a b c d", "e"], ["a b c d", "e f g h"], ["a b c d", "e f g h"], "BLEU", language="en")
    assert f"difference {found.second - found.first:+.2f} " in str(found)
