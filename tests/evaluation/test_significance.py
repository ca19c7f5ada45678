import random

import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest

from anaphora.errors import DataError
from anaphora.evaluation.bleu import METRICS, Metric, bleu, chrf
from anaphora.evaluation.significance import paired_bootstrap

WORDS = [f"word{number}" for number in range(20)]


def corpora(sentences: int, spoilt: float, seed: int = 1) -> tuple[list[str], list[str]]:
    """Outputs and references; each word of an output is spoilt with the given chance."""
    draws = random.Random(seed)
    references = [draws.sample(WORDS, 12) for _ in range(sentences)]
    outputs = [["oops" if draws.random() < spoilt else word for word in words] for words in references]
    return [" ".join(words) for words in outputs], [" ".join(words) for words in references]


@pytest.mark.parametrize("name", METRICS)
def test_a_translator_never_differs_from_itself(name: Metric) -> None:
    outputs, references = corpora(40, 0.2)
    found = paired_bootstrap(outputs, outputs, references, name, language="en", samples=50)
    assert (found.mean_difference, found.interval, found.p_value) == (0.0, (0.0, 0.0), 1.0)
    assert found.first == found.second


@pytest.mark.parametrize("name", METRICS)
def test_the_scores_compared_are_those_of_the_whole_text(name: Metric) -> None:
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


def test_the_p_value_agrees_with_that_of_sacrebleu() -> None:
    (first, references), (second, _) = corpora(60, 0.25), corpora(60, 0.23, seed=1)
    second = [second[k] if k % 2 else first[k] for k in range(60)]
    found = paired_bootstrap(first, second, references, "BLEU", language="en", samples=2000)
    test = PairedTest([("a", first), ("b", second)], {"BLEU": BLEU()}, [references], test_type="bs", n_samples=2000)
    _, results = test()
    assert found.p_value == pytest.approx(results["BLEU"][1].p_value, abs=0.05)


def test_outputs_of_different_texts_are_refused() -> None:
    outputs, references = corpora(5, 0.1)
    with pytest.raises(DataError, match="5 outputs of the first and 4 of the second"):
        paired_bootstrap(outputs, outputs[:4], references, "BLEU", language="en")


def test_the_difference_that_is_printed_is_that_of_the_figures_beside_it() -> None:
    found = paired_bootstrap(["a b c d", "e"], ["a b c d", "e f g h"], ["a b c d", "e f g h"], "BLEU", language="en")
    assert f"difference {found.second - found.first:+.2f} " in str(found)
